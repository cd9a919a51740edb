"""Plan a run: estimate from a few texts how much there is to score and how long it takes."""

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
from holisticbias_eval.models.trial import shortening, time_range
from holisticbias_eval.progress import duration

_COUNTED, _PLACES = 512, 48
"""Neighbouring texts whose work is counted at once, and the places where it is."""
_TESTED = 4
"""The texts with which the method is tested."""
_TIMED, _FIRST, _LEAST = 8, 16, 128
"""The places whose texts are timed, the texts that the engine reads first, and the fewest to time."""
_ENOUGH, _AIM, _SLOW = 0.5, 1.0, 5.0
"""Seconds that are enough to know the speed, that the texts should take at most, and after which no more are read."""
_LONG, _FEW = 600.0, 20_000
"""Seconds from which a run has advice, and the texts of a short one."""
_SPREAD = 0.3
"""How far the speed of a whole run is from that of a trial, besides what differs between places."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of texts of a run (sentences and single phrases), how many are missing, and their work.

    ``seconds`` is the range of the time that they take; ``exact`` says whether the work was counted, not estimated, and
    ``counted`` whether the texts were. ``shorter`` names the settings that would shorten the run.
    """

    texts: int
    missing: int
    work: Work
    seconds: tuple[float, float]
    exact: bool = True
    counted: bool = True
    shorter: tuple[str, ...] = ()

    def __str__(self) -> str:
        about = "" if self.counted else "about "
        if not self.missing:
            return f"0 of {about}{self.texts:,} texts to score: all have scores in the store"
        tokens = "about " if self.counted and not self.exact else ""
        return (
            f"{about}{self.missing:,} of {self.texts:,} texts to score: "
            f"{tokens}{self.work.tokens:,} tokens, {self.work.forward:,} of them forward tokens; "
            f"{time_range(self.seconds)}"
        )

    def of(self, texts: int, missing: int) -> Self:
        """The plan of more texts like these."""
        ratio = missing / max(1, self.missing)
        work = Work(round(ratio * self.work.tokens), round(ratio * self.work.forward))
        seconds = ratio * self.seconds[0], ratio * self.seconds[1]
        return replace(
            self, texts=texts, missing=missing, work=work, seconds=seconds, exact=ratio in (0, 1) and self.exact
        )

    def advice(self) -> str:
        """Ways to shorten the run; empty if it is short, or nothing shortens it."""
        takes = duration(self.seconds[1] * _FEW / max(1, self.missing))
        ways = {
            "where": "--where axis=ability (some axes)",
            "limit": f"--limit {_FEW} (at most {takes})",
        }
        if self.seconds[1] < _LONG or self.missing <= _FEW:
            return ""
        return shortening(ways, self.shorter, "scores")


def plan_work(
    scorer: Scorer, spans: Spans, blocks: Sequence[Ints], clock: Callable[[], float] = time.perf_counter
) -> Plan:
    """Estimate the work of blocks of rows from neighbouring texts at many places, and its time from the texts of some.

    Texts that share a beginning are neighbours, so the forward tokens of a place are those of a run but for its edges.
    Scores are discarded, so the scorer tests its method ``roughly``. Raises ``EvaluationError`` if it cannot count.
    """
    missing = sum(map(len, blocks))
    if not missing:
        return Plan(len(spans), 0, Work(0, 0), (0.0, 0.0))
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
    spread = _SPREAD
    if not exact:
        forward = np.array([work.forward / len(place) for work, place in zip(works, places, strict=True)])
        spread += 2 * float(forward.std(ddof=1) / forward.mean()) / len(places) ** 0.5
    seconds = work.forward * _seconds_per_token(scorer, places, clock)
    return Plan(len(spans), missing, work, (seconds / (1 + spread), seconds * (1 + spread)), exact)


def _place(blocks: Sequence[Ints], start: int) -> Ints:
    """The rows of neighbouring texts from a place among those of all blocks on, within its block."""
    ends = np.cumsum([len(block) for block in blocks])
    block = int(np.searchsorted(ends, start, "right"))
    first = start - (int(ends[block]) - len(blocks[block]))
    return blocks[block][first : first + _COUNTED]


def _seconds_per_token(scorer: Scorer, places: Sequence[Spans], clock: Callable[[], float]) -> float:
    """Seconds per forward token, from neighbouring texts at several places that take about a second together.

    The first texts that an engine reads take longer, and few texts take longer than many, for each token: the first
    only tell how many to read, unless the model is slow.
    """
    some = [places[i] for i in _spread(len(places), _TIMED)]
    count, least, most = _FIRST // len(some), _LEAST // len(some), max(map(len, some))
    while True:
        few = reduce(joined, [place.take(np.arange(min(count, len(place)))) for place in some])
        start = clock()
        scorer.score(few, lambda _: None)
        seconds = clock() - start
        if seconds > _SLOW or count >= most or (count >= least and seconds > _ENOUGH):
            return seconds / max(1, _work(scorer, few).forward)
        count = min(most, max(least, int(count * _AIM / max(seconds, 1e-6))))


def _spread(size: int, count: int) -> list[int]:
    """At most this many indices, at equal distances within a size."""
    count = min(size, count)
    return [int(index) for index in (np.arange(count) + 0.5) * size / count]


def _work(scorer: Scorer, spans: Spans) -> Work:
    work = scorer.work(spans)
    if work is None:
        raise EvaluationError("a dry run needs the local engine: no other engine can count its work")
    return work
