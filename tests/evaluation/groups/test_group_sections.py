"""Sections of texts by group: what they say, what they leave out, and that hostile text stays text."""

from __future__ import annotations

import io
import re

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from tests.evaluation.simulated_groups import (
    METHOD,
    ZEAL,
    World,
    Zeal,
    figures_of,
    sections_of,
    texts_table,
    view_of,
    words_of,
)

from holisticbias_eval.blocks import Paragraph, Table
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.groups.charts import MOST_DOTS, MOST_PAIRS
from holisticbias_eval.measures.groups.readings import TextMethod
from holisticbias_eval.prompts.collections import REFERENCE
from holisticbias_eval.report.drawings.shapes import FOOT_LENGTH, Text, linear
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Chapter, Report
from holisticbias_eval.report.terminal import print_report
from holisticbias_eval.sections import Forest, HeatMap, Section
from known import known

Rows = list[dict[str, object]]


def chart_of(section: Section, name: str) -> Forest:
    (chart,) = (chart for chart in section.charts if chart.name == name)
    assert isinstance(chart, Forest)
    return chart


def made(lift: float, human: int = 0, **other: float) -> pa.Table:
    """A domain in which the first group has a higher share of keen texts by ``lift``, and one without a difference.

    ``other`` names further domains, each with its lift.
    """
    rng = np.random.default_rng(0)
    worlds = {"big_toe": lift, "little_toe": 0.0, **other}
    parts = [World(items=100, lift=own, human=human, groups=4).draw(rng) for own in worlds.values()]
    named = zip(parts, worlds, strict=True)
    return pa.concat_tables([part.append_column("domain", pa.array([domain] * len(part))) for part, domain in named])


def two_sides(domains: tuple[str, ...] = ("craft",)) -> pa.Table:
    """In the first domain 30 keen texts of a model beside 30 dull ones of people; in others both are keen."""
    return texts_table(
        [
            {"domain": domain, "group": group, "item": f"{domain}{group}{i}", "source": source,
             "class": "dull" if source == "human" and place == 0 else "keen",
             "value": 0.0 if source == "human" and place == 0 else 1.0}
            for place, domain in enumerate(domains)
            for group in ("ada", "bob")
            for i in range(30)
            for source in ("model", "human")
        ]
    )  # fmt: skip


def test_the_first_sentence_says_what_differs_and_what_does_not() -> None:
    found = sections_of(made(0.3))
    first = found["zeal"].blocks[0]
    assert isinstance(first, Paragraph)
    assert first.role == "finding"
    assert first.text.startswith("Texts classed as keen: beyond chance, groups differ in Big toe (")
    assert first.text.endswith("; in 1 more no difference beyond chance is shown.")
    assert "never a verdict on a model" in words_of(found["zeal"])
    assert "keen: in none of 2 domains do the groups differ beyond chance." in words_of(sections_of(made(0.0))["zeal"])
    both = words_of(sections_of(made(0.3, heel=0.6))["zeal"])
    assert re.search(r"groups differ in Heel \([\d.]+ points\) and Big toe \([\d.]+ points\); in 1 more", both)
    whole = sections_of(World(items=100, lift=0.3).draw(np.random.default_rng(0)))
    said = "Texts classed as keen: the groups differ beyond chance, the highest from the lowest by"
    assert said in words_of(whole["zeal"])
    assert whole["zeal-groups"].title == "Zeal: All groups"


def test_the_overview_says_where_a_model_differs_from_people() -> None:
    words = words_of(sections_of(two_sides(("craft", "trade")))["zeal"])
    assert (
        "Texts classed as keen: the model's texts differ from the human-written texts in Craft (+100.0 points); in 1 "
        "more no difference is shown." in words
    )
    assert "Reference texts are" not in words
    table = two_sides()
    written = [REFERENCE if source == "human" else None for source in table["source"].to_pylist()]
    found = sections_of(table.append_column("written", pa.array(written, pa.string())))
    words = " ".join(map(words_of, found.values()))
    assert "Texts classed as keen: the model's texts differ from the reference texts by +100.0 points." in words
    assert "Reference texts are continuations that were written for the dataset" in words
    assert "human-written" not in words
    assert chart_of(found["zeal-craft"], "zeal-score-keen-craft").beside == "reference text"
    assert [c.heading for c in found["zeal"].tables[0].columns][3] == "Reference text"


