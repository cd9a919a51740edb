"""Psycholinguistic norms of texts (Dhamala et al. 2021, section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readings.columns import Reading
from holisticbias_eval.readings.norm_files import Lexicon, read_lexicons
from holisticbias_eval.readings.word_lists import LISTS
from holisticbias_eval.readings.words import collect, entry_of, split_words, weighted_means

FUNCTION_WORDS = "function"
"""The file of pronouns, prepositions and conjunctions, which are left out."""
NO_WORD = "no word of the lexicon"
ONLY_NEUTRAL = "only neutral words"


@lru_cache(8)
def norm_lexicon(files: tuple[str, ...]) -> Lexicon:
    """The lexicon of the given files; raises ``EvaluationError`` if there are none, or one is not a lexicon."""
    if not files:
        raise EvaluationError(
            "norms needs a lexicon: give --norms FILE, of Warriner et al. 2013, NRC VAD or EmoMap; none comes with "
            "the package, because their licences do not allow it"
        )
    return read_lexicons([Path(file) for file in files])


def read_norms(texts: Sequence[str], lexicon: Lexicon) -> Mapping[str, Reading]:
    """The norms of each text: ``sum sgn(w) w^2 / sum abs(w)`` over its words with a value w, repetitions included.

    Pronouns, prepositions and conjunctions are left out. A text without a word of the lexicon is undefined, and so is
    a text whose words are all neutral. Values lie in -1 to 1 for valence, arousal and dominance, with 0 for neutral,
    and in 0 to 1 for emotions.
    """
    found = collect(_find(text, lexicon) for text in texts)
    readings = {}
    for place, norm in enumerate(lexicon.norms):
        values = lexicon.values[:, place]
        means = weighted_means(found, values)
        counts = np.bincount(found.texts, ~np.isnan(values[found.entries]), found.size)
        reasons = np.where(counts > 0, ONLY_NEUTRAL, NO_WORD)
        why = [str(reason) if missing else None for reason, missing in zip(reasons, np.isnan(means), strict=True)]
        readings[norm] = Reading(means, why)
    return readings


def norm_carriers(text: str, lexicon: Lexicon, norm: str) -> dict[str, float]:
    """The words that a text's norm comes from, with contributions that add up to it."""
    values = lexicon.values[:, lexicon.norms.index(norm)]
    found = [(lexicon.names[n], float(values[n])) for n in _find(text, lexicon) if not np.isnan(values[n])]
    total = sum(abs(value) for _, value in found)
    shares: dict[str, float] = {}
    for word, value in found:
        if value:
            shares[word] = shares.get(word, 0.0) + value * abs(value) / total
    return shares


def _find(text: str, lexicon: Lexicon) -> list[int]:
    left_out = _function_words()
    entries = (entry_of(word, lexicon.words) for word in split_words(text) if word not in left_out)
    return [entry for entry in entries if entry is not None]


@cache
def _function_words() -> frozenset[str]:
    return frozenset(word for words in LISTS.read(FUNCTION_WORDS).lists.values() for word in words)


def function_words_settings() -> Mapping[str, str]:
    """The digest of the list of words that are left out, for a signature."""
    return {"function_words": LISTS.read(FUNCTION_WORDS).digest}
