"""Tables of a release folder, read when they are asked for, and checked: they may come from anybody."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import decoded
from holisticbias.compile.lazy_tables import LazyTable
from holisticbias.compile.table_forms import FORMS
from holisticbias.errors import ReleaseError
from holisticbias.inputs import Stamp, file_stamp, refuse_unreadable
from holisticbias.release.parquet import read_parquet, read_parts
from holisticbias.terms.file_kinds import COMPANIONS, TERMS

_PLAIN = (*TERMS, *COMPANIONS, "history")


@dataclass(frozen=True, slots=True)
class StoredTable(LazyTable):
    """A table in one or more Parquet files, with the column types of a compiled table.

    Entries have plain text, sentences have dictionaries. Reading raises ``ReleaseError`` if a file has changed since
    it was checked, or cannot be read; ``files`` has their stamps from then.
    """

    name: str
    files: Mapping[Path, Stamp]

    def read(self) -> pa.Table:
        """The whole table."""
        with refuse_unreadable(f"the table {self.name}", ReleaseError):
            tables = (with_values(read_parquet(path), self.name) for path in self.unchanged())
            return pa.concat_tables(map(self._as_compiled, tables))

    def parts(self) -> Iterator[pa.Table]:
        """The table in parts of bounded size."""
        with refuse_unreadable(f"the table {self.name}", ReleaseError):
            for path in self.unchanged():
                yield from map(self._as_compiled, checked_parts(path, self.name))

    def unchanged(self) -> Iterator[Path]:
        """The files, in order; raises ``ReleaseError`` if a file has changed since it was checked."""
        for path, stamp in self.files.items():
            if file_stamp(path) != stamp:
                raise ReleaseError(f"{path} has changed since the release was opened: open the release again")
            yield path

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


_WORDS = {
    "text": "text",
    "truth": "true or false",
    "class": "a class",
    "number": "a number",
}
_TEXTS = ("string", "large_string", "dictionary<values=string, indices=int32, ordered=0>")
_TYPES = {"text": _TEXTS, "truth": ("bool",), "class": ("int64", *_TEXTS), "number": ("int32",)}
_TERM = ("axis", "descriptor", "descriptor_gender", "descriptor_preference", "descriptor_id")
_NOUN = ("noun", "plural_noun", "noun_gender", "noun_id")
_TOGETHER = (_TERM, _NOUN)  # a sentence has all of them or none


def schema_problem(table: str, schema: pa.Schema) -> str | None:
    """The column that a table lacks or has twice, or that has another type than its values need; None if all is right.

    Releases of before 3.1.0 may hold an axis as a number (ClassLabel).
    """
    for name, column in FORMS.get(table, {}).items():
        places = schema.get_all_field_indices(name)
        if len(places) > 1:
            return f"has {len(places)} columns {name}"
        if not places and column.layout == 1:
            return f"has no column {name}"
        if places and not _fits(schema.field(places[0]).type, column.kind):
            kind = str(schema.field(places[0]).type)[:60]
            return f"has a column {name} of the type {kind}, not {_WORDS.get(column.kind, 'a list')}"
    return None


def _fits(kind: pa.DataType, wanted: str) -> bool:
    return str(kind) in _TYPES[wanted] if wanted in _TYPES else pa.types.is_list(kind)


def missing_problem(table: str, part: pa.Table) -> str | None:
    """The column of a part of a table that lacks a value that it must have; None if all is right."""
    form = FORMS.get(table, {})
    for name, column in form.items():
        if name in part.column_names and not column.optional and part[name].null_count:
            return f"has a row without {name}"
    for first, *others in _TOGETHER if "noun_phrase" in form else ():
        lacks = pc.is_null(part[first])
        for name in others:
            if not pc.is_null(part[name]).equals(lacks):
                return f"has a row with only one of {first} and {name}"
    return None
