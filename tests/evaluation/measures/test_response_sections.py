"""Sections about responses: findings, named descriptors, examples, and hostile texts."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.made_answers import charts_of, tables_of
from tests.evaluation.made_responses import CLUSTERS, audit_texts, judged, made_responses

from holisticbias_eval.blocks import Marked, Paragraph
from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.responses.bias_details import corpus_figures
from holisticbias_eval.measures.responses.examples import LETTERS, Examples, replaced_places
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Chapter, Report
from holisticbias_eval.sections import Bars, HeatMap, Scatter, Section, StackedBars

SETTINGS = MeasureSettings(clusters=CLUSTERS)
HOSTILE = "</script><script>alert(1)</script> [x](http://evil.example) \u202eabc\x1b[31m\n" + "long " * 3000
ALIKE = {"nonce": ("blicket", "mell", "fitch", "tannin"), "size": ("wug", "dax", "zup", "toma")}
NAMES = {**ALIKE, "form": ("stad", "stad-like", "with a stad", "tupa")}


def say(rng: np.random.Generator, descriptor: str, prompt: str) -> str | None:
    """Pity for a stad, with markup now and then; sometimes no text at all."""
    chance = rng.random()
    if chance < 0.03:
        return ""
    if descriptor == "stad" and chance < 0.6:
        return f"I'm sorry to hear that, stad! {HOSTILE if chance < 0.3 else ''}"
    return prompt if descriptor == "stad-like" and chance < 0.5 else None


def view_of(answers: pa.Table, *measures: str) -> View:
    figures = [f for name in measures for f in MEASURES[name].figures(answers, SETTINGS).figures]
    if "generation_bias" in measures:
        figures += MEASURES["generation_bias"].audit_figures(audit_texts(answers), SETTINGS)
    return View(Figures(figures), answers)


def sections_of(view: View, measure: str) -> dict[str, Section]:
    return {section.name: section for section in MEASURES[measure].sections(view)}


def said(section: Section, role: str = "finding") -> str:
    return " ".join(b.text for b in section.blocks if isinstance(b, Paragraph) and b.role == role)


MEASURED = ("generation_bias", "offensiveness", "prompt_offensiveness", "response_wording")


@pytest.fixture(scope="module")
def planted() -> View:
    return view_of(judged(made_responses(NAMES, 20, say)), *MEASURED)


@pytest.fixture(scope="module")
def alike() -> View:
    return view_of(judged(made_responses(ALIKE, 15, seed=3)), *MEASURED)


def test_the_finding_names_the_axes_that_differ_and_no_other(planted: View) -> None:
    section = sections_of(planted, "generation_bias")["generation-bias"]
    assert re.fullmatch(
        r"On 1 of 2 axes responses differ by descriptor more than sampling explains: Form \(\d+\.\d\d, 95% interval "
        r"\d+\.\d\d to \d+\.\d\d\)\.",
        said(section),
    )
    assert "made-up words (Nonce)" in said(section, "text")
    assert ", not more than by chance." in said(section, "text")
    corrected, raw = section.charts
    assert isinstance(corrected, Bars)
    assert isinstance(raw, Bars)
    assert [(bar.label, bar.faint) for bar in corrected.bars] == [("Form", False), ("Nonce", True), ("Size", True)]
    assert all(bar.interval and bar.floor is None for bar in corrected.bars)
    assert all(bar.floor and bar.interval is None for bar in raw.bars)


def test_where_nothing_differs_it_is_said_plainly(alike: View) -> None:
    sections = sections_of(alike, "generation_bias")
    assert said(sections["generation-bias"]) == (
        "On Size responses do not differ by descriptor more than sampling explains."
    )
    assert said(sections["leaders"], "text").startswith("No descriptor differs from the others in a style")
    wording = sections_of(alike, "response_wording")
    assert said(wording["found-phrases"], "text").startswith("No descriptor has a phrase more often than all others")
    for section in (*sections.values(), *wording.values()):
        named = [name for name in ALIKE["size"] if not section.detail and name in said(section, "text")]
        assert not named, "nobody is named by chance"


def test_clusters_that_share_styles_are_not_said_to_add_up() -> None:
    answers = judged(made_responses(NAMES, 10, say))
    overlapping = MeasureSettings(clusters={"one": ("pity", "plain", "wonder"), "two": ("pity", "plain", "praise")})
    figures = MEASURES["generation_bias"].figures(answers, overlapping).figures
    chart = charts_of((sections_of(View(Figures(figures), answers), "generation_bias")["clusters"],))["clusters"]
    assert isinstance(chart, StackedBars)
    assert chart.parts == ("one", "two")
    assert "the parts overlap" in chart.scale


def test_leading_descriptors_have_examples_with_the_replaced_places_marked(planted: View) -> None:
    section = sections_of(planted, "generation_bias")["leaders"]
    table = tables_of((section,))["leaders"]
    assert table.search
    assert {(row[0], row[2]) for row in table.rows if isinstance(row[4], float) and row[4] > 0} == {("stad", "pity")}
    lines = next(d for row, d in zip(table.rows, table.details, strict=True) if row[2] == "pity")
    assert len(lines) == 3
    first = lines[0]
    assert isinstance(first, Marked)
    assert re.match(r"“.* stad .*” → I'm sorry to hear that, $", first.parts[0])
    assert first.parts[1] == "stad!"
    assert re.search(r" \(\d\d\.\d%\)$", first.parts[-1])
    less = [d for row, d in zip(table.rows, table.details, strict=True) if isinstance(row[4], float) and row[4] < 0]
    assert not any(less), "no examples of what is rare"
    (heat_map,) = (chart for chart in section.charts if isinstance(chart, HeatMap))
    assert heat_map.rows[0][0] == "stad (Form)"


def test_a_corpus_adds_scatters_with_the_descriptors_that_differ_named(planted: View) -> None:
    counts = {name: 10**i for i, name in enumerate(n for names in NAMES.values() for n in names)} | {"wug": 0}
    view = View(Figures([*planted.figures, *corpus_figures(planted, counts)]), planted.answers)
    sections = sections_of(view, "generation_bias")
    charts = sections["corpus"].charts
    assert [type(chart) for chart in charts] == [Scatter, Scatter]
    kindness = next(c for c in charts if isinstance(c, Scatter) and "Kindness" in c.title)
    assert kindness.log_x
    assert [p.label for p in kindness.points if p.labelled] == ["stad"]
    assert {p.label: p.x for p in kindness.points} == counts
    assert "The corpus does not have 1 of 12 descriptors." in said(sections["corpus"], "text")
    (table,) = sections["corpus-correlation"].tables
    assert {(row[0], row[1]) for row in table.rows} == {
        *((name, "cluster") for name in CLUSTERS), *((s, "style") for s in ("pity", "wonder", "praise", "plain")),
    }  # fmt: skip
    assert "corpus" not in sections_of(planted, "generation_bias")


def test_wording_says_what_is_parroted_and_how_responses_end(planted: View) -> None:
    sections = sections_of(planted, "response_wording")
    assert re.fullmatch(
        r"The model repeats its prompt in \d\.\d% of \d+ responses\. Of all responses \d\.\d% are empty; none is "
        r"cut off, refused or withheld\.",
        said(sections["wording"]),
    )
    assert "different for 1 of 12 descriptors after correction, most of all stad-like (" in said(
        sections["wording"], "text")  # fmt: skip
    listed = tables_of((sections["phrases"],))["phrases-by-descriptor"]
    assert [row[:3] for row in listed.rows] == [("stad", "Form", "i'm sorry to hear")]
    line = listed.details[0][0]
    assert isinstance(line, Marked)
    assert line.parts[1] == "I'm sorry to hear"
    found = tables_of((sections["found-phrases"],))["found-phrases"]
    assert [(row[0], row[2]) for row in found.rows if "sorry" in str(row[2])] == [("stad", "i'm sorry to hear")]
    assert sections["wording-descriptors"].detail
    assert len(sections["wording-descriptors"].tables[0].rows) == 12


def test_two_runs_show_phrases_and_parroting_before_and_after(planted: View) -> None:
    later = view_of(judged(made_responses(NAMES, 20, seed=5)), *MEASURED)
    measure = MEASURES["response_wording"]
    (section,) = measure.compared_sections(Figures(measure.compare(planted, later)), later)
    tables = tables_of((section,))
    assert [row[0] for row in tables["phrase-changes"].rows] == ["“i'm sorry to hear”"]
    assert tables["parroting-changes"].rows[-1][0] == "Form"
    changed = {row[0]: row[3] for row in tables["wording-changes"].rows}
    assert isinstance(changed["Repeats the prompt"], float)
    assert changed["Repeats the prompt"] < 0
    assert "Longest common run" in changed


def test_hostile_responses_are_cut_escaped_and_never_links(planted: View) -> None:
    chapters = tuple(Chapter(MEASURES[m].info, MEASURES[m].sections(planted)) for m in MEASURED)
    page = render_page(Report("r", chapters, scope=()))
    assert "<script>alert" not in page
    assert 'href="http://evil' not in page
    assert "evil.example" in page
    assert not re.search("[\u202e\x1b]", page)
    assert not re.search("(long ){60}", page)
    assert len(page) < 600_000


def test_many_figures_make_a_page_of_bounded_size() -> None:
    names = {f"axis {a}": tuple(f"w{a}x{i}" for i in range(60)) for a in range(3)}
    answers = judged(made_responses(names, 2, lambda rng, d, p: "I'm sorry to hear " + d if d.endswith("1") else None))
    view = view_of(answers, *MEASURED)
    page = render_page(Report("r", tuple(Chapter(MEASURES[m].info, MEASURES[m].sections(view)) for m in MEASURED)))
    assert len(page) < 1_500_000


@pytest.mark.parametrize(
    ("response", "text", "parts"),
    [
        ("I like stads.", "I like stads.", ("I like stads.",)),
        ("stads are fine", "left-handeds are fine", ("", "stads", " are fine")),
        ("as a grey blue cook I", "as a left-handed cook I", ("as a ", "grey blue", " cook I")),
        ("two stad and stad", "two left-handed and left-handed", ("two ", "stad", " and ", "stad")),
        ("", "", ()),
    ],
)
def test_replaced_places(response: str, text: str, parts: tuple[str, ...]) -> None:
    assert replaced_places(response, text) == parts


def test_a_long_response_is_cut_after_its_replaced_places_are_found() -> None:
    response = "one stad " + "word " * 500
    found = replaced_places(response, response.replace("stad", "left-handed"))
    assert found[:2] == ("one ", "stad")
    assert "".join(found).endswith("…")
    assert len("".join(found)) <= LETTERS + 1


def test_examples_of_what_is_not_there() -> None:
    answers = made_responses({"nonce": ("stad",)}, 2)
    examples = Examples(answers)
    stad = {"axis": "nonce", "descriptor": "nonce.stad"}
    assert examples.highest(_share(stad), "p:pity", 3) == ()
    assert examples.with_phrase(_share({**stad, "phrase": "(unbalanced"}), 3) == ()
    assert examples.with_phrase(_share({**stad, "descriptor": "nobody", "phrase": "word"}), 3) == ()


def _share(keys: dict[str, str]) -> Figure:
    return make_figure("response_wording", "phrase_share", keys, 0.5, "share", 2)
