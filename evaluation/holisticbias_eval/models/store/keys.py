"""Find the distinct rows of an Arrow table by its key columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Ints


def distinct_rows(table: pa.Table, keys: Sequence[str] | None = None) -> tuple[Ints, Ints]:
    """The first row of each distinct key, and for each row the position of its key among the distinct ones.

    Distinct keys are in order of first occurrence. ``keys`` are columns, by default all of them.
    """
    names = list(keys or table.column_names)
    single = table[names[0]].combine_chunks() if len(names) == 1 else None
    encoded = single if single is not None and not single.null_count else _encoded(table, names)
    which = pc.dictionary_encode(encoded).indices.to_numpy().astype(np.int64)
    return np.unique(which, return_index=True)[1], which


def _encoded(table: pa.Table, names: Sequence[str]) -> pa.LargeStringArray:
    """One string per row, equal only for equal keys: the length of a text precedes it; null is empty."""
    parts = []
    for name in names:
        column = table[name].combine_chunks()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            parts.append(pc.binary_length(column).cast(pa.large_string()))
        parts.append(column.cast(pa.large_string()))
    separator = pa.scalar(" ", pa.large_string())
    return pc.binary_join_element_wise(*parts, separator, null_handling="replace", null_replacement="")
