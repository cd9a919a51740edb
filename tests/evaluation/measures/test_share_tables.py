from __future__ import annotations

import pytest
from tests.evaluation.made_answers import charts_of, make_answers, sections_of, view_of

from holisticbias_eval.measures.measure import View
from holisticbias_eval.sections import Bars

MEASURE = "likelihood_bias"


@pytest.fixture(scope="module")
def plain() -> View:
    return view_of(make_answers(), None, (MEASURE,))


def test_no_floor_is_drawn_if_none_was_computed(plain: View) -> None:
    chart = charts_of(sections_of(plain, (MEASURE,)))["likelihood-bias"]
    assert isinstance(chart, Bars)
    assert {(bar.floor, bar.interval, bar.faint) for bar in chart.bars} == {(None, None, False)}
    assert chart.scale == "share of pairs that differ"
