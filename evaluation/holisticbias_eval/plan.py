"""How much there is to score, and how long it will take: counted, and calibrated on a few sentences."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.scoring import Measurable, Scorer, Spans, Work

_SAMPLES = (64, 1024, 16_384)
_ENOUGH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Texts (sentences, and phrases alone) in all and still to be scored, their work, and its estimated seconds."""

    texts: int
    missing: int
    work: Work
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.missing:,} of {self.texts:,} texts to score: {self.work.tokens:,} tokens, "
            f"{self.work.forward:,} of them forward tokens; about {_duration(self.seconds)}"
        )


def plan(scorer: Scorer, texts: int, blocks: Sequence[Spans], clock: Callable[[], float] = time.perf_counter) -> Plan:
    """The work of blocks that are scored one after the other.

    A run of consecutive spans from the middle one is scored, and thrown away,
    to time it. Raises ``EvaluationError`` where the engine cannot tell its work
    beforehand.
    """
    if not isinstance(scorer, Measurable):
        raise EvaluationError("a dry run is for the local engine: it scores a few sentences to time them")
    if not blocks:
        return Plan(texts, 0, Work(0, 0), 0.0)
    each = [scorer.work(block) for block in blocks]
    work = Work(sum(w.tokens for w in each), sum(w.forward for w in each))
    some = blocks[len(blocks) // 2]
    for size in _SAMPLES:
        middle = max(0, (len(some) - size) // 2)
        few = some.take(np.arange(middle, min(len(some), middle + size)))
        start = clock()
        scorer.score(few, lambda _: None)
        seconds = clock() - start
        if seconds > _ENOUGH_SECONDS:
            break
    missing = sum(map(len, blocks))
    return Plan(texts, missing, work, seconds * work.forward / max(1, scorer.work(few).forward))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
