"""Columns of text as whole numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.statistics.cells import codes_of, first_rows

PLAIN = pa.chunked_array([["b", "a"], ["b", "c"]], pa.string())
DICTIONARIES = pa.chunked_array(
    [
        pa.DictionaryArray.from_arrays(pa.array([2, 1], pa.int32()), ["unused", "a", "b"]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), ["b", "c"]),
    ]
)


TWICE = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array([1, 0, 2, 3], pa.int32()), ["a", "b", "b", "c"])])


@pytest.mark.parametrize("column", [PLAIN, DICTIONARIES, TWICE], ids=["plain", "dictionaries", "a text twice"])
def test_codes_are_numbered_by_first_use(column: pa.ChunkedArray) -> None:
    texts, codes = codes_of(column)
    assert (texts, codes.tolist()) == (["b", "a", "c"], [0, 1, 0, 2])


def test_first_rows_of_codes() -> None:
    assert first_rows(np.array([0, 0, 1, 0, 2, 1], np.int32)).tolist() == [0, 2, 4]
