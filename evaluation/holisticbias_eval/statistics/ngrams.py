"""Runs of one to a few words that occur in many texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.statistics.words import Words


@dataclass(frozen=True, slots=True)
class Ngrams:
    """Runs of words, and the texts that have them.

    Run ``i`` is ``length[i]`` words from word ``at[i]`` of ``words`` on. ``row``
    and ``gram`` have an entry for each text and each run that it has: shape ``[occurrences]``.
    """

    words: Words
    at: Ints
    length: Ints
    row: Ints
    gram: Ints

    def __len__(self) -> int:
        return len(self.at)

    def codes(self, gram: int) -> tuple[int, ...]:
        """The words of a run, as places in the vocabulary."""
        start = int(self.at[gram])
        return tuple(self.words.codes[start : start + int(self.length[gram])].tolist())

    def text(self, gram: int) -> str:
        """The words of a run with a blank between them."""
        return " ".join(self.words.vocabulary[code].as_py() for code in self.codes(gram))


def frequent_ngrams(words: Words, longest: int, least: int) -> Ngrams:
    """Runs of up to ``longest`` words that at least ``least`` texts have.

    A run can only be frequent if it is frequent without its last word, so each length starts from the one below.
    """
    rows, places = words.rows, np.arange(len(words.codes))
    ends = np.repeat(words.starts[1:], words.lengths)
    gram = np.zeros(len(places), np.int64)
    parts = []
    known = 0
    for length in range(1, longest + 1):
        kept = (gram >= 0) & (places + length <= ends)
        rows, places, ends, gram = rows[kept], places[kept], ends[kept], gram[kept]
        key = gram * len(words.vocabulary) + words.codes[places + length - 1]
        _, first, gram = np.unique(key, return_index=True, return_inverse=True)
        row, found = np.divmod(_distinct(rows * max(len(first), 1) + gram), max(len(first), 1))
        frequent = np.bincount(found, minlength=len(first)) >= least
        place = np.where(frequent, np.cumsum(frequent) - 1, -1)
        kept = frequent[found]
        parts.append((places[first[frequent]], length, row[kept], place[found[kept]] + known))
        known += int(frequent.sum())
        gram = place[gram]
    at, lengths, rows_of, grams = zip(*parts, strict=True)
    counts = [len(a) for a in at]
    return Ngrams(words, np.concatenate(at), np.repeat(lengths, counts), np.concatenate(rows_of), np.concatenate(grams))


def _distinct(values: Ints) -> Ints:
    """The distinct values in ascending order; sorting takes a fraction of the time of ``np.unique``, which hashes."""
    ordered = np.sort(values)
    found: Ints = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
    return found
