"""Longest runs of words that two texts have in common."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holisticbias_eval.arrays import Int32s, Ints
from holisticbias_eval.statistics.words import Words

_CELLS_AT_ONCE = 1 << 21


def longest_common_runs(first: Words, second: Words) -> Ints:
    """The length in words of the longest run that each text of ``first`` shares with that of ``second``: ``[texts]``.

    Both have the same vocabulary and the same number of texts. Texts are
    compared in batches of similar length: one step per word of ``first`` compares it with
    all words of ``second`` and lengthens the runs that ended one word earlier.
    """
    found = np.zeros(len(first), np.int64)
    for rows in _batches(first.lengths, second.lengths):
        found[rows] = _longest(_padded(first.take(rows), -1), _padded(second.take(rows), -2))
    return found


def _batches(one: Ints, other: Ints) -> Iterator[Ints]:
    """Rows in which both texts have words, sorted by length, with at most ``_CELLS_AT_ONCE`` words each."""
    rows = np.flatnonzero((one > 0) & (other > 0))
    order = rows[np.lexsort((one[rows], other[rows]))]
    start = 0
    while start < len(order):
        # the widest row is the last of a batch, so the size is settled by looking back from a guess
        end = min(len(order), start + max(1, _CELLS_AT_ONCE // int(other[order[start]])))
        widest = int(other[order[end - 1]])
        end = min(end, start + max(1, _CELLS_AT_ONCE // widest))
        yield order[start:end]
        start = end


def _padded(words: Words, padding: int) -> Int32s:
    """Words as a rectangle: shape ``[texts, longest]``."""
    lengths = words.lengths
    found = np.full((len(words), int(lengths.max(initial=0))), padding, np.int32)
    found[np.arange(found.shape[1]) < lengths[:, None]] = words.codes
    return found


def _longest(first: Int32s, second: Int32s) -> Int32s:
    ended = np.zeros((len(second), second.shape[1] + 1), np.int32)
    longest = np.zeros(len(second), np.int32)
    for place in range(first.shape[1]):
        # a run that ends at this word is one longer than the run that ended one word earlier in both texts
        ended[:, 1:] = np.where(first[:, place, None] == second, ended[:, :-1] + 1, 0)
        np.maximum(longest, ended.max(axis=1), out=longest)
    return longest
