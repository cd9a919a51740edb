"""The digest of a table depends on its rows, not on their storage."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from holisticbias.compile.digest import release_digest, table_digest

TYPES = {
    "text": (pa.string(), st.text(max_size=5)),
    "large": (pa.large_string(), st.text(max_size=5)),
    "view": (pa.string_view(), st.text(max_size=20)),
    "flag": (pa.bool_(), st.booleans()),
    "whole": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "list": (pa.list_(pa.string()), st.lists(st.none() | st.text(max_size=3), max_size=3)),
    "record": (
        pa.struct([("a", pa.string()), ("b", pa.bool_())]),
        st.fixed_dictionaries({"a": st.none() | st.text(max_size=3), "b": st.none() | st.booleans()}),
    ),
}


def slow_digest(table: pa.Table) -> str:
    """The definition in ``table_digest``, computed value by value."""
    lines = ""
    for name in table.column_names:
        lengths, values = b"", b""
        for value in table[name].to_pylist():
            text = written(value)
            lengths += (-1 if text is None else len(text)).to_bytes(4, "little", signed=True)
            values += text or b""
        lines += f"{name} {hashlib.sha256(lengths + values).hexdigest()}\n"
    return hashlib.sha256(lines.encode()).hexdigest()


def written(value: Any) -> bytes | None:
    if value is None or isinstance(value, str):
        return None if value is None else value.encode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Up to four columns of any type: chunked, sliced, some dictionary-encoded."""
    rows = draw(st.integers(0, 12))
    columns = {}
    for n in range(draw(st.integers(1, 4))):
        kind, values = TYPES[draw(st.sampled_from(sorted(TYPES)))]
        before, after = draw(st.integers(0, 9)), draw(st.integers(0, 3))
        size = before + rows + after
        array = pa.array(draw(st.lists(st.none() | values, min_size=size, max_size=size)), kind)
        if kind in (pa.string(), pa.large_string()) and draw(st.booleans()):
            array = array.dictionary_encode()
        array = array.slice(before, rows)
        cut = draw(st.integers(0, rows))
        columns[f"c{n}"] = pa.chunked_array([array.slice(0, cut), array.slice(cut)], array.type)
    return pa.table(columns)


@settings(deadline=None)
@given(tables())
def test_fast_digest_is_the_slow_one(table: pa.Table) -> None:
    assert table_digest(table) == slow_digest(table)


def test_digest_by_hand() -> None:
    table = pa.table({"a": ["é", None, ""], "b": [True, False, None]})
    a = hashlib.sha256(bytes([2, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0]) + b"\xc3\xa9").hexdigest()
    b = hashlib.sha256(bytes([4, 0, 0, 0, 5, 0, 0, 0, 255, 255, 255, 255]) + b"truefalse").hexdigest()
    assert table_digest(table) == hashlib.sha256(f"a {a}\nb {b}\n".encode()).hexdigest()
    assert release_digest({"y": "1", "x": "2"}) == hashlib.sha256(b"x 2\ny 1\n").hexdigest()
