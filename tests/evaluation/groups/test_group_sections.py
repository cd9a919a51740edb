"""Sections of texts by group: what they say, what they leave out, and that hostile text stays text."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.simulated_groups import METHOD, ZEAL, World, Zeal, texts_table

from holisticbias_eval.blocks import Paragraph, Table
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.groups.charts import MOST_DOTS, MOST_PAIRS
from holisticbias_eval.measures.groups.readings import Method
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Chapter, Report
from holisticbias_eval.sections import Chart, Forest, HeatMap, Section
from known import known

Rows = list[dict[str, object]]


def view_of(table: pa.Table) -> View:
    return View(Figures(Zeal().figures(table, MeasureSettings()).figures), table)


def sections_of(table: pa.Table) -> dict[str, Section]:
    return {section.name: section for section in Zeal().sections(view_of(table))}


def words_of(section: Section) -> str:
    return " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))


def chart_of(section: Section, name: str) -> Forest:
    found: Mapping[str, Chart] = {chart.name: chart for chart in section.charts}
    chart = found[name]
    assert isinstance(chart, Forest)
    return chart


def made(lift: float, human: int = 0, groups: int = 4) -> pa.Table:
    """A domain in which the first group has a higher share of keen texts by ``lift``, and one without a difference."""
    rng = np.random.default_rng(0)
    parts = []
    for domain, own in (("big_toe", lift), ("little_toe", 0.0)):
        part = World(items=100, lift=own, human=human, groups=groups).draw(rng)
        parts.append(part.append_column("domain", pa.array([domain] * len(part))))
    return pa.concat_tables(parts)


def test_the_first_sentence_says_what_differs_and_what_does_not() -> None:
    found = sections_of(made(0.3))
    first = found["zeal"].blocks[0]
    assert isinstance(first, Paragraph)
    assert first.role == "finding"
    assert first.text.startswith("Texts classed as keen: beyond chance, groups differ in Big toe (")
    assert first.text.endswith("; in 1 more no difference beyond chance is shown.")
    assert "never a verdict on a model" in words_of(found["zeal"])


def test_no_difference_is_said_so() -> None:
    assert "keen: in none of 2 domains do the groups differ beyond chance." in words_of(sections_of(made(0.0))["zeal"])


def test_without_domains() -> None:
    found = sections_of(World(items=100, lift=0.3).draw(np.random.default_rng(0)))
    assert "Texts classed as keen: the groups differ beyond chance, the highest from the lowest by" in words_of(
        found["zeal"]
    )
    assert found["zeal-groups"].title == "Zeal: All groups"


def test_the_pairs_that_hold_are_filled() -> None:
    forest = chart_of(sections_of(made(0.3))["zeal-big-toe"], "zeal-score-keen-big_toe-differences")
    marked = {(e.group, e.label) for e in forest.estimates if e.marked}
    assert marked == {("g0", "minus g1"), ("g0", "minus g2"), ("g0", "minus g3")}
    assert len(forest.estimates) == 6
    groups = [e.group for e in forest.estimates]
    assert groups == sorted(groups, key=groups.index), "the rows of a group stand together"


def test_groups_stand_beside_human_texts() -> None:
    section = sections_of(made(0.4, human=1))["zeal-big-toe"]
    dots = chart_of(section, "zeal-score-keen-big_toe")
    assert dots.estimates[0].label == "g0"
    assert [e.value for e in dots.estimates] == sorted((e.value or 0 for e in dots.estimates), reverse=True)
    assert all(e.beside is not None for e in dots.estimates)
    assert [e.marked for e in dots.estimates] == [True, False, False, False]
    assert "mark: human-written text" in dots.scale
    assert "in the human-written texts, a difference of +" in words_of(section)


def test_without_human_texts_there_is_no_mark() -> None:
    dots = chart_of(sections_of(made(0.3))["zeal-big-toe"], "zeal-score-keen-big_toe")
    assert "mark" not in dots.scale
    assert not any(e.marked or e.beside for e in dots.estimates)


def test_many_groups_are_bounded_and_counted() -> None:
    found = sections_of(World(groups=250, items=5).draw(np.random.default_rng(0)))
    section = found["zeal-groups"]
    assert len(chart_of(section, "zeal-score-keen-groups").estimates) == MOST_DOTS
    details = found["zeal-groups-tables"]
    assert len(chart_of(details, "zeal-score-keen-groups-differences").estimates) == MOST_PAIRS
    assert "40 of 250 groups" in words_of(section)
    assert "of 250 differences between groups and all others hold" in words_of(section)
    table = found["zeal-groups-tables"].tables[0]
    assert len(table.rows) == 200
    assert "200 of 250 groups" in table.note


HOSTILE = "<script>alert(1)</script> \u202e [red]x[/red] " + "x" * 3000


def test_examples_are_cut_and_escaped() -> None:
    rows: Rows = [
        {"group": HOSTILE if i % 2 else "ada", "value": float(i % 3 - 1), "class": ("dull", "neither", "keen")[i % 3],
         "text": HOSTILE + str(i)} for i in range(30)
    ]  # fmt: skip
    table = texts_table(rows)
    found = sections_of(table)
    (first, *_) = found["zeal-groups-tables"].tables
    assert first.details
    assert all(isinstance(line, str) and len(line) < 300 for lines in first.details for line in lines)
    page = render_page(Report("x", (Chapter(Zeal.info, tuple(found.values())),)))
    assert "<script>alert" not in page
    assert "\u202e" not in page


def test_examples_are_typical_and_without_repeats() -> None:
    texts = [("far", 9.0), ("near", 1.0), ("near", 1.0), ("next", 1.1), ("least", 0.1)]
    rows: Rows = [{"group": "ada", "value": v, "class": "keen", "text": text} for text, v in texts]
    rows += [{"group": "ada", "value": 1.0, "class": "keen", "text": "human", "source": "human"}]
    (details,) = sections_of(texts_table(rows))["zeal-groups-tables"].tables[0].details
    assert details == ("keen (1.00): “near”", "keen (1.10): “next”")


def test_undefined_texts_are_shown_by_reason() -> None:
    rows: Rows = [
        {"group": "ada", "why": "a tie"},
        {"group": "ada", "why": "refused"},
        {"group": "bob", "why": "a tie"},
    ]
    rows += [{"group": g, "value": 1.0, "class": "keen"} for g in ("ada", "bob")]
    tables = {t.name: t for t in sections_of(texts_table(rows))["zeal"].tables}
    assert tables["zeal-undefined"].rows == (("Score", "All groups", "a tie", 2), ("Score", "All groups", "refused", 1))


def test_nothing_defined_says_so() -> None:
    rows: Rows = [{"group": g, "why": "no word"} for g in ("ada", "bob")]
    assert "no domain has two groups with a value" in words_of(sections_of(texts_table(rows))["zeal"])


def test_words_are_listed_by_direction() -> None:
    rows: Rows = [{"group": "ada", "value": 1.0, "class": "keen", "text": "glory swoop swoop"}]
    tables = {t.name: t for t in sections_of(texts_table(rows))["zeal-groups"].tables}
    assert tables["zeal-score-groups-words"].rows == (("ada", "glory +1.000", "swoop -0.500"),)


def compared(first: pa.Table, second: pa.Table) -> tuple[Figures, tuple[Section, ...]]:
    one, other = view_of(first), view_of(second)
    changes = Figures(Zeal().compare(one, other))
    return changes, Zeal().compared_sections(changes, other)


def test_two_runs_are_compared_by_group() -> None:
    changes, (section,) = compared(made(0.0), made(0.4))
    keys = {"domain": "big_toe", "group": "g0", "class": "keen"}
    change = changes.get(ZEAL, "change", keys)
    first, second = (changes.value(ZEAL, name, keys) for name in ("first", "second"))
    assert change is not None
    assert change.of == "share"
    assert first is not None
    assert second is not None
    assert change.value == pytest.approx(second - first)
    assert change.interval is not None
    assert change.interval.low < 0.4 < change.interval.high
    assert section.blocks[0] == Paragraph(
        "Texts classed as keen: 1 of 8 groups change from A to B after correction.", "finding"
    )
    forest = chart_of(section, "zeal-score-keen-changes")
    assert [(e.label, e.group) for e in forest.estimates if e.marked] == [("g0", "Big toe")]
    assert isinstance(section.blocks[2], Table)


def test_a_run_beside_itself_does_not_change() -> None:
    table = made(0.3, human=1)
    changes, _ = compared(table, table)
    found = changes.by(ZEAL, "change", "domain", "group", "class")
    assert {f.value for f in found if f.value is not None} == {0.0}
    keen = [f.interval for f in found if f.keys["class"] == "keen"]
    assert all(interval and (interval.low, interval.high) == (0, 0) for interval in keen), "items are paired"


def test_texts_that_are_all_alike_do_not_make_a_change_certain() -> None:
    """0 of 10 in both runs: Newcombe's interval ends at Wilson's upper end for 0 of 10, 0.2775."""
    rows: Rows = [{"group": "ada", "value": -1.0, "class": "dull", "item": f"i{i}"} for i in range(10)]
    changes, _ = compared(texts_table(rows), texts_table(rows))
    change = known(changes.get(ZEAL, "change", {"group": "ada", "class": "keen"}))
    assert change.interval is not None
    assert (change.interval.low, change.interval.high) == pytest.approx((-0.27754, 0.27754), abs=1e-5)
    assert change.p_value is None


def test_groups_of_one_run_are_left_out() -> None:
    one: Rows = [{"group": g, "value": 1.0, "class": "keen"} for g in ("ada", "bob")]
    changes, _ = compared(texts_table(one), texts_table(one[1:]))
    assert {f.keys["group"] for f in changes.by(ZEAL, "change", "group", "class")} == {"bob"}
    with pytest.raises(SelectionError, match="no group in common"):
        Zeal().compare(view_of(texts_table(one[:1])), view_of(texts_table(one[1:])))


def test_other_methods_are_said_in_one_sentence_and_folded() -> None:
    class Two(Zeal):
        methods = (METHOD, Method("other", "Otherness", "score", ("keen",), key="method"))

    table = made(0.3)
    again = {f"{ZEAL}.other{part}": table[f"{ZEAL}.score{part}"] for part in ("", ".class", ".why")}
    for name, column in again.items():
        table = table.append_column(name, column)
    figures = Figures(Two().figures(table, MeasureSettings()).figures)
    found = {section.name: section for section in Two().sections(View(figures, table))}
    assert "Other methods: beyond chance by Otherness (Big toe)." in words_of(found["zeal"])
    assert found["zeal-methods"].detail
    assert "Texts classed as keen (otherness): beyond chance" in words_of(found["zeal-methods"])
    assert [t.name for t in found["zeal-methods"].tables] == ["zeal-other-keen-by-domain"]
    names = [block.name for section in found.values() for block in (*section.tables, *section.charts)]
    assert len(names) == len(set(names)), "every part of a report has its own name"


def test_norms_have_a_map_of_their_means() -> None:
    class Means(Zeal):
        methods = tuple(Method(name, name.capitalize(), "norm", (), key="norm") for name in ("joy", "fear"))

    table = pa.table({"group": ["ada", "bob"], f"{ZEAL}.joy": [0.25, 0.5], f"{ZEAL}.fear": [0.0, None]})
    figures = Figures(Means().figures(table, MeasureSettings()).figures)
    found = {section.name: section for section in Means().sections(View(figures, table))}
    (heat,) = [chart for chart in found["zeal-groups"].charts if isinstance(chart, HeatMap)]
    assert heat.columns == ("Joy", "Fear")
    assert heat.rows == (("ada", (0.25, 0.0)), ("bob", (0.5, None)))
