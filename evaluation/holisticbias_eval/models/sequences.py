"""Sequences of token ids, one after the other in one array: their places, and which are equal or of one length."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Int32s, Ints


def bounds(lengths: Ints) -> Ints:
    """The place at which each sequence begins, and the end of the last one: shape ``[sequences + 1]``."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def ranges(first: Ints, counts: Ints | Int32s) -> Ints:
    """The places ``first[i] .. first[i] + counts[i] - 1`` of each sequence, one after the other."""
    ends: Ints = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    places: Ints = np.arange(total) + np.repeat(first - (ends - counts), counts)
    return places


def equal_groups(keys: Ints) -> list[Ints]:
    """The positions of equal keys, in the order of the keys: sequences of one length need no padding."""
    order = np.argsort(keys, kind="stable")
    return [group for group in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(group)]


def distinct_sequences(ids: Int32s, starts: Ints) -> tuple[Ints, Ints]:
    """The first row of each distinct sequence, and for each row the position of its distinct sequence."""
    which = pc.dictionary_encode(_binary(ids, starts)).indices.to_numpy().astype(np.int64)
    return np.unique(which, return_index=True)[1], which


def sorted_sequences(ids: Int32s, starts: Ints) -> Ints:
    """The order that sorts the sequences by their ids."""
    order: Ints = pc.sort_indices(_binary(ids, starts)).to_numpy().astype(np.int64)
    return order


def _binary(ids: Int32s, starts: Ints) -> pa.LargeBinaryArray:
    """Each sequence as big-endian bytes, which sort as the ids do."""
    offsets, data = (starts * 4).astype(np.int64).tobytes(), ids.astype(">u4").tobytes()
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(starts) - 1, buffers)