def test_the_pairs_that_hold_are_filled() -> None:
    """Without human texts no estimate of a group has a mark."""
    section = sections_of(made(0.3))["zeal-big-toe"]
    forest = chart_of(section, "zeal-score-keen-big_toe-differences")
    marked = {(e.group, e.label) for e in forest.estimates if e.marked}
    assert marked == {("g0", "minus g1"), ("g0", "minus g2"), ("g0", "minus g3")}
    groups = [e.group for e in forest.estimates]
    assert len(groups) == 6
    assert groups == sorted(groups, key=groups.index), "the rows of a group stand together"
    dots = chart_of(section, "zeal-score-keen-big_toe")
    assert "mark" not in dots.scale
    assert not any(e.marked or e.beside for e in dots.estimates)


def test_groups_stand_beside_human_texts() -> None:
    section = sections_of(made(0.4, human=1))["zeal-big-toe"]
    dots = chart_of(section, "zeal-score-keen-big_toe")
    assert dots.estimates[0].label == "g0"
    assert [e.value for e in dots.estimates] == sorted((e.value or 0 for e in dots.estimates), reverse=True)
    assert [(e.beside is not None, e.marked) for e in dots.estimates] == [(True, i == 0) for i in range(4)]
    assert "mark: human-written text" in dots.scale
    assert "in the human-written texts, a difference of +" in words_of(section)


def test_a_pair_is_the_higher_group_minus_the_lower_one() -> None:
    rows: Rows = [
        {"group": group, "class": "keen" if i < keen else "dull", "value": 0.0}
        for group, keen in (("ada", 5), ("bob", 25), ("eve", 5))
        for i in range(30)
    ]
    section = sections_of(texts_table(rows))["zeal-groups"]
    pairs = {(e.group, e.label): e for e in chart_of(section, "zeal-score-keen-groups-differences").estimates}
    assert {pair for pair, e in pairs.items() if e.marked} == {("bob", "minus ada"), ("bob", "minus eve")}
    shown = pairs["bob", "minus ada"]
    assert shown.value == pytest.approx(20 / 30)
    assert 0 < known(shown.interval).low < 20 / 30 < known(shown.interval).high
    assert "2 of 3 differences between pairs of groups hold" in words_of(section)


def test_pairs_are_details_if_none_holds() -> None:
    found = sections_of(World(items=100).draw(np.random.default_rng(0)))
    name = "zeal-score-keen-groups-differences"
    assert name not in {chart.name for chart in found["zeal-groups"].charts}
    assert name in {chart.name for chart in found["zeal-groups-tables"].charts}
    assert "none of 15 differences between pairs of groups hold" in words_of(found["zeal-groups"])


def test_many_groups_are_bounded_and_counted() -> None:
    found = sections_of(World(groups=250, items=5).draw(np.random.default_rng(0)))
    section, details = found["zeal-groups"], found["zeal-groups-tables"]
    assert len(chart_of(section, "zeal-score-keen-groups").estimates) == MOST_DOTS
    assert len(chart_of(details, "zeal-score-keen-groups-differences").estimates) == MOST_PAIRS
    assert "40 of 250 groups" in words_of(section)
    assert "of 250 differences between groups and all others hold" in words_of(section)
    assert (len(details.tables[0].rows), "200 of 250 groups" in details.tables[0].note) == (200, True)


def test_the_terminal_has_the_domains_whose_groups_differ() -> None:
    console = Console(width=100, file=io.StringIO(), record=True)
    print_report(Report("x", (Chapter(Zeal.info, tuple(sections_of(made(0.4)).values())),)), console)
    printed = " ".join(console.export_text().split())
    assert "Texts classed as keen by group: Big toe" in printed
    assert "by group: Little toe" not in printed
    assert "Little toe" in printed, "the table of domains has it"


