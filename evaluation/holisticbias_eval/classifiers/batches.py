"""Batches of token sequences of similar length, longest first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holisticbias_eval.arrays import Ints

BLOCK = 1024  # texts whose results are given, and stored, together
TOKENS = 4096  # tokens in a batch, padding included
_SHORTEST = 0.8  # share of the longest length in a batch that padding may fill up from


def blocks(lengths: Ints) -> Iterator[Ints]:
    """Yield the positions of all sequences in blocks, longest first; equal lengths keep their order."""
    order = np.argsort(-lengths, kind="stable")
    for start in range(0, len(order), BLOCK):
        yield order[start : start + BLOCK]


def batches(lengths: Ints, *, padded: bool) -> Iterator[slice]:
    """Cut lengths, sorted downwards, into batches of equal or, if ``padded``, similar lengths; leave out length 0.

    A batch has at most ``TOKENS`` tokens after padding, and at least one sequence.
    """
    start, total = 0, int(np.count_nonzero(lengths))
    while start < total:
        longest = int(lengths[start])
        shortest = longest * _SHORTEST if padded else longest
        stop = start + int(np.count_nonzero(lengths[start : start + max(1, TOKENS // longest)] >= shortest))
        yield slice(start, stop)
        start = stop


def padded_ids(rows: list[list[int]], padding: int) -> tuple[Ints, Ints]:
    """Token ids of sequences, filled up at their end, and a mask that is 1 for tokens and 0 for padding."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, padding, np.int64)
    ids[mask] = np.concatenate([np.array(row, np.int64) for row in rows])
    return ids, mask.astype(np.int64)
