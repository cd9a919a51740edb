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
    form = FORMS.get(name, {})
    for column, about in form.items():
        if column in part.column_names and not about.optional and part[column].null_count:
            raise _damaged(f"the table {name} has a row without {column}")
    for first, *others in _TOGETHER if "noun_phrase" in form else ():
        lacks = pc.is_null(part[first])
        for other in others:
            if not pc.is_null(part[other]).equals(lacks):
                raise _damaged(f"the table {name} has a row with only one of {first} and {other}")
    return part


def _damaged(found: str) -> ReleaseError:
    return ReleaseError(f"{found}: download or build it again")


_TEXTS = ("string", "large_string", "dictionary<values=string, indices=int32, ordered=0>")
_KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "text": ("text", _TEXTS),
    "truth": ("true or false", ("bool",)),
    "class": ("a class", ("int64", *_TEXTS)),
    "number": ("a number", ("int32",)),
}
"""What the values of a column are, in words, and the types that they may have; other columns are lists."""
_TERM = ("axis", "descriptor", "descriptor_gender", "descriptor_preference", "descriptor_id")
_NOUN = ("noun", "plural_noun", "noun_gender", "noun_id")
_TOGETHER = (_TERM, _NOUN)  # a sentence has all of them or none


def check_columns(where: str, name: str, schema: pa.Schema) -> None:
    """Raise ``ReleaseError`` for a column that a table lacks or has twice, or of another type than its values need.

    Releases of before 3.1.0 may hold an axis as a number (ClassLabel).
    """
    for column, about in FORMS.get(name, {}).items():
        places = schema.get_all_field_indices(column)
        if len(places) > 1:
            raise _damaged(f"{where} has {len(places)} columns {column}")
        if not places and about.layout == 1:
            raise _damaged(f"{where} has no column {column}")
        for kind in (schema.field(place).type for place in places):
            words, types = _KINDS.get(about.kind, ("a list", ()))
            if str(kind) not in types and (types or not pa.types.is_list(kind)):
                raise _damaged(f"{where} has a column {column} of the type {str(kind)[:60]}, not {words}")
