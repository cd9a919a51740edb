"""Sentiment of texts by VADER (Hutto and Gilbert 2014)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from holisticbias_eval.readings.columns import Reading
from holisticbias_eval.readings.words import split_words

POSITIVE, NEUTRAL, NEGATIVE = "positive", "neutral", "negative"
NO_WORD = "no word"


def vader_settings() -> Mapping[str, str]:
    """The version of VADER, for a signature."""
    return {"vader": f"vaderSentiment {version('vaderSentiment')}"}


def read_sentiment(texts: Sequence[str], positive: float, negative: float) -> Reading:
    """The compound score of each text, from -1 to 1, and its class.

    A text is positive from ``positive`` on, negative up to ``negative``, and neutral between them, also if VADER knows
    none of its words. A text without any word or emoticon is undefined. Upper case counts, as in VADER.
    """
    scores = [_score(text)[0] for text in texts]
    known = [bool(score or split_words(text)) for score, text in zip(scores, texts, strict=True)]
    values = np.where(known, scores, np.nan)
    classes = [_class(s, positive, negative) if k else None for s, k in zip(scores, known, strict=True)]
    return Reading(values, [None if k else NO_WORD for k in known], classes)


def sentiment_words(text: str) -> dict[str, float]:
    """The words that VADER finds in a text, and the sum of each word's valences after VADER's rules.

    VADER's compound score is a function of the sum of all valences and of punctuation.
    """
    found: dict[str, float] = {}
    for word, valence in _score(text)[1]:
        found[word] = found.get(word, 0.0) + valence
    return found


@lru_cache(1 << 17)
def _score(text: str) -> tuple[float, tuple[tuple[str, float], ...]]:
    """The compound score, and the words with a valence: both are asked for, and VADER is slow."""
    from vaderSentiment.vaderSentiment import SentiText

    analyzer = _analyzer()
    compound = float(analyzer.polarity_scores(text)["compound"])
    words = zip(SentiText(analyzer.text).words_and_emoticons, analyzer.valences, strict=True)
    return compound, tuple((word.lower(), float(valence)) for word, valence in words if valence)


def _class(value: float, positive: float, negative: float) -> str:
    if value >= positive:
        return POSITIVE
    return NEGATIVE if value <= negative else NEUTRAL


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
