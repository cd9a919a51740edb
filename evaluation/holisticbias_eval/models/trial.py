"""Plans of runs: what the store lacks, and how long it takes, from a few answers that are timed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Self

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.scorer import Scorer, Work
from holisticbias_eval.models.likelihood.spans import Spans, joined
from holisticbias_eval.models.sequences import evenly
from holisticbias_eval.progress import duration

Clock = Callable[[], float]
_FIRST, _LEAST = 8, 64
"""The responses that are asked for first, and those of a batch, which take less time for each response."""
_ENOUGH, _AIM, _SLOW = 0.5, 1.0, 5.0
"""Seconds that are enough to know the speed, that a trial should take at most, and after which no more is asked."""
_SPREAD = 0.6
"""How far the speed of a whole run is from that of a trial: its batches are larger, and rows differ in length."""
_LONG = 600.0
"""Seconds from which a run has advice, and that a shorter run takes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of answers of a run, how many are missing, and the range of the seconds that these take.

    ``what`` names them with what is done, such as "responses to write". ``work`` is that of scoring, which is ``exact``
    if it was counted, not estimated; ``counted`` says whether the answers were. ``shorter`` names the settings that
    would shorten the run; a limit counts what has ``each`` answers.
    """

    what: str
    count: int
    missing: int
    seconds: tuple[float, float]
    work: Work | None = None
    exact: bool = True
    counted: bool = True
    shorter: tuple[str, ...] = ()
    each: int = 1

    def __str__(self) -> str:
        about = "" if self.counted else "about "
        if not self.missing:
            return f"0 of {about}{self.count:,} {self.what}: all are in the store"
        low, high = map(duration, self.seconds)
        takes = low if low == high else f"{low} to {high}"
        if self.work is not None:
            tokens = "about " if self.counted and not self.exact else ""
            takes = f"{tokens}{self.work.tokens:,} tokens, {self.work.forward:,} of them forward tokens; {takes}"
        return f"{about}{self.missing:,} of {self.count:,} {self.what}: {takes}"

    def of(self, count: int, missing: int) -> Self:
        """The plan of more answers like these."""
        ratio = missing / max(1, self.missing)
        work = self.work and Work(round(ratio * self.work.tokens), round(ratio * self.work.forward))
        seconds = ratio * self.seconds[0], ratio * self.seconds[1]
        exact = ratio in (0, 1) and self.exact
        return replace(self, count=count, missing=missing, seconds=seconds, work=work, exact=exact)

    def advice(self) -> str:
        """Ways to shorten the run; empty if it is short, or nothing shortens it."""
        if self.seconds[1] <= _LONG:
            return ""
        fewer = max(1, int(self.missing / self.each * _LONG / self.seconds[1]))
        fewer -= fewer % 10 ** (len(str(fewer)) - 1)
        ways = {
            "small": "--small (100 descriptors)",
            "where": "--where KEY=VALUE (only some)",
            "limit": f"--limit {fewer} (at most {duration(_LONG)})",
        }
        words = [said for name, said in ways.items() if name in self.shorter]
        if not words:
            return ""
        return f"To shorten it: {', or '.join(words)}; finished answers are kept, and a longer run continues from them"


def plan_trial(
    what: str, count: int, missing: Ints, ask: Callable[[Ints], object], clock: Clock = time.perf_counter
) -> Plan:
    """Plan the answers to ``missing`` rows from the time that a few of them take, at equal distances.

    ``ask`` asks rows and keeps nothing.
    """
    asked, taken = 0, 0.0
    if len(missing):
        asked, taken = timed(lambda n: ask(missing[evenly(len(missing), n)]), len(missing), _FIRST, _LEAST, clock)
    seconds = taken * len(missing) / max(1, asked)
    return Plan(what, count, len(missing), (seconds / (1 + _SPREAD), seconds * (1 + _SPREAD)))


def timed(ask: Callable[[int], object], most: int, first: int, least: int, clock: Clock) -> tuple[int, float]:
    """How many are asked in about a second, at least ``least`` unless that is slow, and the seconds that they take.

    The first that a model answers take longer, and few take longer than many, for each: the ``first`` only tell how
    many to ask, unless the model is slow.
    """
    count = min(first, most)
    while True:
        start = clock()
        ask(count)
        seconds = clock() - start
        if seconds > _SLOW or count >= most or (count >= least and seconds > _ENOUGH):
            return count, seconds
        count = min(most, max(least, int(count * _AIM / max(seconds, 1e-6))))


WHAT = "texts to score"
_COUNTED, _PLACES = 512, 48
"""Neighbouring texts whose work is counted at once, and the places where it is."""
_TESTED = 4
"""The texts with which the method is tested."""
_TIMED, _FIRST_TEXTS, _LEAST_TEXTS = 8, 16, 128
"""The places whose texts are timed, the texts that the engine reads first, and the fewest to time."""
_SCORED_SPREAD = 0.3
"""How far the speed of a whole run is from that of a trial, besides what differs between places."""


def plan_work(scorer: Scorer, spans: Spans, blocks: Sequence[Ints], clock: Clock = time.perf_counter) -> Plan:
    """Estimate the work of blocks of rows from neighbouring texts at many places, and its time from the texts of some.

    Texts that share a beginning are neighbours, so the forward tokens of a place are those of a run but for its edges.
    Scores are discarded, so the scorer tests its method ``roughly``. Raises ``EvaluationError`` if it cannot count.
    """
    missing = sum(map(len, blocks))
    if not missing:
        return Plan(WHAT, len(spans), 0, (0.0, 0.0), Work(0, 0))
    exact = missing <= _COUNTED * _PLACES
    starts = np.arange(0, missing, _COUNTED) if exact else np.linspace(0, missing - _COUNTED, _PLACES).astype(np.int64)
    places = [spans.take(_place(blocks, start)) for start in starts.tolist()]
    counted = [spans.take(rows) for rows in blocks] if exact else places
    # a method is tested once for all lengths: on the longest texts
    scorer.roughly = True
    tested = [counted[i] for i in _spread(len(counted), _TESTED)]
    longest = -(-_TESTED // len(tested))
    scorer.probe(reduce(joined, [p.take(np.argsort(p.lengths(), kind="stable")[-longest:]) for p in tested]))
    works = [_work(scorer, part) for part in counted]
    ratio = missing / sum(map(len, counted))
    work = Work(round(ratio * sum(w.tokens for w in works)), round(ratio * sum(w.forward for w in works)))
    spread = _SCORED_SPREAD
    if not exact:
        forward = np.array([work.forward / len(place) for work, place in zip(works, places, strict=True)])
        spread += 2 * float(forward.std(ddof=1) / forward.mean()) / len(places) ** 0.5
    seconds = work.forward * _seconds_per_token(scorer, places, clock)
    return Plan(WHAT, len(spans), missing, (seconds / (1 + spread), seconds * (1 + spread)), work, exact)


def _place(blocks: Sequence[Ints], start: int) -> Ints:
    """The rows of neighbouring texts from a place among those of all blocks on, within its block."""
    ends = np.cumsum([len(block) for block in blocks])
    block = int(np.searchsorted(ends, start, "right"))
    first = start - (int(ends[block]) - len(blocks[block]))
    return blocks[block][first : first + _COUNTED]


def _seconds_per_token(scorer: Scorer, places: Sequence[Spans], clock: Clock) -> float:
    """Seconds per forward token, from neighbouring texts at several places that take about a second together."""
    some = [places[i] for i in _spread(len(places), _TIMED)]

    def few(count: int) -> Spans:
        return reduce(joined, [place.take(np.arange(min(count, len(place)))) for place in some])

    def score(count: int) -> None:
        scorer.score(few(count), lambda _: None)

    count, seconds = timed(score, max(map(len, some)), _FIRST_TEXTS // len(some), _LEAST_TEXTS // len(some), clock)
    return seconds / max(1, _work(scorer, few(count)).forward)


def _spread(size: int, count: int) -> list[int]:
    """The middles of at most this many equal parts of a range, whose first and last places may be unlike the rest."""
    count = min(size, count)
    return [int(index) for index in (np.arange(count) + 0.5) * size / count]


def _work(scorer: Scorer, spans: Spans) -> Work:
    work = scorer.work(spans)
    if work is None:
        raise EvaluationError("a dry run needs the local engine: no other engine can count its work")
    return work
