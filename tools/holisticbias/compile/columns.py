"""Arrow arrays from Python lists, straight from their bytes.

``pyarrow.array`` asks of every list whether it is a pandas object, which
imports pandas: a third of the time that building a release takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def strings(values: Sequence[str | None]) -> pa.StringArray:
    """Text, with missing values where there is none."""
    encoded = [b"" if v is None else v.encode() for v in values]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    offsets = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)), _validity(values)
    )


def booleans(values: Sequence[bool]) -> pa.BooleanArray:
    """True and false, none missing."""
    bits = np.packbits(np.fromiter(values, bool, len(values)), bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(bits)])


def repeated(value: bool, size: int) -> pa.BooleanArray:
    """One truth value, as often as asked for."""
    return pa.Array.from_buffers(pa.bool_(), size, [None, pa.py_buffer(bytes([255 * value]) * ((size + 7) // 8))])


def optional_booleans(values: Sequence[bool | None]) -> pa.BooleanArray:
    """True and false, with missing values where there is none."""
    bits = np.packbits(np.fromiter((v is True for v in values), bool, len(values)), bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(values), [_validity(values), pa.py_buffer(bits)])


def integers(values: npt.NDArray[np.int32]) -> pa.Int32Array:
    """32-bit whole numbers, none missing."""
    contiguous = np.ascontiguousarray(values, np.int32)
    return pa.Array.from_buffers(pa.int32(), len(contiguous), [None, pa.py_buffer(contiguous)])


def codes(values: Sequence[str | None]) -> pa.DictionaryArray:
    """Text by its place among the distinct values, which stand in the order of their first use."""
    places = {v: i for i, v in enumerate(dict.fromkeys(v for v in values if v is not None))}
    indices = np.fromiter((0 if v is None else places[v] for v in values), np.int32, len(values))
    array = pa.Array.from_buffers(pa.int32(), len(values), [_validity(values), pa.py_buffer(indices)])
    return pa.DictionaryArray.from_arrays(array, strings(list(places)))


def coded(places: npt.NDArray[np.int32], among: Sequence[str | None]) -> pa.DictionaryArray:
    """The texts at those places among others, missing at a place below 0 and where the other is missing."""
    distinct = {v: i for i, v in enumerate(dict.fromkeys(v for v in among if v is not None))}
    remap = np.array([*(-1 if v is None else distinct[v] for v in among), -1], np.int32)
    indices = remap[places]  # a place of -1 is the last
    present = indices >= 0
    validity = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    kept = pa.py_buffer(np.maximum(indices, 0))
    array = pa.Array.from_buffers(pa.int32(), len(indices), [validity, kept])
    return pa.DictionaryArray.from_arrays(array, strings(list(distinct)))


def constant(value: int, among: Sequence[str], size: int) -> pa.DictionaryArray:
    """One text, by its place among others, as often as asked for."""
    return pa.DictionaryArray.from_arrays(integers(np.full(size, value, np.int32)), strings(among))


def lists(values: Sequence[Sequence[str]]) -> pa.ListArray:
    """Lists of text."""
    return pa.ListArray.from_arrays(_ends(values), strings([item for items in values for item in items]))


def lists_of_records(values: Sequence[Sequence[Mapping[str, str | None]]], names: Sequence[str]) -> pa.ListArray:
    """Lists of records whose fields are text."""
    flat = [item for items in values for item in items]
    fields = [strings([item[name] for item in flat]) for name in names]
    return pa.ListArray.from_arrays(_ends(values), pa.StructArray.from_arrays(fields, names=list(names)))


def _ends(values: Sequence[Sequence[object]]) -> pa.Int32Array:
    return integers(np.concatenate([[0], np.cumsum([len(items) for items in values])]).astype(np.int32))


def _validity(values: Sequence[object]) -> pa.Buffer | None:
    if all(v is not None for v in values):
        return None
    return pa.py_buffer(np.packbits(np.fromiter((v is not None for v in values), bool, len(values)), bitorder="little"))


def table(columns: Mapping[str, pa.Array]) -> pa.Table:
    """A table of named columns."""
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def decoded(coded_table: pa.Table) -> pa.Table:
    """The table with its dictionary columns decoded to plain text."""
    columns = {name: coded_table[name] for name in coded_table.column_names}
    return table({n: c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for n, c in columns.items()})
