from __future__ import annotations

import csv
import io

import pytest

from holisticbias_eval.figures import Interval
from holisticbias_eval.measures.trust.records import ShareTrust
from holisticbias_eval.report.charts import MARGIN, SPAN, bias_chart
from holisticbias_eval.report.contents import report_tables
from holisticbias_eval.report.files import render_csv, render_svg
from holisticbias_eval.report.numbers import show, title
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.summary import summarise
from holisticbias_eval.results.run import Run

ADDED = ("effects", "tests", "explanations", "robustness")


def by_axis(run: Run) -> tuple[ShareTrust, ...]:
    assert run.result.trust
    return run.result.trust.by_axis


def low(interval: Interval | None) -> str:
    return "" if interval is None else repr(interval.low)


def text(value: float | None) -> str:
    return "" if value is None else repr(value)


def test_a_run_without_figures_of_trust_has_no_room_for_them(floorless_run: Run, trusted_run: Run) -> None:
    plain, trusted = report_tables(summarise(floorless_run)), report_tables(summarise(trusted_run))
    assert set(trusted) - set(plain) == set(ADDED)
    assert "interval" not in {column.key for column in plain["by-axis"].columns}
    assert 'id="trust"' not in render_page(summarise(floorless_run))
    assert 'id="trust"' in render_page(summarise(trusted_run))


def test_files_hold_the_figures_of_the_result(trusted_run: Run) -> None:
    tables = {
        name: list(csv.DictReader(io.StringIO(render_csv(table))))
        for name, table in report_tables(summarise(trusted_run)).items()
    }
    ranks = {r.axis: r for r in trusted_run.result.trust.axis_ranks} if trusted_run.result.trust else {}
    for i, axis in enumerate(summarise(trusted_run).axes):
        found = axis.trust
        assert found
        headline, effects, tests, explanations, robust = (tables[name][i] for name in ("by-axis", *ADDED))
        assert {row["axis"] for row in (headline, effects, tests, explanations, robust)} == {title(found.axis or "")}
        assert (headline["interval_low"], headline["floor"]) == (low(found.interval), text(found.floor))
        assert tests["holm"] == text(found.corrected.holm)
        assert tests["wilcoxon"] == text(found.paired.wilcoxon)
        assert effects["rank_biserial"] == text(found.effects.rank_biserial)
        assert (effects["large"], effects["paired_large"]) == (text(found.effects.large), text(found.paired.large))
        assert explanations["equal_tokens"] == text(found.confounds.equal_tokens)
        assert explanations["without_phrase"] == ""
        assert explanations["minus_nonce_interval_low"] == low(found.confounds.minus_nonce_interval)
        assert found.robustness
        assert robust["leave_one_noun_out_low"] == low(found.robustness.leave_one_noun_out)
        assert robust["rank"] == (str(ranks[axis.axis].rank) if axis.above else "")


def test_intervals_and_floors_stand_on_the_bars(trusted_run: Run) -> None:
    """Each axis has a floor of its own; none is drawn in a run without them."""
    chart = bias_chart(summarise(trusted_run))
    bars = {bar.label: bar for bar in chart.bars}
    assert chart.references == ()
    assert len({bar.mark for bar in bars.values()}) == 3
    for found in by_axis(trusted_run):
        bar = bars[title(found.axis or "")]
        if found.interval is None:
            assert (bar.low, bar.high) == (None, None)
        else:
            assert bar.low == pytest.approx(MARGIN + SPAN * found.interval.low)
            assert bar.high == pytest.approx(MARGIN + SPAN * found.interval.high)
        assert bar.mark == (None if found.floor is None else pytest.approx(MARGIN + SPAN * found.floor))


def test_no_chance_is_invented_where_none_was_computed(floorless_run: Run) -> None:
    chart = bias_chart(summarise(floorless_run))
    assert {(bar.mark, bar.low, bar.beside, bar.side) for bar in chart.bars} == {(None, None, "", "")}
    assert (chart.references, chart.scale) == ((), "share of pairs that differ")
    assert 'class="reference"' not in render_svg(chart)


def test_missing_figures_are_said_to_be_missing(trusted_run: Run) -> None:
    tables = report_tables(summarise(trusted_run))
    nonce = next(row for row in tables["by-axis"].rows if row[0] == "Nonce")
    shown = [show(cell, column.kind) for cell, column in zip(nonce, tables["by-axis"].columns, strict=True)]
    assert shown[:4] == ["Nonce", "none to test", "not defined", "none to test"]
