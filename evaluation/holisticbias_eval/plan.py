"""How much there is to score, and how long it will take: counted, and calibrated on a few sentences."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.scoring import Measurable, Scorer, Spans, Work

_SAMPLES = (64, 1024, 16_384)
_ENOUGH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Sentences in all and still to be scored, the work that they are, and an estimate of its seconds."""

    sentences: int
    missing: int
    work: Work
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.missing:,} of {self.sentences:,} sentences to score: {self.work.tokens:,} tokens, "
            f"{self.work.forward:,} of them forward tokens; about {_duration(self.seconds)}"
        )


def plan(scorer: Scorer, sentences: int, missing: Spans, clock: Callable[[], float] = time.perf_counter) -> Plan:
    """The work of some spans; a run of consecutive ones from their middle is scored, and thrown away, to time it.

    Raises ``EvaluationError`` where the engine cannot tell its work beforehand.
    """
    if not isinstance(scorer, Measurable):
        raise EvaluationError("a dry run is for the local engine: it scores a few sentences to time them")
    if not len(missing):
        return Plan(sentences, 0, Work(0, 0), 0.0)
    work = scorer.work(missing)
    for size in _SAMPLES:
        middle = max(0, (len(missing) - size) // 2)
        few = missing.take(np.arange(middle, min(len(missing), middle + size)))
        start = clock()
        scorer.score(few, lambda _: None)
        seconds = clock() - start
        if seconds > _ENOUGH_SECONDS:
            break
    return Plan(sentences, len(missing), work, seconds * work.forward / max(1, scorer.work(few).forward))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
