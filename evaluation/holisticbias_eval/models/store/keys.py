"""Keys of rows: the distinct rows of a table, and the places of many keys, with few bytes of memory per key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Ints


def distinct_rows(table: pa.Table, keys: Sequence[str] | None = None) -> tuple[Ints, Ints]:
    """The first row of each distinct key, and for each row the position of its key among the distinct ones.

    Distinct keys are in order of first occurrence. ``keys`` are columns, by default all of them.
    """
    names = list(keys or table.column_names)
    single = table[names[0]].combine_chunks() if len(names) == 1 else None
    encoded = single if single is not None and not single.null_count else _encoded(table, names)
    which = pc.dictionary_encode(encoded).indices.to_numpy().astype(np.int64)
    return np.unique(which, return_index=True)[1], which


def counted(keys: Iterable[Hashable]) -> list[int]:
    """How often each key came before, from 0."""
    seen: Counter[Hashable] = Counter()
    numbers = []
    for key in keys:
        numbers.append(seen[key])
        seen[key] += 1
    return numbers


def _encoded(table: pa.Table, names: Sequence[str]) -> pa.LargeStringArray:
    """One string per row, equal only for equal keys: the length of a text precedes it; null is empty."""
    parts = []
    for name in names:
        column = table[name].combine_chunks()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            parts.append(pc.binary_length(column).cast(pa.large_string()))
        parts.append(column.cast(pa.large_string()))
    separator = pa.scalar(" ", pa.large_string())
    return pc.binary_join_element_wise(*parts, separator, null_handling="replace", null_replacement="")


Words = npt.NDArray[np.uint64]

_HASHED_AT_ONCE = 1 << 16
_NULL = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0x2545F4914F6CDD1D)
_OF_BYTE = np.random.default_rng(0).integers(0, 1 << 64, 256, np.uint64)


class Keys(Protocol):
    """Rows of keys, which become a table part by part."""

    def __len__(self) -> int:
        """The number of rows."""

    def take(self, rows: Ints) -> Keys:
        """Select rows by position, in the given order."""

    def table(self) -> pa.Table:
        """The rows as a table with the key columns."""


class KeyPlaces:
    """The places of the rows of ``asked``, by key; its keys differ from each other.

    Keys are found by a hash of 64 bits and then compared. Of two asked keys with the same hash only one is
    found: for 2.6 million keys the chance that there are two such keys is below one in a million.
    """

    def __init__(self, asked: Keys | pa.Table, names: Sequence[str]) -> None:
        self._asked = asked
        self._names = list(names)
        hashes = np.empty(len(asked), np.uint64)
        for start in range(0, len(asked), _HASHED_AT_ONCE):
            rows = np.arange(start, min(start + _HASHED_AT_ONCE, len(asked)))
            hashes[rows] = _hashes(self._table(rows))
        self._order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._sorted = hashes[self._order]

    def find(self, rows: pa.Table) -> Ints:
        """For each row the place of its key among those asked for; -1 if it is not asked for."""
        places_of_rows = np.full(rows.num_rows, -1, np.int64)
        if not len(self._order):
            return places_of_rows
        keys = rows.select(self._names)
        hashes = _hashes(keys)
        near = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
        alike = np.flatnonzero(self._sorted[near] == hashes)
        places = self._order[near[alike]].astype(np.int64)
        equal = _equal(keys.take(pa.array(alike)), self._table(places))
        places_of_rows[alike[equal]] = places[equal]
        return places_of_rows

    def _table(self, rows: Ints) -> pa.Table:
        taken = self._asked.take(rows)
        return (taken if isinstance(taken, pa.Table) else taken.table()).select(self._names)


def _equal(one: pa.Table, other: pa.Table) -> Bools:
    """Whether each row is equal to the other table's row; missing values are equal to each other."""
    equal = np.ones(one.num_rows, np.bool_)
    for name in one.column_names:
        first, second = one[name], other[name].cast(one.schema.field(name).type)
        same = pc.fill_null(pc.equal(first, second), False)
        both = pc.and_(pc.is_null(first), pc.is_null(second))
        equal &= pc.or_(same, both).to_numpy(zero_copy_only=False)
    return equal


def _hashes(table: pa.Table) -> Words:
    """A hash of each row: shape ``[rows]``."""
    hashes = np.zeros(table.num_rows, np.uint64)
    for start in range(0, table.num_rows, _HASHED_AT_ONCE):
        rows = slice(start, start + _HASHED_AT_ONCE)
        for column in table.slice(start, _HASHED_AT_ONCE).columns:
            hashes[rows] = _mixed(hashes[rows] * _FACTOR + _of_values(column.combine_chunks()))
    return hashes


def _of_values(values: pa.Array) -> Words:
    if pa.types.is_integer(values.type):
        words = pc.fill_null(values.cast(pa.int64()), 0).to_numpy().astype(np.uint64)
    else:
        words = _of_texts(pc.fill_null(values.cast(pa.large_string()), ""))
    return np.where(values.is_null().to_numpy(zero_copy_only=False), _NULL, words) if values.null_count else words


def _of_texts(texts: pa.LargeStringArray) -> Words:
    """A polynomial of each text's bytes, modulo 2^64."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(ends)
    content = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] if data else np.zeros(0, np.uint8)
    powers = np.cumprod(np.full(lengths.max(initial=0) + 1, _FACTOR))
    place = np.arange(len(content)) - np.repeat(ends[:-1] - ends[0], lengths)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(_OF_BYTE[content] * powers[place])))
    bounds = ends - ends[0]
    return _mixed(sums[bounds[1:]] - sums[bounds[:-1]] + lengths.astype(np.uint64))


def _mixed(words: Words) -> Words:
    """Spread the bits of each number over all 64 (splitmix64, Steele et al. 2014)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))
