"""Limits on the files of a release, checked before they are read: a release may come from anybody."""

from __future__ import annotations

import errno
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.errors import ReleaseError

LARGEST_MANIFEST = 64_000_000  # bytes
_ROWS_PER_BYTE = 1  # real tables take about ten bytes a row
_EXPANSION = 200  # real tables expand by less than 20
_SPARE = 1_000_000

_TEXT = ("text", "string", "large_string", "dictionary<values=string, indices=int32, ordered=0>")
_TRUTH = ("true or false", "bool")
_CLASS = ("a class", "int64", *_TEXT[1:])
_SENTENCE = {
    "text": _TEXT, "axis": _CLASS, "descriptor": _TEXT, "noun": _TEXT, "template": _TEXT, "sentence_id": _TEXT,
    "descriptor_id": _TEXT, "noun_id": _TEXT, "template_id": _TEXT, "noun_phrase": _TEXT, "plural_noun_phrase": _TEXT,
    "first_turn_only": _TRUTH, "must_be_noun": _TRUTH,
}  # fmt: skip
COLUMNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "sentences": _SENTENCE,
    "small": _SENTENCE,
    "intersections": {"text": _TEXT},
    "descriptors": {"descriptor_id": _TEXT, "descriptor": _TEXT, "axis": _CLASS},
    "nouns": {"noun_id": _TEXT, "noun": _TEXT, "plural_noun": _TEXT},
    "templates": {"template_id": _TEXT, "template": _TEXT},
}
"""The columns that every version of a table has, with the Parquet types that hold their values."""


def require_file(path: Path, largest: int | None = None) -> Path:
    """The path of a regular file; raises ``OSError`` if it is a pipe, a device or a folder, or too large."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if largest is not None and found.st_size > largest:
        raise OSError(errno.EFBIG, f"it has {found.st_size:,} bytes, more than {largest:,}", str(path))
    return path


def read_footer(path: Path) -> pq.FileMetaData:
    """The metadata of a Parquet file whose content may be read.

    A few megabytes can declare rows that take all memory. Raises ``ReleaseError`` if the file has more rows or more
    data than a table of that size can have, and ``OSError`` or ``pa.ArrowException`` if it cannot be read.
    """
    size = require_file(path).stat().st_size
    footer = pq.read_metadata(path)
    data = sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))
    rows = sum(footer.row_group(i).num_rows for i in range(footer.num_row_groups))
    if max(rows, footer.num_rows) > _SPARE + _ROWS_PER_BYTE * size:
        raise ReleaseError(f"{path} declares {max(rows, footer.num_rows):,} rows in {size:,} bytes: it is not read")
    if data > 64 * _SPARE + _EXPANSION * size:
        raise ReleaseError(f"{path} expands from {size:,} to {data:,} bytes: it is not read")
    return footer


def schema_problem(table: str, schema: pa.Schema) -> str | None:
    """The column that a table lacks, or that has another type than its values need; None if there is none."""
    for name, (what, *types) in COLUMNS.get(table, {}).items():
        if name not in schema.names:
            return f"has no column {name}"
        if str(schema.field(name).type) not in types:
            return f"has a column {name} of the type {str(schema.field(name).type)[:60]}, not {what}"
    return None
