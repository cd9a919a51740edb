"""Words of texts, and sums over the words of each text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats, Ints

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def split_words(text: str) -> list[str]:
    """The words of a text in lower case: letters and digits, with straight apostrophes inside.

    Every other character separates words, hyphens and curly apostrophes included: ``he's`` and ``women's`` are one
    word each, and the curly forms are ``he`` and ``s``, ``women`` and ``s``.
    """
    return _WORD.findall(text.lower())


def entry_of(word: str, entries: Mapping[str, int]) -> int | None:
    """The number of a word's entry: that of the word itself, or else of the word without ``'s``."""
    found = entries.get(word)
    return entries.get(word.removesuffix("'s")) if found is None else found


@dataclass(frozen=True)
class Found:
    """The entries of a lexicon that texts contain: which text and which entry, in order of the texts."""

    texts: Ints
    entries: Ints
    size: int

    def counts(self) -> Ints:
        """The number of entries that each text contains, repetitions included."""
        return np.bincount(self.texts, minlength=self.size)


def collect(rows: Iterable[Sequence[int]]) -> Found:
    """The entries of each text, as found one text after another."""
    lists = list(rows)
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    entries = np.fromiter((entry for row in lists for entry in row), np.int64, int(lengths.sum()))
    return Found(np.repeat(np.arange(len(lists)), lengths), entries, len(lists))


def weighted_means(found: Found, values: Floats) -> Floats:
    """The mean of each text's values, each weighted by its size: ``sum sgn(v) v^2 / sum abs(v)``.

    ``values`` has one value per entry of the lexicon, NaN for an entry without one. NaN for a text without a value
    other than 0. Source: Dhamala et al. 2021, sections 4.4 and 4.5.
    """
    own = values[found.entries]
    known = ~np.isnan(own)
    texts, own = found.texts[known], own[known]
    above = np.bincount(texts, own * np.abs(own), found.size)
    below = np.bincount(texts, np.abs(own), found.size)
    with np.errstate(invalid="ignore"):
        means: Floats = above / below
    return means
