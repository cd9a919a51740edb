import base64
import hashlib
import re
from dataclasses import replace
from importlib import resources

import pytest

from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.page import LONG, render_blocks, render_page
from holisticbias_eval.report.report import SCOPE, Chapter
from holisticbias_eval.report.runs import classifier_cards
from holisticbias_eval.report.svg import light_colours
from holisticbias_eval.sections.blocks import Bar, Section
from holisticbias_eval.sections.tables import Column, Marked, Paragraph, Table

from .html_reader import HtmlReader, sound_page
from .invented import INFO, bars, dot_plot, empty_blocks, every_block, invented_report, table


@pytest.fixture(scope="module")
def source() -> str:
    return render_page(invented_report(*every_block(), rows=LONG + 1))


@pytest.fixture(scope="module")
def page(source: str) -> HtmlReader:
    return HtmlReader(source)


def test_nothing_comes_from_a_network_and_only_the_one_script_may_run(source: str, page: HtmlReader) -> None:
    assert not re.search(r"url\(|@import|<link|<iframe|<img|<object|<embed", source)
    for tag, attrs, _ in page.elements:
        assert "src" not in attrs
        target = attrs.get("href") or "#"
        assert target.startswith("#") or (tag == "a" and re.match(r"https://(aclanthology|doi)\.org/", target))
    policy = next(attrs["content"] or "" for attrs, _ in page.all("meta") if "http-equiv" in attrs)
    script = source.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}'" in policy
    ids = {attrs["id"] for _, attrs, _ in page.elements if "id" in attrs}
    inner = {(attrs["href"] or "")[1:] for attrs, _ in page.all("a") if (attrs["href"] or "").startswith("#")}
    assert inner == {"figures", "m-zeal", "s-keenness", "s-given", "scope", "method"}
    assert inner <= ids


def test_what_a_report_lacks_is_not_mentioned() -> None:
    bare = replace(
        invented_report(), chapters=(Chapter(INFO, (Section("z", "Zeal", ()),)),), notes=(), scope=(), signature=()
    )
    page = sound_page(render_page(bare))
    words = page.all("body")[0][1]
    assert not re.search("Scope and limits|community preferences|Signature", words)
    assert not page.classed("note")
    assert SCOPE[0][0] in HtmlReader(render_page(invented_report())).all("body")[0][1]


def test_a_chart_without_a_value_is_not_drawn() -> None:
    charts = [*empty_blocks()[2:], replace(bars(), bars=(Bar("Age", None, floor=None),))]
    assert "<svg" not in render_blocks(charts, "k")
    assert "heat" not in render_blocks(charts, "k")
    assert render_blocks([bars(), dot_plot()], "k").count("<svg") == 2


def test_many_lines_about_what_was_compared_are_folded() -> None:
    lines = tuple(f"Line {i}." for i in range(6))
    page = sound_page(render_page(replace(invented_report(), measured=lines)))
    assert [words for attrs, words in page.classed("measured")] == [
        "Line 0.", "Line 5.", "What was comparedLine 1.Line 2.Line 3.Line 4."
    ]  # fmt: skip
    few = sound_page(render_page(replace(invented_report(), measured=lines[:5])))
    assert [words for _, words in few.classed("measured")] == [*lines[:5]]


def test_the_title_names_each_run_once() -> None:
    report = replace(invented_report(), title="Two runs side by side", runs=("x", "y"))
    assert sound_page(render_page(report)).all("title")[0][1] == "Two runs side by side: x and y"
    named = replace(report, title="People compare x and y")
    assert sound_page(render_page(named)).all("title")[0][1] == "People compare x and y"


def test_parts_that_a_reader_jumps_between_have_different_names(page: HtmlReader) -> None:
    labels = [
        (attrs["role"], attrs["aria-label"])
        for _, attrs, _ in page.elements
        if "aria-label" in attrs and "role" in attrs
    ]
    assert ("search", "Keenness by term") in labels
    assert ("region", "Keenness by axis and template, heat map") in labels
    assert all(words for _, words in page.all("th")), "every heading has a text"


def test_a_title_breaks_between_the_words_of_a_filter_and_stays_escaped() -> None:
    page = render_page(replace(invented_report(), title="a on 1,200 <b>, only axis=age,ability"))
    assert "<h1><bdi>a on 1,200 &lt;b&gt;, only axis=age,<wbr>ability</bdi></h1>" in page


