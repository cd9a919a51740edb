"""Columns of text as whole numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Int32s, Ints


def codes_of(column: pa.ChunkedArray) -> tuple[list[str], Int32s]:
    """The distinct texts of a column in order of appearance, and which of them each row has: shape ``[rows]``.

    A dictionary column is not decoded. Raises ``ArrowInvalid`` if a text is null.
    """
    if pa.types.is_dictionary(column.type) and not column.null_count:
        return _codes_of_dictionaries(column)
    encoded = pc.dictionary_encode(column.cast(pa.string())).combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int32)


def is_text(column: pa.ChunkedArray, text: str) -> Bools:
    """Whether each row has this text; a dictionary column is not decoded. Raises ``ArrowInvalid`` if one is null."""
    texts, codes = codes_of(column)
    found: Bools = codes == (texts.index(text) if text in texts else len(texts))
    return found


def _codes_of_dictionaries(column: pa.ChunkedArray) -> tuple[list[str], Int32s]:
    known: dict[str, int] = {}
    codes = np.empty(len(column), np.int32)
    start = 0
    for chunk in column.chunks:
        indices = chunk.indices.to_numpy()
        names, code = chunk.dictionary.to_pylist(), np.zeros(len(chunk.dictionary), np.int32)
        for i in _by_first_use(indices, len(names)):
            code[i] = known.setdefault(names[i], len(known))
        codes[start : start + len(chunk)] = code[indices]
        start += len(chunk)
    return list(known), codes


def _by_first_use(indices: Int32s, size: int) -> list[int]:
    """The indices that occur, in order of first use."""
    first = np.full(size, len(indices))
    first[indices[::-1]] = np.arange(len(indices))[::-1]  # the last assignment to a place counts
    order: list[int] = np.argsort(first)[: int((first < len(indices)).sum())].tolist()
    return order


def first_rows(codes: Int32s) -> Ints:
    """The first row with each code, for codes in order of appearance."""
    return np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))


def codes_of_numbers(values: Ints) -> tuple[list[int], Int32s]:
    """The distinct numbers in order of appearance, and which of them each row has: shape ``[rows]``."""
    encoded = pc.dictionary_encode(pa.array(values))
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
