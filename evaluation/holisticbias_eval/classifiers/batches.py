"""Batches of token sequences of equal length, longest first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from holisticbias_eval.arrays import Ints

BLOCK = 1024  # texts whose results are given, and stored, together


def blocks(lengths: Ints) -> Iterator[Ints]:
    """Yield the positions of all sequences in blocks, longest first; equal lengths keep their order."""
    order = np.argsort(-lengths, kind="stable")
    for start in range(0, len(order), BLOCK):
        yield order[start : start + BLOCK]


def equal_lengths(lengths: Ints) -> Iterator[slice]:
    """Yield the runs of one length in sorted lengths, so that no padding is needed; length 0 is left out."""
    ends = [0, *(np.flatnonzero(np.diff(lengths)) + 1).tolist(), len(lengths)]
    for start, stop in pairwise(ends):
        if start < stop and lengths[start]:
            yield slice(start, stop)