def test_long_tables_have_a_filter_and_short_ones_do_not(page: HtmlReader) -> None:
    assert len(page.all("form")) == len(page.classed("sortable")) == 1
    assert not HtmlReader(render_page(invented_report(rows=LONG))).all("form")
    short = HtmlReader(render_page(invented_report(replace(table(), search=True))))
    assert len(short.all("form")) == len(short.classed("sortable")) == 1
    assert len(render_page(invented_report(table(620)))) < 500_000, "a table of the paper's size stays small"


def test_marked_places_of_a_line_are_marked_and_escaped() -> None:
    lines: tuple[str | Marked, ...] = ("plain", Marked(("is ", "<b>x</b>", " and ", "y")), Marked(("", "z")))
    rows = Table("t", "T", (Column("a", "A"),), (("row",),), details=(lines,))
    page = sound_page(render_page(invented_report(rows)))
    assert [words for _, words in page.all("mark")][-3:] == ["<b>x</b>", "y", "z"]
    assert [words for _, words in page.all("li") if "<b>x" in words] == ["is <b>x</b> and y"]


def test_chapters_may_have_sections_of_the_same_name() -> None:
    section = Section("keenness", "Keenness", (Paragraph("Again."),))
    other = Chapter(replace(INFO, name="zest", title="Zest"), (section, replace(section, name="Keenness!")))
    report = invented_report()
    page = sound_page(render_page(replace(report, chapters=(*report.chapters, other))))
    contents = [words for attrs, words in page.all("nav")]
    assert contents == ["Zeal Keenness Zest Keenness Keenness Scope and limits Method and signature"]


def test_a_section_named_like_its_measure_has_no_second_heading() -> None:
    section = Section("zeal", "Zeal", (Paragraph("Again."),))
    page = sound_page(render_page(replace(invented_report(), chapters=(Chapter(INFO, (section,)),))))
    assert [words for tag in ("h2", "h3") for _, words in page.all(tag)].count("Zeal") == 1


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def palettes() -> dict[str, dict[str, str]]:
    palette = resources.files("holisticbias_eval.report").joinpath("templates", "palette.css").read_text("utf-8")
    parts = palette.split("@media")
    light, dark, printed = (dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", part)) for part in parts)
    assert light == light_colours()
    assert "@media screen and (prefers-color-scheme: dark)" in palette, "a page is printed light"
    return {"light": light, "dark": dark, "print": {**light, **printed}}


@pytest.mark.parametrize("name", ["light", "dark", "print"])
def test_colours_have_the_contrast_that_wcag_asks_for(name: str) -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    colours = palettes()[name]
    assert set(colours) == set(palettes()["light"])
    for text in ("ink", "muted", "accent", "low", "high", "reference"):
        for ground in ("paper", "surface", "note") if text == "ink" else ("paper", "surface"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    levels = [("heat", f"{sign}{i}") for sign in ("", "n") for i in range(10)]
    for kind, level in (*levels, *(("stack", str(part)) for part in range(8))):
        assert contrast(colours[f"{kind}-{level}"], colours[f"{kind}-ink-{level}"]) >= 4.5, level
    for drawn in (*(f"stack-{part}" for part in range(8)), "bar", "dots", "low", "high", "reference", "note-line"):
        assert contrast(colours[drawn], colours["paper"]) >= 3, drawn


def test_the_cards_of_classifiers_are_shown_as_text() -> None:
    about = {"title": "Mood <b>", "task": "style", "licence": "MIT", "limits": "English alone.", "classifier": "mood"}
    cards = tuple(classifier_cards({"mood": about, "bare": {"classifier": "bare"}}))
    assert cards == (
        ("Classifier: Mood <b>", "Task: style. Licence: MIT. Limits: English alone."), ("Classifier: bare", ""),
    )  # fmt: skip
    report = replace(invented_report(), classifiers=cards)
    page = sound_page(render_page(report))
    assert "Classifier: Mood <b>" in [words for _, words in page.all("dt")]
    assert "Task: style. Licence: MIT. Limits: English alone." in [words for _, words in page.all("dd")]
    assert "- **Classifier: Mood \\<b\\>** Task: style." in render_markdown(report)
