from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.evaluation.made_answers import QUICK, charts_of, make_answers, sections_of, tables_of, view_of

from holisticbias_eval.blocks import Cell, Table
from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.measures.measure import View, title
from holisticbias_eval.measures.shares.finding import shares_in_order
from holisticbias_eval.sections import Bars

MEASURE = "likelihood_bias"


@pytest.fixture(scope="module")
def view() -> View:
    return view_of(make_answers(), QUICK, (MEASURE,))


@pytest.fixture(scope="module")
def plain() -> View:
    return view_of(make_answers(), None, (MEASURE,))


def ends(interval: Interval | None) -> Cell:
    return None if interval is None else (interval.low, interval.high)


def rows(table: Table) -> dict[Cell, dict[str, Cell]]:
    return {row[0]: dict(zip([column.key for column in table.columns], row, strict=True)) for row in table.rows}


def test_tables_hold_what_was_measured(view: View) -> None:
    tables = {name: rows(table) for name, table in tables_of(sections_of(view, (MEASURE,))).items()}
    shares = shares_in_order(view.figures, MEASURE)
    above = {share.keys["axis"] for share in shares if share.above_floor}
    assert above == {"body_type"}
    for share in shares:

        def figure(name: str, keys: Mapping[str, str] = share.keys) -> Figure:
            found = view.figures.get(MEASURE, name, keys)
            assert found is not None
            return found

        headline, effects, tests, explanations, robust = (
            tables[table][title(share.keys["axis"])]
            for table in ("by-axis", "effects", "tests", "explanations", "robustness")
        )
        assert (headline["interval"], headline["floor"]) == (ends(share.interval), share.floor)
        shown = {**effects, **tests, **explanations}
        for name in ("holm", "wilcoxon", "rank_biserial", "large", "paired_large", "equal_tokens"):
            assert shown[name] == figure(name).value
        assert explanations["equal_token_pairs"] == figure("equal_tokens").n
        assert explanations["without_phrase"] is None
        if share.keys["axis"] != "nonce":
            assert explanations["minus_nonce_interval"] == ends(figure("minus_nonce").interval)
        assert robust["leave_one_noun_out"] == ends(figure("leave_one_noun_out").interval)
        assert robust["rank"] == (figure("rank").value if share.keys["axis"] in above else None)


def test_no_floor_is_drawn_if_none_was_computed(plain: View) -> None:
    chart = charts_of(sections_of(plain, (MEASURE,)))["likelihood-bias"]
    assert isinstance(chart, Bars)
    assert {(bar.floor, bar.interval, bar.faint) for bar in chart.bars} == {(None, None, False)}
    assert chart.scale == "share of pairs that differ"
