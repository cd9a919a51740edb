"""Digests of tables that depend on their rows alone, not on how a file stores them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holisticbias.columns import strings


def table_digest(table: pa.Table) -> str:
    """SHA-256 over a table's rows, as 64 hexadecimal digits.

    Every value is written as text: text as itself, whole numbers in decimal,
    booleans as ``true`` or ``false``, lists and structures as compact JSON. A
    column's digest is SHA-256 over the UTF-8 byte lengths of its values
    (little-endian 32-bit, -1 where the value is missing) followed by the bytes
    of all values; the table's is SHA-256 over the lines ``name digest``.
    """
    with ThreadPoolExecutor() as threads:
        digests = list(threads.map(_column_digest, table.columns))
    lines = "".join(f"{name} {digest}\n" for name, digest in zip(table.column_names, digests, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()


def release_digest(tables: Mapping[str, str]) -> str:
    """The digest of a release out of those of its tables, sorted by name."""
    lines = "".join(f"{name} {tables[name]}\n" for name in sorted(tables))
    return hashlib.sha256(lines.encode()).hexdigest()


def _column_digest(column: pa.ChunkedArray) -> str:
    digest = hashlib.sha256()
    texts = [_as_text(chunk) for chunk in column.chunks]
    for text in texts:
        digest.update(_byte_lengths(text).tobytes())
    for text in texts:
        digest.update(_value_bytes(text))
    return digest.hexdigest()


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


def _byte_lengths(text: pa.StringArray) -> npt.NDArray[np.int32]:
    """The UTF-8 length of each value, -1 where it is missing."""
    lengths = np.diff(_offsets(text)).astype("<i4")
    validity = text.buffers()[0]
    if validity is not None:
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
        lengths[bits[text.offset : text.offset + len(text)] == 0] = -1
    return lengths


def _offsets(text: pa.StringArray) -> npt.NDArray[np.int32]:
    return np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1]


def _value_bytes(text: pa.StringArray) -> memoryview:
    """The bytes of all values, one after the other; a missing value has none."""
    data, ends = text.buffers()[2], _offsets(text)
    return memoryview(b"" if data is None else data)[int(ends[0]) : int(ends[-1])]
