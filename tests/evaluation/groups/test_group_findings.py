"""Findings on texts about groups: people's texts by their name, pairs in one direction, headline figures."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from tests.evaluation.simulated_groups import ZEAL, World, Zeal, texts_table

from holisticbias_eval.blocks import Paragraph
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.prompts.collections import REFERENCE
from holisticbias_eval.report.drawings.shapes import FOOT_LENGTH, Text, linear
from holisticbias_eval.report.report import Chapter, Report
from holisticbias_eval.report.terminal import print_report
from holisticbias_eval.sections import Forest, Section
from known import known

Rows = list[dict[str, object]]


def sections_of(table: pa.Table) -> dict[str, Section]:
    view = View(Figures(Zeal().figures(table, MeasureSettings()).figures), table)
    return {section.name: section for section in Zeal().sections(view)}


def words_of(section: Section) -> str:
    return " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))


def forests(section: Section) -> list[Forest]:
    return [chart for chart in section.charts if isinstance(chart, Forest)]


def two_sides(domains: tuple[str, ...] = ("craft",)) -> pa.Table:
    """In the first domain 30 keen texts of a model beside 30 dull ones of people; in others both are keen."""
    rows: Rows = []
    for place, domain in enumerate(domains):
        for group in ("ada", "bob"):
            for i in range(30):
                own = {"domain": domain, "group": group, "item": f"{domain}{group}{i}"}
                human = "dull" if place == 0 else "keen"
                rows.append({**own, "source": "model", "class": "keen", "value": 1.0})
                rows.append({**own, "source": "human", "class": human, "value": 0.0 if place == 0 else 1.0})
    return texts_table(rows)


def test_the_overview_says_where_a_model_differs_from_people() -> None:
    words = words_of(sections_of(two_sides(("craft", "trade")))["zeal"])
    assert (
        "Texts classed as keen: the model's texts differ from the human-written texts in Craft (+100.0 points); in 1 "
        "more no difference is shown." in words
    )
    assert "Reference texts are" not in words


def test_reference_texts_have_their_name() -> None:
    table = two_sides()
    written = [REFERENCE if source == "human" else None for source in table["source"].to_pylist()]
    found = sections_of(table.append_column("written", pa.array(written, pa.string())))
    words = " ".join(map(words_of, found.values()))
    assert "Texts classed as keen: the model's texts differ from the reference texts by +100.0 points." in words
    assert "Reference texts are continuations that were written for the dataset" in words
    assert "human-written" not in words
    assert forests(found["zeal-craft"])[0].beside == "reference text"
    assert [c.heading for c in found["zeal"].tables[0].columns][3] == "Reference text"


def test_a_pair_is_the_higher_group_minus_the_lower_one() -> None:
    rows: Rows = [
        {"group": group, "class": "keen" if i < keen else "dull", "value": 0.0}
        for group, keen in (("ada", 5), ("bob", 25), ("eve", 5))
        for i in range(30)
    ]
    section = sections_of(texts_table(rows))["zeal-groups"]
    (forest,) = [f for f in forests(section) if f.name == "zeal-score-keen-groups-differences"]
    pairs = {(e.group, e.label): e for e in forest.estimates}
    assert {pair for pair, e in pairs.items() if e.marked} == {("bob", "minus ada"), ("bob", "minus eve")}
    shown = pairs["bob", "minus ada"]
    assert shown.value == pytest.approx(20 / 30)
    assert shown.interval is not None
    assert 0 < shown.interval.low < 20 / 30 < shown.interval.high
    assert "2 of 3 differences between pairs of groups hold" in words_of(section)


def test_pairs_are_details_if_none_holds() -> None:
    found = sections_of(World(items=100).draw(np.random.default_rng(0)))
    name = "zeal-score-keen-groups-differences"
    assert name not in {f.name for f in forests(found["zeal-groups"])}
    assert name in {f.name for f in forests(found["zeal-groups-tables"])}
    assert "none of 15 differences between pairs of groups hold" in words_of(found["zeal-groups"])


def test_the_terminal_has_the_domains_whose_groups_differ() -> None:
    parts = []
    for domain, lift in (("big_toe", 0.4), ("little_toe", 0.0)):
        part = World(items=100, groups=4, lift=lift).draw(np.random.default_rng(0))
        parts.append(part.append_column("domain", pa.array([domain] * len(part))))
    sections = sections_of(pa.concat_tables(parts))
    console = Console(width=100, file=io.StringIO(), record=True)
    print_report(Report("x", (Chapter(Zeal.info, tuple(sections.values())),)), console)
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
    table = texts_table(rows)
    figures = Figures(Zeal().figures(table, MeasureSettings()).figures)
    mean = known(figures.get(ZEAL, "mean", {"domain": "craft"}))
    assert mean.value == pytest.approx(5.5)
    assert mean.interval is None
    change = known(figures.get(ZEAL, "difference_from_human", {"domain": "craft", "class": "keen"}))
    assert change.value == pytest.approx(1 / 6)
    assert change.interval is None
    assert change.p_value is None
    assert "keen: no difference from the human-written texts" in words_of(sections_of(table)["zeal"])


@pytest.mark.parametrize("domain", [None, "craft"])
def test_headline_figures_with_and_without_domains(domain: str | None) -> None:
    rows: Rows = [
        {"domain": domain, "group": group, "class": cls, "value": 0.0}
        for group, cls in (("ada", "keen"), ("ada", "dull"), ("bob", "dull"))
    ]
    figures = Figures(Zeal().figures(texts_table(rows), MeasureSettings()).figures)
    found: tuple[Figure, ...] = Zeal.info.headlines(figures)
    own = {} if domain is None else {"domain": domain}
    assert {f.keys["class"]: f.value for f in found} == {"keen": 0.5, "neither": 0.0, "dull": 0.5}
    assert all(own.items() <= f.keys.items() and f.measure == ZEAL for f in found)


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
