"""Sentiment of texts by VADER (Hutto and Gilbert 2014): a reader, and a classifier for cards."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.progress import Progress
from holisticbias_eval.readers.card import Card
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.reader import (
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    MethodValues,
    Reader,
    ReaderSettings,
    reading_table,
)
from holisticbias_eval.readers.words import split_words, summed
from holisticbias_eval.settings import setting

COMPOUND = "compound"
NO_WORD = "no word"


class SentimentSettings(ReaderSettings):
    """The bounds of the classes."""

    positive: float = setting(0.5, "VADER score from which on a text is positive.", gt=0, le=1)
    negative: float = setting(-0.5, "VADER score up to which a text is negative.", ge=-1, lt=0)


class SentimentReader(Reader):
    """The compound score of each text, from -1 to 1, and its class.

    A text is positive from ``positive`` on, negative up to ``negative``, and neutral between them, also if VADER knows
    none of its words. A text without any word or emoticon is undefined. Upper case counts, as in VADER.
    """

    name = "sentiment"
    settings_type = SentimentSettings

    @property
    def signed(self) -> Mapping[str, str]:
        """The version of VADER, and the bounds."""
        bounds = {"positive": f"{self.settings.positive:g}", "negative": f"{self.settings.negative:g}"}
        return {"vader": f"vaderSentiment {version('vaderSentiment')}", **bounds}

    def read(self, texts: Sequence[str], progress: Progress) -> pa.Table:
        """Read the compound score and the class."""
        scores = [vader_score(text)[0] for text in texts]
        known = [has_word(text, score) for score, text in zip(scores, texts, strict=True)]
        classes = [self._class(score) if is_known else None for score, is_known in zip(scores, known, strict=True)]
        why = [None if is_known else NO_WORD for is_known in known]
        progress(len(texts))
        return reading_table(self.name, {COMPOUND: MethodValues(np.where(known, scores, np.nan), why, classes)})

    def _class(self, value: float) -> str:
        if value >= self.settings.positive:
            return POSITIVE
        return NEGATIVE if value <= self.settings.negative else NEUTRAL

    def carriers(self, text: str, method: str) -> Mapping[str, float]:
        """The words that VADER finds in a text, and the sum of each word's valences after VADER's rules.

        VADER's compound score is a function of the sum of all valences and of punctuation.
        """
        return summed(vader_score(text)[1])


def has_word(text: str, compound: float) -> bool:
    """Whether a text has a word, or an emoticon that VADER scores; VADER itself calls punctuation neutral."""
    return bool(compound or split_words(text))


@lru_cache(1 << 17)
def vader_score(text: str) -> tuple[float, tuple[tuple[str, float], ...]]:
    """The compound score, and the words with a valence: both are asked for, and VADER is slow."""
    from vaderSentiment.vaderSentiment import SentiText

    analyzer = _analyzer()
    compound = float(analyzer.polarity_scores(text)["compound"])
    words = zip(SentiText(analyzer.text).words_and_emoticons, analyzer.valences, strict=True)
    return compound, tuple((word.lower(), float(valence)) for word, valence in words if valence)


@cache
def _analyzer() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    class Analyzer(SentimentIntensityAnalyzer):  # type: ignore[misc]  # the package has no types
        """Keeps the text that it scored last, with emoji in words, and the valences of its words."""

        text: str = ""
        valences: Sequence[float] = ()

        def score_valence(self, sentiments: list[float], text: str) -> dict[str, float]:
            """Score a text from the valences of its words."""
            self.text, self.valences = text, tuple(sentiments)
            scores: dict[str, float] = super().score_valence(sentiments, text)
            return scores

    return Analyzer()


SHARES = {"negative": "neg", "neutral": "neu", "positive": "pos"}
"""VADER's name for the share of a label."""


class VaderClassifier(Classifier):
    """Takes VADER's shares of negative, neutral and positive words as probabilities.

    VADER rounds shares to three decimals, so that they add up to 1 within 0.001.
    A text without any word or emoticon has no shares: NaN.
    """

    def __init__(self, card: Card) -> None:
        unknown = [label for label in card.labels if label not in SHARES]
        if unknown:
            raise ClassifierError(f"VADER has no label {unknown[0]!r}: its labels are {', '.join(SHARES)}")
        made = {"classifier_version": f"vaderSentiment {version('vaderSentiment')}", "without_words": "not judged"}
        super().__init__(card, {**card.settings, **made})

    def judge(self, texts: Sequence[str]) -> Floats:
        """The shares of a block of texts."""
        names = [SHARES[label] for label in self.card.labels]
        found = [_analyzer().polarity_scores(text) for text in texts]
        shares = np.array([[scores[name] for name in names] for scores in found], np.float64)
        shares[[not has_word(text, scores["compound"]) for text, scores in zip(texts, found, strict=True)]] = np.nan
        return shares
