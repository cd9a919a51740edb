"""Sentiment is VADER's, with classes and words."""

from __future__ import annotations

import pytest
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from holisticbias_eval.readings.sentiment import read_sentiment, sentiment_words

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
    reading = read_sentiment(TEXTS, 0.5, -0.5)
    analyzer = SentimentIntensityAnalyzer()
    known = [i for i in range(len(TEXTS)) if i != 6]
    assert [reading.values[i] for i in known] == [analyzer.polarity_scores(TEXTS[i])["compound"] for i in known]
    assert reading.values[:3].tolist() == [0.8316, 0.8439, -0.5461]  # stated in the package's README
    assert [i for i, why in enumerate(reading.why) if why] == [6]
    assert reading.why[6] == "no word"
    assert reading.classes is not None
    assert list(reading.classes) == [
        "positive", "positive", "negative", "neutral", "positive", "neutral", None, "neutral",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [(0.4, -0.4, "positive"), (0.4404, -0.4, "positive"), (0.4405, -0.4, "neutral")],
)
def test_a_score_at_a_threshold_belongs_to_the_class(positive: float, negative: float, expected: str) -> None:
    reading = read_sentiment(["good"], positive, negative)
    assert (reading.values[0], list(reading.classes or ())) == (0.4404, [expected])
    assert list(read_sentiment(["bad"], 0.5, -0.5423).classes or ()) == ["negative"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("good, good and bad", {"good": 3.8, "bad": -2.5}),
        ("The chair is on the floor.", {}),
        ("not good", {"good": 1.9 * -0.74}),
    ],
)
def test_words_have_the_valences_of_the_lexicon(text: str, expected: dict[str, float]) -> None:
    assert sentiment_words(text) == pytest.approx(expected)
