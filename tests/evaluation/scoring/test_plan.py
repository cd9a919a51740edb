from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.plan import Plan, count_work, estimate_seconds
from holisticbias_eval.models.likelihood.scorer import Scorer, Work
from holisticbias_eval.models.likelihood.scores import Scores
from holisticbias_eval.models.likelihood.spans import Spans, whole
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.progress import Progress

TEXTS = [f"I'm a {d} {n}." for d in ("tall", "Deaf", "naïve", "rich", "old") for n in ("guy", "woman", "kid", "boss")]


class Counting(Scorer):
    """A scorer whose texts have 10 tokens each, half of them forward tokens; it records its calls."""

    def __init__(self) -> None:
        super().__init__(ModelIdentity("counting", "none", None, None, None, "float32"), "causal", {})
        self.worked: list[str] = []
        self.scored: list[int] = []

    def work(self, spans: Spans) -> Work | None:
        self.worked += spans.text
        return Work(10 * len(spans), 5 * len(spans))

    def score(self, spans: Spans, progress: Progress) -> Scores:
        self.scored.append(len(spans))
        return Scores(np.zeros(len(spans)), np.zeros(len(spans), np.int32), np.zeros(len(spans), np.int32))


def blocks_of(sizes: Sequence[int]) -> list[Spans]:
    return [whole([f"{i} {j}" for j in range(size)]) for i, size in enumerate(sizes)]


def test_the_work_is_that_of_the_texts_and_of_their_prefixes(gpt2: Any, tokenizer: Any, loaded: Any) -> None:
    counted: list[int] = []
    (work,) = count_work(CausalScorer(loaded(gpt2, tokenizer), lambda _: None), [whole(TEXTS)], counted.append)
    rows = [(0, *tokenizer(text)["input_ids"]) for text in TEXTS]
    prefixes = {row[:i] for row in rows for i in range(1, len(row))}
    assert (work.tokens, work.forward, counted) == (sum(map(len, rows)), len(prefixes), [20])


@pytest.mark.parametrize(
    ("sizes", "seconds", "scored", "again", "expected"),
    [
        ([20], [0.5], [20], 0, 0.5),  # everything, once
        ([100, 200, 300], [2.5], [64], 64, 2.5 * 600 / 64),
        ([100, 200, 300], [0.5, 1.5], [64, 200], 0, 1.5 * 600 / 200),  # a whole block is counted already
        ([5000], [0.1, 1.0, 3.0], [64, 1024, 5000], 0, 3.0),
        ([20_000], [0.1, 2.5], [64, 1024], 1024, 2.5 * 20_000 / 1024),
        ([20_000], [0.1, 0.2, 1.0], [64, 1024, 16_384], 16_384, 20_000 / 16_384),
        ([], [], [], 0, 0.0),
    ],
)
def test_texts_are_counted_once_and_timed_only_as_long_as_needed(
    sizes: list[int], seconds: list[float], scored: list[int], again: int, expected: float
) -> None:
    scorer, blocks = Counting(), blocks_of(sizes)
    works = count_work(scorer, blocks, lambda _: None)
    assert sorted(scorer.worked) == sorted(text for block in blocks for text in block.text)
    scorer.worked.clear()
    ticks = iter([tick for taken in seconds for tick in (10.0, 10.0 + taken)])
    assert estimate_seconds(scorer, blocks, works, lambda: next(ticks)) == pytest.approx(expected)
    assert (scorer.scored, len(scorer.worked)) == (scored, again)


def test_an_engine_that_cannot_count_its_work_has_no_plan() -> None:
    class Uncounted(Counting):
        def work(self, spans: Spans) -> Work | None:
            return Scorer.work(self, spans)

    with pytest.raises(EvaluationError, match="a dry run needs the local engine"):
        count_work(Uncounted(), blocks_of([3]), lambda _: None)


def test_a_plan_is_one_line() -> None:
    expected = "1,000 of 2,000 texts to score: 9,000 tokens, 1,500 of them forward tokens; about 2 min"
    assert str(Plan(2000, 1000, Work(9000, 1500), 120.0)) == expected
