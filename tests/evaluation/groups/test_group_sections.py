"""Sections of texts by group: changes by hand, and that hostile text stays text."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.evaluation.simulated_groups import ZEAL, Zeal, domains, sections_of, texts_table, view_of

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.report.drawings.shapes import FOOT_LENGTH, Text, linear
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Chapter, Report
from known import known

Rows = list[dict[str, object]]


def test_parts_of_a_foot_stay_together() -> None:
    text = "line: 95% interval  ·  vertical line: all groups  ·  mark: reference text  ·  filled: differs from it"
    scale = linear((0.0, 1.0), "share")
    lines = [s.text for s in scale.drawing("", (), (), 0, text).shapes if isinstance(s, Text)][-2:]
    assert lines == [
        "line: 95% interval  ·  vertical line: all groups",
        "mark: reference text  ·  filled: differs from it",
    ]
    drawn = scale.drawing("", (), (), 0, "word " * FOOT_LENGTH).shapes
    assert all(len(s.text) <= FOOT_LENGTH for s in drawn if isinstance(s, Text))


HOSTILE = "<script>alert(1)</script> \u202e [red]x[/red] " + "x" * 3000


def test_examples_are_cut_and_escaped() -> None:
    rows: Rows = [
        {"group": HOSTILE if i % 2 else "ada", "value": float(i % 3 - 1), "class": ("dull", "neither", "keen")[i % 3],
         "text": HOSTILE + str(i)} for i in range(30)
    ]  # fmt: skip
    found = sections_of(texts_table(rows))
    details = found["zeal-groups-tables"].tables[0].details
    assert details
    assert all(isinstance(line, str) and len(line) < 300 for lines in details for line in lines)
    names = [block.name for section in found.values() for block in (*section.tables, *section.charts)]
    assert len(names) == len(set(names)), "every part of a report has its own name"
    page = render_page(Report("x", (Chapter(Zeal.info, tuple(found.values())),)))
    assert "<script>alert" not in page
    assert "\u202e" not in page


def compared(first: pa.Table, second: pa.Table) -> Figures:
    return Figures(Zeal().compare(view_of(first), view_of(second)))


def test_two_runs_are_compared_by_group() -> None:
    change = known(compared(domains(0.0), domains(0.4)).get(ZEAL, "change", {"domain": "big_toe", "group": "g0",
                                                                             "class": "keen"}))  # fmt: skip
    assert change.of == "share"
    assert known(change.interval).low < 0.4 < known(change.interval).high
    table = domains(0.3, human=1)
    found = compared(table, table).by(ZEAL, "change", "domain", "group", "class")
    assert {f.value for f in found if f.value is not None} == {0.0}
    keen = [f.interval for f in found if f.keys["class"] == "keen"]
    assert all(interval and (interval.low, interval.high) == (0, 0) for interval in keen), "items are paired"


def test_texts_that_are_all_alike_do_not_make_a_change_certain() -> None:
    """0 of 10 in both runs: Newcombe's interval ends at Wilson's upper end for 0 of 10, 0.2775."""
    rows: Rows = [{"group": "ada", "value": -1.0, "class": "dull", "item": f"i{i}"} for i in range(10)]
    change = known(compared(texts_table(rows), texts_table(rows)).get(ZEAL, "change", {"group": "ada",
                                                                                      "class": "keen"}))  # fmt: skip
    interval = known(change.interval)
    assert (interval.low, interval.high) == pytest.approx((-0.27754, 0.27754), abs=1e-5)
    assert change.p_value is None


def test_groups_of_one_run_are_left_out() -> None:
    one: Rows = [{"group": g, "value": 1.0, "class": "keen"} for g in ("ada", "bob")]
    changes = compared(texts_table(one), texts_table(one[1:]))
    assert {f.keys["group"] for f in changes.by(ZEAL, "change", "group", "class")} == {"bob"}
    with pytest.raises(SelectionError, match="no group in common"):
        compared(texts_table(one[:1]), texts_table(one[1:]))
