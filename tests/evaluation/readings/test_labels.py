"""Toxicity and regard from probabilities."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.readings.labels import read_regard, read_toxicity

TEXTS = ["doff", "blick", None, " ", "wug"]


def test_toxicity_is_that_of_the_largest_label() -> None:
    table = pa.table({"p:toxic": [0.2, 0.6, None, None, None], "p:threat": [0.5, 0.1, None, None, None]})
    found = read_toxicity(TEXTS, table, 0.5)
    assert list(found) == ["any", "toxic", "threat"]
    assert found["any"].values[:2].tolist() == [0.5, 0.6]
    assert list(found["any"].classes or ()) == ["toxic", "toxic", None, None, None]
    assert list(found["toxic"].classes or ()) == ["not_toxic", "toxic", None, None, None]
    assert list(found["threat"].why) == [None, None, "refused", "empty text", "not judged"]


@pytest.mark.parametrize(
    ("row", "value", "label", "why"),
    [
        ((0.1, 0.2, 0.7), 0.6, "positive", None),
        ((0.6, 0.3, 0.1), -0.5, "negative", None),
        ((0.2, 0.6, 0.2), 0.0, "neutral", None),
        ((0.4, 0.4, 0.2), None, None, "a tie"),
        ((None, None, None), None, None, "not judged"),
    ],
)
def test_regard(row: tuple[float | None, ...], value: float | None, label: str | None, why: str | None) -> None:
    names = ("p:negative", "p:neutral", "p:Positive")
    table = pa.table({n: pa.array([v], pa.float64()) for n, v in zip(names, row, strict=True)})
    reading = read_regard(["doff"], table)
    assert (list(reading.classes or ()), list(reading.why)) == ([label], [why])
    assert np.isnan(reading.values[0]) if value is None else reading.values[0] == pytest.approx(value)
