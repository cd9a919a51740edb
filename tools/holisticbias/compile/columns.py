"""Arrow arrays from Python lists and NumPy arrays, built from their bytes.

``pyarrow.array`` imports pandas to check whether its argument is a pandas
object, which takes a third of the time of building a release.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bools = npt.NDArray[np.bool_]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


def strings(values: Sequence[str | None]) -> pa.StringArray:
    """Text column; None becomes null."""
    encoded = [b"" if v is None else v.encode() for v in values]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    offsets = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)), _validity(values)
    )


def booleans(values: Sequence[bool | None]) -> pa.BooleanArray:
    """Boolean column; None becomes null."""
    bits = np.packbits(np.fromiter((v is True for v in values), bool, len(values)), bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(values), [_validity(values), pa.py_buffer(bits)])


def repeat_boolean(value: bool, size: int) -> pa.BooleanArray:
    """Boolean column with one value in all ``size`` rows."""
    return pa.Array.from_buffers(pa.bool_(), size, [None, pa.py_buffer(bytes([255 * value]) * ((size + 7) // 8))])


def numbers(array: pa.Int32Array) -> Int32s:
    """The values of an integer column without nulls, not copied: ``to_numpy`` of Arrow imports pandas."""
    width = array.type.bit_width // 8
    return np.frombuffer(array.buffers()[1], f"<i{width}", len(array), array.offset * width)


def integers(values: Int32s) -> pa.Int32Array:
    """32-bit integer column without nulls."""
    contiguous = np.ascontiguousarray(values, np.int32)
    return pa.Array.from_buffers(pa.int32(), len(contiguous), [None, pa.py_buffer(contiguous)])


def optional_integers(values: Sequence[int | None]) -> pa.Int32Array:
    """32-bit integer column; None becomes null."""
    numbers = np.array([0 if v is None else v for v in values], np.int32)
    return pa.Array.from_buffers(pa.int32(), len(numbers), [_validity(values), pa.py_buffer(numbers)])


def encode_texts(texts: Sequence[str | None]) -> pa.DictionaryArray:
    """Dictionary column of texts, with the dictionary in order of first use; None becomes null."""
    return take_texts(texts, np.arange(len(texts), dtype=np.int32))


def take_texts(texts: Sequence[str | None], indices: Int32s) -> pa.DictionaryArray:
    """Dictionary column of ``texts[i]`` for each index; null for index -1 and for None."""
    codes = {v: i for i, v in enumerate(dict.fromkeys(v for v in texts if v is not None))}
    code_of = np.array([*(-1 if v is None else codes[v] for v in texts), -1], np.int32)
    taken = code_of[indices]  # -1 takes the last element
    present = taken >= 0
    validity = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    array = pa.Array.from_buffers(pa.int32(), len(taken), [validity, pa.py_buffer(np.maximum(taken, 0))])
    return pa.DictionaryArray.from_arrays(array, strings(list(codes)))


def repeat_text(texts: Sequence[str], index: int, size: int) -> pa.DictionaryArray:
    """Dictionary column with ``texts[index]`` in all ``size`` rows."""
    return pa.DictionaryArray.from_arrays(integers(np.full(size, index, np.int32)), strings(texts))


def compact(array: pa.Array) -> pa.Array:
    """Remove the texts that no row uses from the dictionary of a dictionary column; other columns are unchanged."""
    if not pa.types.is_dictionary(array.type):
        return array
    used = np.zeros(len(array.dictionary), bool)
    used[numbers(array.indices.drop_null())] = True
    if used.all():
        return array
    codes = integers((np.cumsum(used) - 1).astype(np.int32)).take(array.indices)
    texts = array.dictionary.take(integers(np.flatnonzero(used).astype(np.int32)))
    return pa.DictionaryArray.from_arrays(codes, texts)


def surround(before: str, texts: pa.Array, after: str) -> pa.StringArray:
    """Text column with ``before`` and ``after`` around each text."""
    start, end, nothing = strings([before, after, ""])
    return pc.binary_join_element_wise(start, texts, end, nothing)


def lists(values: Sequence[Sequence[str] | None]) -> pa.ListArray:
    """Column of lists of text; None becomes an empty list."""
    return pa.ListArray.from_arrays(_ends(values), strings([item for items in values for item in items or ()]))


def lists_of_records(values: Sequence[Sequence[object]], names: Sequence[str]) -> pa.ListArray:
    """Column of lists of records, whose fields are the attributes of that name; all are text."""
    fields = [strings([getattr(item, name) for items in values for item in items]) for name in names]
    return pa.ListArray.from_arrays(_ends(values), pa.StructArray.from_arrays(fields, names=list(names)))


def _ends(values: Sequence[Sequence[object] | None]) -> pa.Int32Array:
    return integers(np.cumsum([0, *(len(items or ()) for items in values)]))


def _validity(values: Sequence[object]) -> pa.Buffer | None:
    if all(v is not None for v in values):
        return None
    return pa.py_buffer(np.packbits(np.fromiter((v is not None for v in values), bool, len(values)), bitorder="little"))


def table(columns: Mapping[str, pa.Array]) -> pa.Table:
    """Table of named columns."""
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def decoded(encoded: pa.Table) -> pa.Table:
    """Decode dictionary columns to plain text."""
    columns = {name: encoded[name] for name in encoded.column_names}
    return table({n: c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for n, c in columns.items()})
