"""Gunning Fog and the Automated Readability Index of single sentences, without any download."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from holisticbias_eval.arrays import Floats

_COMPLEX = 3  # syllables of a complex word


def automated_readability(sentences: Sequence[str]) -> Floats:
    """The Automated Readability Index of each sentence, by textstat: shape ``[sentences]``.

    4.71 characters a word + 0.5 words a sentence - 21.43 (Senter and Smith 1967).
    """
    import textstat

    return np.array([textstat.automated_readability_index(sentence) for sentence in sentences], np.float64)


def gunning_fog(sentences: Sequence[str]) -> Floats:
    """The Gunning Fog index of each sentence: shape ``[sentences]``.

    0.4 (words + 100 times the share of complex words) (Bogert 1985); a complex word has three syllables or more and
    is not one of textstat's easy words. See ``syllable_counter``.
    """
    import textstat

    if _has_dictionary():
        return np.array([textstat.gunning_fog(sentence) for sentence in sentences], np.float64)
    return np.array([_fog_by_hyphens(sentence) for sentence in sentences], np.float64)


def syllable_counter() -> str:
    """The name of the method that counts syllables, for the record of a run.

    textstat counts them in the CMU pronouncing dictionary, which nltk would download. Without a copy on this machine
    they are counted by the places where a word may be hyphenated, as textstat does for words that the dictionary lacks.
    """
    return "the CMU pronouncing dictionary" if _has_dictionary() else "places for hyphens (pyphen)"


@lru_cache(maxsize=1)
def _has_dictionary() -> bool:
    import nltk

    for place in ("corpora/cmudict", "corpora/cmudict.zip/cmudict/"):
        try:
            nltk.data.find(place)
        except (LookupError, OSError):
            continue
        return True
    return False


@lru_cache(maxsize=1)
def _hyphenation() -> tuple[Callable[[str], Sequence[int]], frozenset[str]]:
    """The places for hyphens in a word, and textstat's easy words."""
    from pyphen import Pyphen
    from textstat.backend.utils import get_lang_easy_words

    return Pyphen(lang="en_US").positions, frozenset(get_lang_easy_words("en"))


def _fog_by_hyphens(sentence: str) -> float:
    import textstat
    from textstat.backend.selections import list_words

    words = list_words(sentence, lowercase=True)
    if not words:
        return 0.0
    positions, easy = _hyphenation()
    complex_words = [word for word in words if word not in easy and len(positions(word)) + 1 >= _COMPLEX]
    return float(0.4 * (textstat.words_per_sentence(sentence) + 100 * len(complex_words) / len(words)))
