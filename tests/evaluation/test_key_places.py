"""Keys that are found by a hash stand where a dictionary has them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.arrays import Ints
from holisticbias_eval.models.store import key_places
from holisticbias_eval.models.store.key_places import KeyPlaces

SCHEMA = pa.schema([("text", pa.large_string()), ("start", pa.int32()), ("context", pa.large_string())])
KEYS = tuple(SCHEMA.names)
Key: TypeAlias = "tuple[object, ...]"
texts = st.one_of(st.none(), st.text("ab\x00é🙂", max_size=5))
rows = st.lists(st.tuples(texts, st.one_of(st.none(), st.integers(-2, 2)), texts), max_size=40)


class Rows:
    """Keys in a table."""

    def __init__(self, held: pa.Table) -> None:
        self._held = held

    def __len__(self) -> int:
        return len(self._held)

    def take(self, rows: Ints) -> Rows:
        return Rows(self._held.take(pa.array(rows)))

    def table(self) -> pa.Table:
        return self._held


def table(keys: list[Key]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(KEYS, key, strict=True)) for key in keys], SCHEMA)


@given(rows, rows, st.integers(0, 3))
def test_places_are_those_of_a_dictionary(asked: list[Key], sought: list[Key], cut: int) -> None:
    asked = list(dict.fromkeys(asked))[cut:]
    places = {key: place for place, key in enumerate(asked)}
    sliced = table([(None, None, None), *sought, *asked]).slice(1)
    expected = [places.get(key, -1) for key in (*sought, *asked)]
    assert KeyPlaces(Rows(table(asked)), KEYS).find(sliced).tolist() == expected


def test_many_rows_and_long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_places, "_HASHED_AT_ONCE", 7)
    keys: list[Key] = [("word " * i, i, "") for i in range(50)]
    found = KeyPlaces(Rows(table(keys)), KEYS).find(table([*keys[::-1], ("word", 1, "")]))
    assert found.tolist() == [*range(49, -1, -1), -1]


def test_texts_with_the_same_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_places, "_hashes", lambda rows: np.zeros(rows.num_rows, np.uint64))
    asked = table([("a", 0, ""), ("b", 0, "")])
    assert KeyPlaces(Rows(asked), KEYS).find(table([("b", 0, ""), ("a", 0, ""), ("c", 0, "")])).tolist() == [-1, 0, -1]
