"""The page in a real browser: no sideways scrolling on a phone, and what its script does."""

from dataclasses import replace
from pathlib import Path

import pytest

from browser import CHROMIUM, browse
from holisticbias_eval.api_results import MitigatedModels
from holisticbias_eval.report.page import render_page
from holisticbias_eval.sections.tables import Column, Table

from .invented import awkward_blocks, every_block, invented_report, table

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

OPEN = 'for (const fold of inner.querySelectorAll("details")) fold.open = true;'
WIDTHS = f"""{OPEN}
  const shown = (query) => [...inner.querySelectorAll(query)].filter((e) => e.getBoundingClientRect().width > 0).length;
  const {{ scrollWidth: width, clientWidth: room }} = inner.documentElement;
  const found = {{ width, room, wide: shown(".wide-only"), narrow: shown(".narrow-only") }};"""
NAMES = f"""{OPEN}
  const names = ["#s-given-1-table", "#s-given-2-table"].map((id) => inner.querySelector(`${{id}} .long-text`));
  const found = {{ names: names.map((name) => name.getBoundingClientRect().width) }};"""
TABLE = f"""{OPEN}
  const form = inner.querySelector(".filter");
  const rows = () => [...inner.querySelectorAll(".sortable tbody tr")].filter((row) => !row.hidden)
    .map((row) => row.querySelector("summary").textContent);
  const choose = (field, value) => {{
    field.value = value;
    form.dispatchEvent(new Event("input"));
    return rows();
  }};
  const found = {{ hidden: form.hidden, all: rows().length }};
  found.searched = choose(form.elements.text, "EXAMPLE OF TERM 31");
  choose(form.elements.text, "");
  const axis = form.querySelector("select");
  found.axes = [...axis.options].map((option) => option.value);
  found.axis = choose(axis, "Age").length;
  found.counted = form.querySelector("output").textContent;
  choose(axis, "");
  const headings = [...inner.querySelectorAll(".sortable thead th")];
  const click = (i) => (headings[i].querySelector("button").click(), rows());
  found.ascending = click(2);
  found.sort = headings[2].getAttribute("aria-sort");
  found.descending = click(2);
  found.byInterval = click(3)[0];
  found.byName = click(0).slice(0, 3);"""
FRAME = """
  const frame = inner.querySelector("iframe");
  const links = [...frame.contentDocument.querySelectorAll("nav a")];
  const found = { title: frame.title, links: links.map((link) => link.href) };"""
FIRST_SCREEN = """
  const ends = (query) => inner.querySelector(query).getBoundingClientRect();
  const boxes = [...inner.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth);
  const found = {
    title: ends("h1").bottom, finding: ends(".finding").bottom, chart: ends(".fluid").top, end: ends(".fluid").bottom,
    wide: ends(".fluid").width, text: ends(".finding").width, scrolling: boxes.length,
    shadows: boxes.filter((box) => page.contentWindow.getComputedStyle(box).backgroundImage !== "none").length,
  };"""


def test_every_block_is_as_narrow_as_a_phone(tmp_path: Path) -> None:
    """A list of long templates to choose from is cut at the edge of the page."""
    long = "As {noun_phrase}, I would like to tell you this and that."
    rows = tuple((row[0], f"{long} {i % 2}", *row[2:]) for i, row in enumerate(table(40).rows))
    blocks = (*every_block(), *awkward_blocks(), replace(table(40), rows=rows))
    report = replace(invented_report(*blocks, rows=40), runs=("one", "other"))
    found = browse(render_page(report), WIDTHS, tmp_path)
    assert found["width"] == found["room"] <= 360
    assert found["wide"] == 0 < found["narrow"]


@pytest.mark.parametrize(("width", "least"), [(1400, 200), (390, 170)])
def test_long_names_have_room_beside_many_columns(tmp_path: Path, width: int, least: int) -> None:
    name = "Mean of pairs of groups, perplexity, paired, with held-out groups"
    columns = (Column("name", "Figure"), *(Column(f"c{i}", f"Value {i}", "share") for i in range(16)))
    wide = Table("wide", "Many columns", columns, ((name, *[0.5] * 16), ("short", *[0.5] * 16)))
    sorted_by = (Column("short", "Row"), *columns)
    long = Table("long", "Many rows", sorted_by, tuple((f"row {i}", *row) for i in range(20) for row in wide.rows))
    found = browse(render_page(invented_report(wide, long)), NAMES, tmp_path, width)
    assert min(found["names"]) >= least


def test_a_wide_screen_shows_whole_labels(tmp_path: Path) -> None:
    found = browse(render_page(invented_report(*every_block())), WIDTHS, tmp_path, 1400)
    assert found["narrow"] == 0 < found["wide"]


def test_the_links_of_a_report_in_a_notebook_lead_to_its_own_parts(tmp_path: Path) -> None:
    report = replace(invented_report(), title='A "report"')
    shown = MitigatedModels((), report, tmp_path)._repr_html_()
    found = browse(f"<!doctype html>{shown}", FRAME, tmp_path)
    assert found["title"] == report.title
    assert found["links"]
    assert all(link.startswith("about:srcdoc#") for link in found["links"])


def test_a_long_table_can_be_searched_and_sorted(tmp_path: Path) -> None:
    found = browse(render_page(invented_report(table(3), rows=45)), TABLE, tmp_path)
    assert (found["hidden"], found["all"]) == (False, 45)
    assert found["searched"] == ["term 31"]
    assert found["axes"] == ["", "Ability", "Age"]
    assert (found["axis"], found["counted"]) == (22, "22 of 45 rows")
    by_share = [f"term {i}" for i in range(44, -1, -1) if i != 2]
    assert (found["sort"], found["ascending"]) == ("ascending", [*by_share, "term 2"])
    assert found["descending"] == [*by_share[::-1], "term 2"], "a missing value comes last in both orders"
    assert found["byName"] == ["term 0", "term 1", "term 10"]
    assert found["byInterval"] == "term 0"


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_first_screen_has_the_title_the_finding_and_the_chart(tmp_path: Path, width: int, height: int) -> None:
    found = browse(render_page(invented_report(table())), FIRST_SCREEN, tmp_path, width, height)
    assert 0 < found["title"] < found["finding"] < found["chart"] < found["end"] < height - 120
    assert found["wide"] == found["text"], "the chart is as wide as the text"
    assert found["shadows"] == found["scrolling"]
    assert (found["scrolling"] > 0) == (width < 500)
