"""Cells that a spreadsheet program would run as a formula."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias.spreadsheet import cell_text, safe_cell, safe_columns

CELLS = st.text(st.sampled_from("=+-@'\uff1d\uff20 \t\r\n\x0b\x1c\x85\u00a0\u2003\u3000ab1.\u202e"), max_size=4)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("+1", "'+1"),
        ("-ish", "'-ish"),
        ("@SUM(A1)", "'@SUM(A1)"),
        (" =1", "' =1"),
        ("\t=1", "'\t=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a=1", "a=1"),
        ("", ""),
    ],
)
def test_safe_cell(text: str, cell: str) -> None:
    assert safe_cell(text) == cell
    assert cell_text(cell) == text


@given(st.lists(st.none() | CELLS))
def test_columns_have_the_same_cells(texts: list[str | None]) -> None:
    table = pa.table({"text": pa.array(texts, pa.string()), "n": pa.array(range(len(texts)), pa.int64())})
    expected = [None if text is None else safe_cell(text) for text in texts]
    assert safe_columns(table)["text"].to_pylist() == expected
    assert safe_columns(table)["n"].to_pylist() == list(range(len(texts)))
