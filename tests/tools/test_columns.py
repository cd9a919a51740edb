"""Columns made from bytes equal the columns of ``pyarrow.array``."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from holisticbias.compile.columns import (
    booleans,
    encode_texts,
    integers,
    lists,
    lists_of_records,
    repeat_boolean,
    repeat_text,
    strings,
    surround,
    table,
    take_texts,
)

TEXT = st.text(max_size=6)


def same(made: pa.Array, expected: pa.Array) -> None:
    made.validate(full=True)
    assert made.equals(expected)
    assert made.null_count == expected.null_count


@given(st.lists(st.none() | TEXT, max_size=40))
def test_strings(values: list[str | None]) -> None:
    same(strings(values), pa.array(values, pa.string()))


@given(st.lists(st.none() | st.booleans(), max_size=40))
def test_booleans(values: list[bool | None]) -> None:
    same(booleans(values), pa.array(values, pa.bool_()))


@given(st.booleans(), st.integers(0, 20))
def test_repeat_boolean(value: bool, size: int) -> None:
    same(repeat_boolean(value, size), pa.array([value] * size, pa.bool_()))


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=40), st.sampled_from([1, 2]))
def test_integers(values: list[int], step: int) -> None:
    given_values = np.array(values, np.int32)[::step]
    same(integers(given_values), pa.array(values[::step], pa.int32()))


@given(st.lists(st.none() | st.sampled_from(["a", "b", "", "é"]) | TEXT, max_size=40))
def test_encode_texts(values: list[str | None]) -> None:
    same(encode_texts(values), pa.array(values, pa.string()).dictionary_encode())


@given(st.lists(st.none() | TEXT, max_size=5), st.data())
def test_take_texts(texts: list[str | None], data: st.DataObject) -> None:
    indices = data.draw(st.lists(st.integers(-1, len(texts) - 1), max_size=20))
    made = take_texts(texts, np.array(indices, np.int32))
    made.validate(full=True)
    assert made.to_pylist() == [None if i < 0 else texts[i] for i in indices]
    assert made.dictionary.to_pylist() == list(dict.fromkeys(t for t in texts if t is not None))


@given(st.lists(TEXT, min_size=1, max_size=5, unique=True), st.integers(0, 20), st.data())
def test_repeat_text(texts: list[str], size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(texts) - 1))
    made = repeat_text(texts, index, size)
    made.validate(full=True)
    assert made.to_pylist() == [texts[index]] * size
    assert made.dictionary.to_pylist() == texts


@given(TEXT, st.lists(st.none() | TEXT, max_size=20), TEXT)
def test_surround(before: str, texts: list[str | None], after: str) -> None:
    expected = [None if text is None else f"{before}{text}{after}" for text in texts]
    same(surround(before, strings(texts), after), pa.array(expected, pa.string()))


@given(st.lists(st.lists(TEXT, max_size=4), max_size=10))
def test_lists(values: list[list[str]]) -> None:
    made = lists(values)
    made.validate(full=True)
    assert made.to_pylist() == values
    assert made.type == pa.list_(pa.string())


RECORD = st.fixed_dictionaries({"a": st.none() | TEXT, "b": TEXT})


@given(st.lists(st.lists(RECORD, max_size=3), max_size=8))
def test_lists_of_records(values: list[list[dict[str, str | None]]]) -> None:
    made = lists_of_records([[SimpleNamespace(**record) for record in records] for records in values], ["a", "b"])
    made.validate(full=True)
    assert made.to_pylist() == values
    assert made.type == pa.list_(pa.struct([("a", pa.string()), ("b", pa.string())]))


def test_table() -> None:
    made = table({"a": strings(["x", None]), "b": booleans([True, False])})
    assert made.to_pydict() == {"a": ["x", None], "b": [True, False]}
