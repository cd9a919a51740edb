"""Plan a run of scores: estimate from a few texts how much there is to score and how long it takes."""

import time
from collections.abc import Sequence
from functools import reduce

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.scorer import Scorer, Work
from holisticbias_eval.models.likelihood.spans import Spans, joined
from holisticbias_eval.models.trial import Clock, Plan, timed

WHAT = "texts to score"
_COUNTED, _PLACES = 512, 48
"""Neighbouring texts whose work is counted at once, and the places where it is."""
_TESTED = 4
"""The texts with which the method is tested."""
_TIMED, _FIRST, _LEAST = 8, 16, 128
"""The places whose texts are timed, the texts that the engine reads first, and the fewest to time."""
_SPREAD = 0.3
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
    spread = _SPREAD
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

    count, seconds = timed(score, max(map(len, some)), _FIRST // len(some), _LEAST // len(some), clock)
    return seconds / max(1, _work(scorer, few(count)).forward)


def _spread(size: int, count: int) -> list[int]:
    """At most this many indices, at equal distances within a size."""
    count = min(size, count)
    return [int(index) for index in (np.arange(count) + 0.5) * size / count]


def _work(scorer: Scorer, spans: Spans) -> Work:
    work = scorer.work(spans)
    if work is None:
        raise EvaluationError("a dry run needs the local engine: no other engine can count its work")
    return work
