"""Keys of rows: the distinct rows of a table, and the places of many keys, with few bytes of memory per key."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
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


def table_of(fields: Sequence[tuple[str, pa.DataType]], columns: Iterable[Any]) -> pa.Table:
    """A table with these fields, of Arrow columns and of any other sequences."""
    arrow = (pa.Array, pa.ChunkedArray)
    arrays = [
        values.cast(kind) if isinstance(values, arrow) else pa.array(values, kind)
        for values, (_, kind) in zip(columns, fields, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


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


_HASHED_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of several columns, which are the fields of a subclass; ``FIELDS`` has their names and types in a table."""

    FIELDS: ClassVar[tuple[tuple[str, pa.DataType], ...]]

    @classmethod
    def of(cls, table: pa.Table) -> Self:
        """The rows of a table with the columns ``FIELDS``."""
        columns = (table[name] for name, _ in cls.FIELDS)
        return cls(*(c.to_numpy() if pa.types.is_primitive(c.type) else c.to_pylist() for c in columns))

    @property
    def columns(self) -> list[Any]:
        """The columns in the order of ``FIELDS``."""
        return [getattr(self, field.name) for field in fields(self)]

    def __len__(self) -> int:
        return len(self.columns[0])

    def take(self, rows: Ints) -> Self:
        """Select rows by position, in the given order."""
        return type(self)(*(taken(column, rows) for column in self.columns))

    def table(self) -> pa.Table:
        """The rows as an Arrow table with the columns ``FIELDS``."""
        return table_of(self.FIELDS, self.columns)


def taken(column: Any, rows: Ints) -> Any:
    """Some values of a column, by position."""
    return [column[i] for i in rows] if isinstance(column, list | tuple) else column.take(rows)


def rows_as_table(keys: Rows | pa.Table, rows: Ints) -> pa.Table:
    """Some rows of keys, by position, as a table."""
    return keys.take(pa.array(rows)) if isinstance(keys, pa.Table) else keys.take(rows).table()


class KeyPlaces:
    """The places of the rows of ``asked``, by key; its keys differ from each other.

    Keys are found by a hash of 64 bits and then compared. Of two asked keys with the same hash only one is
    found: for 2.6 million keys the chance that there are two such keys is below one in a million.
    """

    def __init__(self, asked: Rows | pa.Table, names: Sequence[str]) -> None:
        self._asked = asked
        self._names = list(names)
        hashes = np.empty(len(asked), np.int64)
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
        return rows_as_table(self._asked, rows).select(self._names)


def _equal(one: pa.Table, other: pa.Table) -> Bools:
    """Whether each row is equal to the other table's row; missing values are equal to each other."""
    equal = np.ones(one.num_rows, np.bool_)
    for name in one.column_names:
        first, second = one[name], other[name].cast(one.schema.field(name).type)
        same = pc.fill_null(pc.equal(first, second), False)
        both = pc.and_(pc.is_null(first), pc.is_null(second))
        equal &= pc.or_(same, both).to_numpy(zero_copy_only=False)
    return equal


def _hashes(table: pa.Table) -> Ints:
    """A hash of each row, which another process has in another value: shape ``[rows]``."""
    hashes = np.empty(table.num_rows, np.int64)
    for start in range(0, table.num_rows, _HASHED_AT_ONCE):
        columns = [column.to_pylist() for column in table.slice(start, _HASHED_AT_ONCE).columns]
        count = len(columns[0])
        hashes[start : start + count] = np.fromiter(map(hash, zip(*columns, strict=True)), np.int64, count)
    return hashes
