"""Tests between all pairs of rows without each column."""

from __future__ import annotations

import numpy as np
import pytest

from holisticbias_eval.arrays import Floats
from holisticbias_eval.statistics import resampling
from holisticbias_eval.statistics.mannwhitney import pairs_of_rows
from holisticbias_eval.statistics.resampling import function_without_each_column

nan = np.nan


def drawn(rows: int, columns: int, missing: float = 0.0, decimals: int = 12) -> Floats:
    """Normal values, some of them missing; few decimals give ties."""
    rng = np.random.default_rng(rows * columns)
    values = np.round(rng.normal(size=(rows, columns)) + np.arange(rows)[:, None] / 3, decimals)
    values[rng.random(values.shape) < missing] = nan
    return values


CASES = {
    "two values each": np.array([[1.0, 4.0], [2.0, 3.0]]),
    "a column of one row": np.array([[1.0, 4.0, 5.0], [2.0, 3.0, nan], [0.5, 7.0, nan]]),
    "an empty row": np.array([[1.0, 4.0, 5.0], [nan, nan, nan], [0.5, 7.0, 6.0]]),
    "one row": np.array([[1.0, 2.0]]),
    "large samples": drawn(12, 30),
    "missing values": drawn(12, 30, 0.2),
    "many sizes": drawn(40, 40, 0.5),
    "ties": drawn(12, 30, 0.1, 1),
    "ties in small samples": drawn(12, 6, 0, 1),
    "ties in samples of nine": drawn(12, 9, 0, 1),
    "ties, and some samples are small": drawn(12, 12, 0.4, 1),
    "ties of infinite values": np.array([[1.0, np.inf, 3.0], [np.inf, 2.0, 5.0], [0.5, 7.0, -np.inf]]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("most", [0, resampling._MOST_COUNTS])
def test_values_are_those_of_the_other_columns(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_MOST_COUNTS", most)
    values = CASES[name]
    found = list(function_without_each_column(values, lambda p: p))
    assert len(found) == values.shape[1]
    for column, p in enumerate(found):
        np.testing.assert_array_equal(p, pairs_of_rows(np.delete(values, column, axis=1)).stacked)


def test_the_tests_of_samples_with_ties_are_not_repeated_for_each_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "function_of_p", None)
    for name in ("ties", "ties, and some samples are small"):
        assert len(list(function_without_each_column(CASES[name], lambda p: p))) == CASES[name].shape[1]
