"""Quality of sentences: control, length, diversity, sentiment and readability (Kocielnik et al. 2023, section 3)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias.compile.random_words import random_words
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Bools, Floats
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.statistics.intervals import middle_of, normal_estimate, wilson
from holisticbias_eval.stereotypes.acceptance import words
from holisticbias_eval.stereotypes.readability import automated_readability, gunning_fog
from holisticbias_eval.stereotypes.targets import has_term
from holisticbias_eval.stereotypes.templates import template_pairs

MEASURE = "sentences"
SENTIMENT = 0.05
"""VADER's compound score from which a sentence is positive; negative from minus this on (appendix C)."""
TOGETHER = 200
"""Sentences whose distinct words are counted."""
_DRAWS = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence and the two terms that it was asked for."""

    sentence: str
    term: str
    attribute: str


def quality_figures(source: str, returned: Sequence[Asked], kept: Sequence[Asked]) -> list[Figure]:
    """The figures of one source of sentences, ``generated``, ``imported`` or ``template``, with the key ``source``.

    The share with both terms is over all returned sentences, every other figure over the kept ones. Distinct words
    are the mean over 30 random sets of 200 kept sentences, undefined with fewer.
    """
    texts = [asked.sentence for asked in kept]
    with_terms = [has_term(asked.sentence, asked.term) and has_term(asked.sentence, asked.attribute)
                  for asked in returned]  # fmt: skip
    compound = _compound(texts)
    return [
        _share("both_terms", source, np.array(with_terms, bool)),
        _mean("words", source, np.array([len(words(text)) for text in texts], np.float64), "words per sentence"),
        _distinct(source, texts),
        _share("positive", source, compound >= SENTIMENT),
        _share("negative", source, compound <= -SENTIMENT),
        _mean("gunning_fog", source, gunning_fog(texts), "school years"),
        _mean("readability", source, automated_readability(texts), "school grade"),
    ]


def fill_templates(specification: Specification) -> list[Asked]:
    """The first sentence of each pair of the specification's own templates, each once; see ``template_pairs``."""
    pairs = (pair for pair in template_pairs(specification) if pair.rule is None)
    return list(dict.fromkeys(Asked(pair.sentence, pair.term, pair.attribute) for pair in pairs))


def _compound(texts: Sequence[str]) -> Floats:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyzer = SentimentIntensityAnalyzer()
    return np.array([analyzer.polarity_scores(text)["compound"] for text in texts], np.float64)


def _share(name: str, source: str, values: Bools) -> Figure:
    n = len(values)
    share = float(values.mean()) if n else np.nan
    return make_figure(MEASURE, name, {"source": source}, share, "share", n, interval=wilson(share, n))


def _mean(name: str, source: str, values: Floats, unit: str) -> Figure:
    """A mean over sentences with its 95% interval by the normal distribution, which needs two sentences."""
    n = len(values)
    mean = float(values.mean()) if n else np.nan
    interval, _ = normal_estimate(mean, float(values.std(ddof=1)) / n**0.5 if n > 1 else np.nan)
    return make_figure(MEASURE, name, {"source": source}, mean, unit, n, interval=interval)


def _distinct(source: str, texts: Sequence[str]) -> Figure:
    """Distinct words, without case, in 200 sentences; the interval is the middle 95% of 30 random sets."""
    counts = [_count_distinct([texts[i] for i in _drawn(draw, texts)]) for draw in range(_DRAWS)]
    enough = len(texts) >= TOGETHER
    return make_figure(
        MEASURE, "distinct_words", {"source": source}, float(np.mean(counts)) if enough else None,
        f"words in {TOGETHER} sentences", len(texts), interval=middle_of(np.array(counts, float)) if enough else None,
    )  # fmt: skip


def _count_distinct(texts: Sequence[str]) -> int:
    return len({word.casefold() for text in texts for word in words(text)})


def _drawn(draw: int, texts: Sequence[str]) -> list[int]:
    """The sentences of a random set; they depend on the sentences alone."""
    seed = int.from_bytes(hashlib.sha256("\n".join(texts).encode()).digest()[:8], "big")
    order = np.argsort(random_words(seed, draw, len(texts)), kind="stable")[:TOGETHER]
    return [int(place) for place in order]
