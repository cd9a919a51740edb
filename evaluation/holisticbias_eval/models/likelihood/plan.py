"""Plan a run: count what there is to score, and time a few texts to estimate how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.scorer import Scorer, Work
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.progress import Progress, duration

_SAMPLES = (64, 1024, 16_384)
_ENOUGH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of texts of a run (sentences and single phrases), how many are missing, their work and its seconds."""

    texts: int
    missing: int
    work: Work
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.missing:,} of {self.texts:,} texts to score: {self.work.tokens:,} tokens, "
            f"{self.work.forward:,} of them forward tokens; about {duration(self.seconds)}"
        )


def count_work(scorer: Scorer, blocks: Sequence[Spans], progress: Progress) -> list[Work]:
    """Count the work of each block; raises ``EvaluationError`` if the engine cannot."""
    works = []
    for block in blocks:
        works.append(_work(scorer, block))
        progress(len(block))
    return works


def estimate_seconds(
    scorer: Scorer, blocks: Sequence[Spans], works: Sequence[Work], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Estimate the seconds that the blocks take, from texts in the middle of the middle block.

    Scores more and more of these texts, until that takes a few seconds; the scores are discarded.
    """
    if not blocks:
        return 0.0
    some, of_some = blocks[len(blocks) // 2], works[len(blocks) // 2]
    for size in _SAMPLES:
        first = max(0, (len(some) - size) // 2)
        few = some if size >= len(some) else some.take(np.arange(first, first + size))
        start = clock()
        scorer.score(few, lambda _: None)
        seconds = clock() - start
        if seconds > _ENOUGH_SECONDS or few is some:
            break
    timed = of_some if few is some else _work(scorer, few)
    return seconds * sum(work.forward for work in works) / max(1, timed.forward)


def _work(scorer: Scorer, spans: Spans) -> Work:
    work = scorer.work(spans)
    if work is None:
        raise EvaluationError("a dry run needs the local engine: no other engine can count its work")
    return work
