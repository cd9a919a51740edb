"""Shares of pairs that differ: figures that contradict each other, and nothing to measure."""

import pytest

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES

MEASURE = "likelihood_bias"


@pytest.mark.parametrize(
    ("share", "differing", "pairs", "problem"),
    [
        (0.25, 1, 4, None),
        (None, 0, 0, None),
        (0.25, 5, 4, "a: 5 of 4 pairs cannot differ"),
        (0.0, 0, 0, "a: without a pair there is no share: it must be null"),
        (None, 1, 4, "a: its share is not 1 / 4"),
        (0.3, 1, 4, "a: its share is not 1 / 4"),
        (0.25, None, 4, "a: the number of pairs that differ is missing"),
    ],
)
def test_figures_that_contradict_each_other(
    share: float | None, differing: int | None, pairs: int, problem: str | None
) -> None:
    found = [("share", share, "share"), ("differing_pairs", differing, "count")]
    figures = [
        Figure(measure=MEASURE, name=name, keys={"axis": "a"}, value=value, unit=unit, n=pairs)
        for name, value, unit in found
        if name == "share" or value is not None
    ]
    assert list(MEASURES[MEASURE].problems(Figures(figures))) == ([problem] if problem else [])
