"""Figures: when a value exceeds its floor."""

from __future__ import annotations

import pytest

from holisticbias_eval.figures import Figure, Interval


@pytest.mark.parametrize(
    ("value", "p_value", "above"),
    [
        pytest.param(0.31, None, True, id="above by more than the width"),
        pytest.param(0.29, None, False, id="within the width above"),
        pytest.param(0.29, 0.049, True, id="tested, p below 0.05"),
        pytest.param(0.31, 0.05, False, id="tested, p not below 0.05"),
        pytest.param(None, 0.01, None, id="no value"),
    ],
)
def test_a_value_exceeds_its_floor(value: float | None, p_value: float | None, above: bool | None) -> None:
    floor = Interval(low=0.0, high=0.15)
    figure = Figure(measure="m", name="f", value=value, unit="share", floor_interval=floor, p_value=p_value, n=9)
    assert figure.above_floor is above


def test_without_a_floor_nothing_is_above() -> None:
    assert Figure(measure="m", name="f", value=0.9, unit="share", p_value=0.01, n=9).above_floor is None
