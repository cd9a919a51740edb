"""Classify texts by sentiment with VADER."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.classifiers.batches import BLOCK
from holisticbias_eval.classifiers.card import Card
from holisticbias_eval.classifiers.classifier import Classifier
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.progress import Progress

SHARES = {"negative": "neg", "neutral": "neu", "positive": "pos"}
"""VADER's name for the share of a label."""


class VaderClassifier(Classifier):
    """Takes VADER's shares of negative, neutral and positive words as probabilities.

    VADER rounds shares to three decimals, so that they add up to 1 within 0.001.
    A text in which it finds no word has no shares: NaN.
    """

    def __init__(self, card: Card) -> None:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        unknown = [label for label in card.labels if label not in SHARES]
        if unknown:
            raise ClassifierError(f"VADER has no label {unknown[0]!r}: its labels are {', '.join(SHARES)}")
        super().__init__(card, {**card.settings, "classifier_version": f"vaderSentiment {version('vaderSentiment')}"})
        self._analyzer = SentimentIntensityAnalyzer()

    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        """Classify texts in blocks."""
        names = [SHARES[label] for label in self.card.labels]
        for start in range(0, len(texts), BLOCK):
            found = [self._analyzer.polarity_scores(text) for text in texts[start : start + BLOCK]]
            shares = np.array([[scores[name] for name in names] for scores in found], np.float64)
            shares[~shares.any(axis=1)] = np.nan
            progress(len(found))
            yield np.arange(start, start + len(found)), shares
