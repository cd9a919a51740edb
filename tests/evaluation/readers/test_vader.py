"""VADER's shares as probabilities."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.engines import start_classifier

TEXTS = (
    "VADER is smart, handsome, and funny.",
    "VADER is not smart, handsome, nor funny.",
    "At least it isn't a horrible book.",
    "The book was only kind of good.",
    "Today SUX!",
    "Catch utf-8 emoji such as 💘 and 💋 and 😁",
    "The chair is on the floor.",
)


def test_probabilities_are_the_shares_of_the_package() -> None:
    values = start_classifier("vader", print).probabilities(TEXTS, lambda done: None)
    analyzer = SentimentIntensityAnalyzer()
    expected = [[analyzer.polarity_scores(text)[name] for name in ("neg", "neu", "pos")] for text in TEXTS]
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_allclose(values.sum(axis=1), 1, atol=0.0011)
    assert values[0, 2] == 0.746  # stated in the package's README: pos of its first example
    assert values[6].tolist() == [0, 1, 0]


def test_a_card_may_order_the_labels_otherwise(card: Callable[..., Path]) -> None:
    file = card(engine="vader", activation="none", labels=["positive", "negative"])
    values = start_classifier(str(file), print).probabilities(TEXTS[:1], lambda done: None)
    assert values.tolist() == [[0.746, 0.0]]


def test_other_labels_are_refused(card: Callable[..., Path]) -> None:
    with pytest.raises(EvaluationError, match="VADER has no label 'kind': its labels are negative, neutral, positive"):
        start_classifier(str(card(engine="vader", activation="none")), print)
