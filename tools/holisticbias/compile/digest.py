"""Digests of tables, which depend on the rows and not on how a file stores them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias.compile.columns import Bools, Int32s, strings
from holisticbias.errors import ReleaseError


def table_digest(table: pa.Table) -> str:
    """SHA-256 of a table's rows, as 64 hexadecimal digits.

    Values are written as text: text unchanged, integers in decimal, booleans as
    ``true`` or ``false``, lists and structures as compact JSON. The digest of a
    column is SHA-256 over the UTF-8 byte lengths of its values (little-endian
    32-bit, -1 for null) followed by the bytes of all values. The digest of the
    table is SHA-256 over the lines ``name digest``.
    """
    with ThreadPoolExecutor() as threads:
        digests = list(threads.map(_column_digest, table.columns))
    return _of_columns(table.column_names, digests)


def lazy_digest(parts: Callable[[], Iterable[pa.Table]]) -> tuple[int, str]:
    """Number of rows and digest of a table in parts, which is the ``table_digest`` of the whole table.

    ``parts`` is called twice, because the lengths of all values come before the values; one part is held at a time.
    Raises ``ReleaseError`` if the parts have different columns.
    """
    rows, names, digests = 0, list[str](), list[Any]()
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as threads:
        for update in (_update_lengths, _update_values):
            rows = 0
            for part in parts():
                if not digests:
                    names, digests = part.column_names, [hashlib.sha256() for _ in part.column_names]
                if part.column_names != names:
                    raise ReleaseError(f"the parts of a table have different columns: {part.column_names}, not {names}")
                rows += part.num_rows
                columns = list(zip(digests, part.columns, strict=True))
                shares = (columns[first::workers] for first in range(workers))  # a job for each column takes longer
                list(threads.map(update, filter(None, shares)))
    return rows, _of_columns(names, [digest.hexdigest() for digest in digests])


def _update_lengths(columns: Iterable[tuple[Any, pa.ChunkedArray]]) -> None:
    for digest, column in columns:
        for chunk in column.chunks:
            digest.update(_lengths(_readable(chunk)))


def _update_values(columns: Iterable[tuple[Any, pa.ChunkedArray]]) -> None:
    for digest, column in columns:
        for chunk in column.chunks:
            digest.update(_values(_readable(chunk)))


def _of_columns(names: Iterable[str], digests: Iterable[str]) -> str:
    lines = "".join(f"{name} {digest}\n" for name, digest in zip(names, digests, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()


def texts_digest(parts: Iterable[pa.Table]) -> tuple[int, str]:
    """Number of rows and digest of the column ``text`` of a table in parts.

    The digest is SHA-256 over the lines of the parts' digests, so that a table
    of any size can be checked part by part.
    """
    counted = [(part.num_rows, text_digest(part)) for part in parts]
    return sum(rows for rows, _ in counted), parts_digest([digest for _, digest in counted])


def text_digest(part: pa.Table) -> str:
    """Digest of the column ``text`` of one part of a table."""
    return _column_digest(part["text"])


def parts_digest(digests: Sequence[str]) -> str:
    """Digest of a table from the digests of its parts."""
    return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()


def release_digest(tables: Mapping[str, str]) -> str:
    """Digest of a release from the digests of its tables, sorted by name."""
    lines = "".join(f"{name} {tables[name]}\n" for name in sorted(tables))
    return hashlib.sha256(lines.encode()).hexdigest()


def _column_digest(column: pa.ChunkedArray) -> str:
    digest = hashlib.sha256()
    texts = [_readable(chunk) for chunk in column.chunks]
    for text in texts:
        digest.update(_lengths(text))
    for text in texts:
        digest.update(_values(text))
    return digest.hexdigest()


def _readable(chunk: pa.Array) -> pa.Array:
    """The values as text, in a dictionary if they are text in a dictionary."""
    return chunk if _is_dictionary(chunk) else _as_text(chunk)


def _lengths(text: pa.Array) -> bytes:
    return (_dictionary_lengths(text) if _is_dictionary(text) else _byte_lengths(text)).tobytes()


def _values(text: pa.Array) -> memoryview:
    return _value_bytes(text.dictionary_decode() if _is_dictionary(text) else text)


def _is_dictionary(array: pa.Array) -> bool:
    """Whether it is a dictionary array of text; decoding one chunk at a time saves memory."""
    return bool(pa.types.is_dictionary(array.type) and pa.types.is_string(array.type.value_type))


def _dictionary_lengths(array: pa.DictionaryArray) -> Int32s:
    lengths = _byte_lengths(array.dictionary)
    present = _present(array.indices)
    places = np.frombuffer(array.indices.buffers()[1], array.indices.type.to_pandas_dtype())
    places = places[array.offset : array.offset + len(array)]
    if present is None:
        return lengths[places]
    return np.where(present, lengths[np.where(present, places, 0)] if len(lengths) else -1, -1).astype("<i4")


_CAST = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_large_string, pa.types.is_string_view)


def _as_text(array: pa.Array) -> pa.StringArray:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_string(array.type):
        return array
    if any(is_kind(array.type) for is_kind in _CAST):
        return array.cast(pa.string())
    dumped = (
        None if v is None else json.dumps(v, ensure_ascii=False, separators=(",", ":")) for v in array.to_pylist()
    )
    return strings(list(dumped))


def _byte_lengths(text: pa.StringArray) -> Int32s:
    """UTF-8 length of each value, -1 for null."""
    lengths = np.diff(_offsets(text)).astype("<i4")
    present = _present(text)
    if present is not None:
        lengths[~present] = -1
    return lengths


def _present(array: pa.Array) -> Bools | None:
    """Mask of the values that are not null; None if no value is null."""
    validity = array.buffers()[0]
    if validity is None:
        return None
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(bool)


def _offsets(text: pa.StringArray) -> Int32s:
    return np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1]


def _value_bytes(text: pa.StringArray) -> memoryview:
    """The bytes of all values that are not null, joined."""
    data, ends = text.buffers()[2], _offsets(text)
    return memoryview(b"" if data is None else data)[int(ends[0]) : int(ends[-1])]