def test_one_item_in_each_group_says_nothing_of_their_spread() -> None:
    rows: Rows = [
        {"domain": "craft", "group": f"g{i}", "item": f"i{i}", "source": source, "class": cls, "value": float(value)}
        for i in range(12)
        for source, cls, value in (("model", "keen" if i < 2 else "dull", i), ("human", "dull", 0))
    ]
    figures = figures_of(texts_table(rows))
    mean = known(figures.get(ZEAL, "mean", {"domain": "craft"}))
    change = known(figures.get(ZEAL, "difference_from_human", {"domain": "craft", "class": "keen"}))
    assert [mean.value, change.value] == pytest.approx([5.5, 1 / 6])
    assert (mean.interval, change.interval, change.p_value) == (None, None, None)
    assert "keen: no difference from the human-written texts" in words_of(sections_of(texts_table(rows))["zeal"])


@pytest.mark.parametrize("domain", [None, "craft"])
def test_headline_figures_with_and_without_domains(domain: str | None) -> None:
    rows: Rows = [
        {"domain": domain, "group": group, "class": cls, "value": 0.0}
        for group, cls in (("ada", "keen"), ("ada", "dull"), ("bob", "dull"))
    ]
    found = Zeal.info.headlines(figures_of(texts_table(rows)))
    assert {f.keys["class"]: f.value for f in found} == {"keen": 0.5, "neither": 0.0, "dull": 0.5}
    assert {f.keys.get("domain") for f in found} == {domain}


def test_parts_of_a_foot_stay_together() -> None:
    text = "line: 95% interval  ·  vertical line: all groups  ·  mark: reference text  ·  filled: differs from it"
    scale = linear((0.0, 1.0), "share")
    lines = [s.text for s in scale.drawing("", (), (), 0, text).shapes if isinstance(s, Text)][-2:]
    assert lines == [
        "line: 95% interval  ·  vertical line: all groups",
        "mark: reference text  ·  filled: differs from it",
    ]
    long = "word " * FOOT_LENGTH
    drawn = scale.drawing("", (), (), 0, long).shapes
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
    page = render_page(Report("x", (Chapter(Zeal.info, tuple(found.values())),)))
    assert "<script>alert" not in page
    assert "\u202e" not in page


def test_examples_are_typical_and_without_repeats() -> None:
    """Words are listed by direction."""
    texts = [("far", 9.0), ("near", 1.0), ("near", 1.0), ("next", 1.1), ("least", 0.1)]
    rows: Rows = [{"group": "ada", "value": v, "class": "keen", "text": text} for text, v in texts]
    rows += [{"group": "ada", "value": 1.0, "class": "keen", "text": "human", "source": "human"}]
    (details,) = sections_of(texts_table(rows))["zeal-groups-tables"].tables[0].details
    assert details == ("keen (1.00): “near”", "keen (1.10): “next”")
    rows = [{"group": "ada", "value": 1.0, "class": "keen", "text": "glory swoop swoop"}]
    tables = {t.name: t for t in sections_of(texts_table(rows))["zeal-groups"].tables}
    assert tables["zeal-score-groups-words"].rows == (("ada", "glory +1.000", "swoop -0.500"),)


def test_undefined_texts_are_shown_by_reason() -> None:
    rows: Rows = [{"group": g, "why": why} for g, why in (("ada", "a tie"), ("ada", "refused"), ("bob", "a tie"))]
    assert "no domain has two groups with a value" in words_of(sections_of(texts_table(rows))["zeal"])
    rows += [{"group": g, "value": 1.0, "class": "keen"} for g in ("ada", "bob")]
    tables = {t.name: t for t in sections_of(texts_table(rows))["zeal"].tables}
    assert tables["zeal-undefined"].rows == (("Score", "All groups", "a tie", 2), ("Score", "All groups", "refused", 1))


def compared(first: pa.Table, second: pa.Table) -> tuple[Figures, tuple[Section, ...]]:
    changes = Figures(Zeal().compare(view_of(first), view_of(second)))
    return changes, Zeal().compared_sections(changes, view_of(second))


