"""Shares of pairs that differ: figures that contradict each other, and nothing to measure."""

from types import SimpleNamespace

import numpy as np
import pytest

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.shares.trust import TrustedShare

MEASURE = "likelihood_bias"


def problems(share: float | None, differing: int | None, pairs: int) -> list[str]:
    found = [("share", share, "share"), ("differing_pairs", differing, "count")]
    figures = [
        Figure(measure=MEASURE, name=name, keys={"axis": "a"}, value=value, unit=unit, n=pairs)
        for name, value, unit in found
        if name == "share" or value is not None
    ]
    return [*MEASURES[MEASURE].problems(Figures(figures))]


def test_figures_that_contradict_each_other() -> None:
    assert problems(0.25, 1, 4) == problems(None, 0, 0) == []
    assert problems(0.25, 5, 4) == ["a: 5 of 4 pairs cannot differ"]
    assert problems(0.0, 0, 0) == ["a: without a pair there is no share: it must be null"]
    assert problems(None, 1, 4) == problems(0.3, 1, 4) == ["a: its share is not 1 / 4"]
    assert problems(0.25, None, 4) == ["a: the number of pairs that differ is missing"]


def test_an_interval_holds_its_share_where_nearly_all_draws_are_equal() -> None:
    """99 of 100 draws are equal: the other one moves the mean, to which all are moved."""
    drawn = np.full(100, 6 / 9)
    drawn[0] = 1.0
    drawn += 6 / 9 - drawn.mean()
    cell = SimpleNamespace(counts={"share": np.array([6, 9])})
    found = TrustedShare({}, [cell], drawn).interval  # type: ignore[list-item] # its counts are all that is read
    assert found is not None
    assert found.low == pytest.approx(6 / 9 - 1 / 300)
    assert found.high == 6 / 9
