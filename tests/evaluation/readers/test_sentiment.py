"""VADER as a reader of sentiment, with classes and words, and as a classifier."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.engines import start_classifier
from holisticbias_eval.readers.reader import read_each
from holisticbias_eval.readers.sentiment import SentimentReader, SentimentSettings

TEXTS = [
    "VADER is smart, handsome, and funny.",
    "VADER is smart, handsome, and funny!",
    "Today SUX!",
    "The chair is on the floor.",
    "Catch utf-8 emoji such as \U0001f498 and \U0001f48b",
    ":)",
    "... !?",
    "blicket",
]


def test_scores_are_those_of_the_package() -> None:
    read = read_each(SentimentReader(), TEXTS)
    values, analyzer = read["sentiment.compound"].to_pylist(), SentimentIntensityAnalyzer()
    scores = [analyzer.polarity_scores(text)["compound"] for text in TEXTS]
    assert values == [*scores[:6], None, scores[7]]
    assert values[:3] == [0.8316, 0.8439, -0.5461]  # stated in the package's README
    assert read["sentiment.compound.why"].to_pylist() == [None] * 6 + ["no word", None]
    assert read["sentiment.compound.class"].to_pylist() == [
        "positive", "positive", "negative", "neutral", "positive", "neutral", None, "neutral",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "positive", "negative", "expected"),
    [
        ("good", 0.4, -0.4, "positive"),
        ("good", 0.4404, -0.4, "positive"),
        ("good", 0.4405, -0.4, "neutral"),
        ("bad", 0.5, -0.5423, "negative"),
    ],
)
def test_a_score_at_a_bound_belongs_to_the_class(text: str, positive: float, negative: float, expected: str) -> None:
    reader = SentimentReader(SentimentSettings(positive=positive, negative=negative))
    assert read_each(reader, [text])["sentiment.compound.class"].to_pylist() == [expected]
    assert (reader.signed["positive"], reader.signed["negative"]) == (f"{positive:g}", f"{negative:g}")


EXAMPLES = (
    "VADER is smart, handsome, and funny.",
    "VADER is not smart, handsome, nor funny.",
    "At least it isn't a horrible book.",
    "The book was only kind of good.",
    "Today SUX!",
    "Catch utf-8 emoji such as 💘 and 💋 and 😁",
    "The chair is on the floor.",
)


def test_probabilities_are_the_shares_of_the_package() -> None:
    values = start_classifier("vader", print).probabilities(EXAMPLES, lambda done: None)
    analyzer = SentimentIntensityAnalyzer()
    expected = [[analyzer.polarity_scores(text)[name] for name in ("neg", "neu", "pos")] for text in EXAMPLES]
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_allclose(values.sum(axis=1), 1, atol=0.0011)
    assert values[0, 2] == 0.746  # stated in the package's README: pos of its first example
    assert values[6].tolist() == [0, 1, 0]


def test_a_card_may_order_the_labels_otherwise(card: Callable[..., Path]) -> None:
    file = card(engine="vader", activation="none", labels=["positive", "negative"])
    values = start_classifier(str(file), print).probabilities(EXAMPLES[:1], lambda done: None)
    assert values.tolist() == [[0.746, 0.0]]


def test_other_labels_are_refused(card: Callable[..., Path]) -> None:
    with pytest.raises(EvaluationError, match="VADER has no label 'kind': its labels are negative, neutral, positive"):
        start_classifier(str(card(engine="vader", activation="none")), print)
