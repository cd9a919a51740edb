"""Tables that are made or read only when they are asked for, whole or in parts of bounded size."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

ROWS = 1 << 17
"""The most rows of a part, and of a row group of a file."""


class LazyTable:
    """A table that is made or read when it is asked for."""

    __slots__ = ()

    @abstractmethod
    def parts(self) -> Iterator[pa.Table]:
        """The table in parts, in order; each call starts with the first part."""

    def read(self) -> pa.Table:
        """The whole table."""
        return pa.concat_tables(self.parts())


@dataclass(frozen=True, slots=True)
class InMemory(LazyTable):
    """A table in memory, as a lazy table with one part."""

    table: pa.Table

    def parts(self) -> Iterator[pa.Table]:
        """The table as one part."""
        return iter((self.table,))

    def read(self) -> pa.Table:
        """The table."""
        return self.table


class LazyTables(Mapping[str, pa.Table]):
    """Tables by name. A table is read when it is first used as a whole, and kept."""

    def __init__(self, tables: Mapping[str, LazyTable]) -> None:
        self._tables = dict(tables)

    def __getitem__(self, name: str) -> pa.Table:
        """The whole table."""
        table = self._tables[name].read()
        self._tables[name] = InMemory(table)
        return table

    def __contains__(self, name: object) -> bool:
        """Whether there is a table with this name; reads nothing."""
        return name in self._tables

    def __iter__(self) -> Iterator[str]:
        """The names of the tables."""
        return iter(self._tables)

    def __len__(self) -> int:
        """Number of tables."""
        return len(self._tables)

    def lazy(self, name: str) -> LazyTable:
        """The table, not yet read unless it was used before."""
        return self._tables[name]


def lazy_table(tables: Mapping[str, pa.Table], name: str) -> LazyTable:
    """A table of a mapping, without reading it."""
    return tables.lazy(name) if isinstance(tables, LazyTables) else InMemory(tables[name])
