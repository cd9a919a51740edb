"""Sentiment is VADER's, with classes and words."""

from __future__ import annotations

import pytest
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

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