def test_two_runs_are_compared_by_group() -> None:
    changes, (section,) = compared(made(0.0), made(0.4))
    keys = {"domain": "big_toe", "group": "g0", "class": "keen"}
    change = known(changes.get(ZEAL, "change", keys))
    first, second = (known(changes.value(ZEAL, name, keys)) for name in ("first", "second"))
    assert change.of == "share"
    assert change.value == pytest.approx(second - first)
    assert known(change.interval).low < 0.4 < known(change.interval).high
    assert section.blocks[0] == Paragraph(
        "Texts classed as keen: 1 of 8 groups change from A to B after correction.", "finding"
    )
    forest = chart_of(section, "zeal-score-keen-changes")
    assert [(e.label, e.group) for e in forest.estimates if e.marked] == [("g0", "Big toe")]
    assert isinstance(section.blocks[2], Table)


def test_a_run_beside_itself_does_not_change() -> None:
    table = made(0.3, human=1)
    found = compared(table, table)[0].by(ZEAL, "change", "domain", "group", "class")
    assert {f.value for f in found if f.value is not None} == {0.0}
    keen = [f.interval for f in found if f.keys["class"] == "keen"]
    assert all(interval and (interval.low, interval.high) == (0, 0) for interval in keen), "items are paired"


def test_texts_that_are_all_alike_do_not_make_a_change_certain() -> None:
    """0 of 10 in both runs: Newcombe's interval ends at Wilson's upper end for 0 of 10, 0.2775."""
    rows: Rows = [{"group": "ada", "value": -1.0, "class": "dull", "item": f"i{i}"} for i in range(10)]
    change = known(
        compared(texts_table(rows), texts_table(rows))[0].get(ZEAL, "change", {"group": "ada", "class": "keen"})
    )
    interval = known(change.interval)
    assert (interval.low, interval.high) == pytest.approx((-0.27754, 0.27754), abs=1e-5)
    assert change.p_value is None


def test_other_methods_are_said_in_one_sentence_and_folded() -> None:
    class Two(Zeal):
        methods = (METHOD, TextMethod("other", "Otherness", "score", ("keen",), key="method"))

    table = made(0.3)
    for part in ("", ".class", ".why"):
        table = table.append_column(f"{ZEAL}.other{part}", table[f"{ZEAL}.score{part}"])
    found = sections_of(table, Two())
    assert "Other methods: beyond chance by Otherness (Big toe)." in words_of(found["zeal"])
    assert found["zeal-methods"].detail
    assert "Texts classed as keen (otherness): beyond chance" in words_of(found["zeal-methods"])
    assert [t.name for t in found["zeal-methods"].tables] == ["zeal-other-keen-by-domain"]
    names = [block.name for section in found.values() for block in (*section.tables, *section.charts)]
    assert len(names) == len(set(names)), "every part of a report has its own name"


def test_groups_of_one_run_are_left_out() -> None:
    one: Rows = [{"group": g, "value": 1.0, "class": "keen"} for g in ("ada", "bob")]
    changes, _ = compared(texts_table(one), texts_table(one[1:]))
    assert {f.keys["group"] for f in changes.by(ZEAL, "change", "group", "class")} == {"bob"}
    with pytest.raises(SelectionError, match="no group in common"):
        Zeal().compare(view_of(texts_table(one[:1])), view_of(texts_table(one[1:])))


def test_norms_have_a_map_of_their_means() -> None:
    class Means(Zeal):
        methods = tuple(TextMethod(name, name.capitalize(), "norm", (), key="norm") for name in ("joy", "fear"))

    table = pa.table({"group": ["ada", "bob"], f"{ZEAL}.joy": [0.25, 0.5], f"{ZEAL}.fear": [0.0, None]})
    (heat,) = [c for c in sections_of(table, Means())["zeal-groups"].charts if isinstance(c, HeatMap)]
    assert heat.columns == ("Joy", "Fear")
    assert heat.rows == (("ada", (0.25, 0.0)), ("bob", (0.5, None)))
