"""Columns of text as whole numbers, and tables that share columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from holisticbias_eval.results.run import shared_column
from holisticbias_eval.statistics.coding import codes_of

PLAIN = pa.chunked_array([["b", "a"], ["b", "c"]], pa.string())
DICTIONARIES = pa.chunked_array(
    [
        pa.DictionaryArray.from_arrays(pa.array([2, 1], pa.int32()), ["unused", "a", "b"]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), ["b", "c"]),
    ]
)


@pytest.mark.parametrize("column", [PLAIN, DICTIONARIES], ids=["plain", "dictionaries"])
def test_codes_are_numbered_by_first_use(column: pa.ChunkedArray) -> None:
    texts, codes = codes_of(column)
    assert (texts, codes.tolist()) == (["b", "a", "c"], [0, 1, 0, 2])


@pytest.mark.parametrize(("values", "is_shared"), [(["x", "y"], True), (["x", "z"], False)])
def test_an_equal_column_is_shared(values: list[str], is_shared: bool) -> None:
    like, column = pa.table({"text": ["x", "y"]}), pa.chunked_array([values])
    found = shared_column(column, "text", like)
    assert found.equals(column)
    assert (found.chunk(0).buffers()[2].address == like["text"].chunk(0).buffers()[2].address) == is_shared
