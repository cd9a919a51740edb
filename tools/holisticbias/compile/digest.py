"""Digests of tables, which depend on the rows and not on how a file stores them."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import integers, numbers, strings
from holisticbias.errors import ReleaseError

Encoded = Callable[[pa.Array], bytes | memoryview]


def table_digest(table: pa.Table) -> str:
    """SHA-256 of a table's rows, as 64 hexadecimal digits.

    Values are written as text: text unchanged, integers in decimal, booleans as
    ``true`` or ``false``, lists and structures as compact JSON. The digest of a
    column is SHA-256 over the UTF-8 byte lengths of its values (little-endian
    32-bit, -1 for null) followed by the bytes of all values. The digest of the
    table is SHA-256 over the lines ``name digest``.
    """
    return lazy_digest(lambda: (table,))[1]


def lazy_digest(parts: Callable[[], Iterable[pa.Table]]) -> tuple[int, str]:
    """Number of rows and digest of a table in parts, which is the ``table_digest`` of the whole table.

    ``parts`` is called twice, because the lengths of all values come before the values; one part is held at a time.
    Raises ``ReleaseError`` if the parts have different columns.
    """
    rows, names, columns = 0, list[str](), list[_Column]()
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as threads:
        for encoded in (_lengths, _values):
            rows = 0
            for part in parts():
                if not names:
                    names, columns = part.column_names, [_Column() for _ in part.column_names]
                if part.column_names != names:
                    raise ReleaseError(f"the parts of a table have different columns: {part.column_names}, not {names}")
                rows += part.num_rows
                pairs = list(zip(columns, part.columns, strict=True))
                shares = (pairs[first::workers] for first in range(workers))  # a job for each column takes longer
                list(threads.map(partial(_update, encoded), filter(None, shares)))
    lines = "".join(f"{name} {column.sha.hexdigest()}\n" for name, column in zip(names, columns, strict=True))
    return rows, hashlib.sha256(lines.encode()).hexdigest()


class _Column:
    """The digest of a column so far, and the bytes of its last chunk: parts of one block of phrases share columns."""

    def __init__(self) -> None:
        self.sha = hashlib.sha256()
        self._last: tuple[Encoded, pa.Array, bytes | memoryview] | None = None

    def update(self, encoded: Encoded, column: pa.ChunkedArray) -> None:
        for chunk in column.chunks:
            if self._last is None or self._last[0] is not encoded or not chunk.equals(self._last[1]):
                self._last = encoded, chunk, encoded(_as_text(chunk))
            self.sha.update(self._last[2])


def _update(encoded: Encoded, columns: Iterable[tuple[_Column, pa.ChunkedArray]]) -> None:
    for digest, column in columns:
        digest.update(encoded, column)


def texts_digest(parts: Iterable[pa.Table]) -> tuple[int, str]:
    """Number of rows and digest of the column ``text`` of a table in parts.

    The digest is SHA-256 over the lines of the parts' digests, so that a table
    of any size can be checked part by part.
    """
    counted = [(part.num_rows, text_digest(part)) for part in parts]
    return sum(rows for rows, _ in counted), parts_digest([digest for _, digest in counted])


def text_digest(part: pa.Table) -> str:
    """Digest of the column ``text`` of one part of a table."""
    digest = _Column()
    for encoded in (_lengths, _values):
        digest.update(encoded, part["text"])
    return digest.sha.hexdigest()


def parts_digest(digests: Sequence[str]) -> str:
    """Digest of a table from the digests of its parts."""
    return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()


def release_digest(tables: Mapping[str, str]) -> str:
    """Digest of a release from the digests of its tables, sorted by name."""
    lines = "".join(f"{name} {tables[name]}\n" for name in sorted(tables))
    return hashlib.sha256(lines.encode()).hexdigest()


def _lengths(text: pa.StringArray) -> bytes:
    """UTF-8 length of each value as 32 bits, -1 for null."""
    absent = integers(np.array([-1], np.int32))[0]  # a plain number would import pandas
    return numbers(pc.fill_null(pc.binary_length(text), absent)).astype("<i4").tobytes()


def _values(text: pa.StringArray) -> memoryview:
    """The bytes of all values that are not null, joined."""
    data = text.buffers()[2]
    ends = np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1]
    return memoryview(b"" if data is None else data)[int(ends[0]) : int(ends[-1])]


_CAST = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_large_string, pa.types.is_string_view)


def _as_text(array: pa.Array) -> pa.StringArray:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_string(array.type):
        return array
    if any(is_kind(array.type) for is_kind in _CAST):
        return array.cast(pa.string())
    values = array.to_pylist()
    return strings([None if v is None else json.dumps(v, ensure_ascii=False, separators=(",", ":")) for v in values])
