"""Plan a run: count what there is to score, and time a few texts to estimate how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.likelihood.scorer import Measurable, Progress, Spans, Work
from holisticbias_eval.progress import duration

_SAMPLES = (64, 1024, 16_384)
_ENOUGH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Number of texts (sentences, and phrases alone), how many are still to be scored, their work and its seconds."""

    texts: int
    missing: int
    work: Work
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.missing:,} of {self.texts:,} texts to score: {self.work.tokens:,} tokens, "
            f"{self.work.forward:,} of them forward tokens; about {duration(self.seconds)}"
        )


def count_work(scorer: Measurable, blocks: Sequence[Spans], progress: Progress) -> list[Work]:
    """Count the work of each block, scored as a whole."""
    works = []
    for block in blocks:
        works.append(scorer.work(block))
        progress(len(block))
    return works


def estimate_seconds(
    scorer: Measurable, blocks: Sequence[Spans], works: Sequence[Work], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Estimate the seconds that the blocks take, from texts in the middle of the middle block.

    More and more of them are scored, and the scores thrown away, until that takes some seconds.
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
    timed = of_some if few is some else scorer.work(few)
    return seconds * sum(work.forward for work in works) / max(1, timed.forward)
