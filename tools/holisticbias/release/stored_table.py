"""Tables of a release folder, read from their files when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias.compile.columns import decoded
from holisticbias.compile.companion_tables import COMPANIONS
from holisticbias.errors import ReleaseError
from holisticbias.release.manifest import TABLES
from holisticbias.release.parquet import read_parquet, read_parts
from holisticbias.release.table_forms import missing_problem

_PLAIN = (*TABLES, *COMPANIONS, "history")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file with its size, time of change and number in the file system when it was checked; null if missing."""

    path: Path
    stamp: tuple[int, int, int] | None

    @classmethod
    def of(cls, path: Path) -> StoredFile:
        """The file as it is now."""
        return cls(path, _stamp(path))

    @property
    def unchanged(self) -> Path:
        """The path; raises ``ReleaseError`` if the file is another than the one that was checked."""
        if _stamp(self.path) != self.stamp:
            raise ReleaseError(f"{self.path} has changed since the release was opened: open the release again")
        return self.path


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table in one or more Parquet files, with the column types of a compiled table.

    Entries have plain text, sentences have dictionaries. Reading raises ``ReleaseError`` if a file has changed since
    it was checked, or cannot be read.
    """

    name: str
    files: tuple[StoredFile, ...]

    def read(self) -> pa.Table:
        """The whole table."""
        with _reading(self.name):
            tables = (with_values(read_parquet(file.unchanged), self.name) for file in self.files)
            return pa.concat_tables(map(self._as_compiled, tables))

    def parts(self) -> Iterator[pa.Table]:
        """The table in parts of bounded size."""
        with _reading(self.name):
            for file in self.files:
                for part in checked_parts(file.unchanged, self.name):
                    yield self._as_compiled(part)

    def _as_compiled(self, table: pa.Table) -> pa.Table:
        return decoded(table) if self.name in _PLAIN else table


def checked_parts(path: Path, name: str) -> Iterator[pa.Table]:
    """The parts of a file of a table; raises ``ReleaseError`` if a row lacks a value that it must have."""
    return (with_values(part, name) for part in read_parts(path))


def with_values(part: pa.Table, name: str) -> pa.Table:
    """A part of a table; raises ``ReleaseError`` if a row lacks a value that it must have."""
    problem = missing_problem(name, part)
    if problem is not None:
        raise ReleaseError(f"the table {name} {problem}: download or build it again")
    return part


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(f"the table {name} cannot be read: {error}") from error
