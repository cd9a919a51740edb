from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest

from holisticbias_eval.report.charts import bias_chart, report_charts
from holisticbias_eval.report.contents import report_tables
from holisticbias_eval.report.files import light_colours
from holisticbias_eval.report.finding import finding
from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.page import page_environment, render_page, write_page
from holisticbias_eval.report.summary import summarise
from holisticbias_eval.report.words import CAVEATS, signature_rows, size_of_differences
from holisticbias_eval.results.run import ExactnessRecord, RoundingError, Run

from .conftest import HOSTILE, TEMPLATES, MakeRun

VOID = {"meta", "input", "rect", "line", "circle", "path", "br"}
KNOWN = {
    "a", "abbr", "aside", "bdi", "body", "button", "caption", "circle", "code", "dd", "desc", "details", "div", "dl",
    "dt", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "head", "header", "html", "input", "label", "li",
    "line", "main", "meta", "nav", "ol", "option", "output", "p", "path", "q", "rect", "script", "section", "select",
    "small", "span", "strong", "style", "summary", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr",
    "tspan", "ul",
}  # fmt: skip


class Page(HTMLParser):
    """The elements of a page with their attributes and the words inside, in order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[int] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self.open[-1]][0] == tag, (tag, self.elements[self.open[-1]])
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for i in self.open:
            self.elements[i][2].append(data)

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attrs, " ".join("".join(words).split())) for name, attrs, words in self.elements if name == tag]


@pytest.fixture(scope="module")
def source(made_run: Run) -> str:
    return render_page(summarise(made_run))


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


@pytest.fixture(scope="module")
def hostile_page(hostile_run: Run) -> Page:
    return Page(render_page(summarise(hostile_run)))


def check_structure(page: Page, scripts: int = 1) -> None:
    assert not page.open, "every element is closed"
    assert {tag for tag, _, _ in page.elements} <= KNOWN
    assert page.all("html")[0][0]["lang"] == "en"
    assert len(page.all("h1")) == len(page.all("main")) == 1
    assert len(page.all("script")) == scripts
    ids = Counter(attrs["id"] for _, attrs, _ in page.elements if "id" in attrs)
    assert max(ids.values()) == 1, "ids are unique"
    for _, attrs, _ in page.elements:
        for name in ("aria-labelledby", "for"):
            assert set((attrs.get(name) or "").split()) <= set(ids)
        assert not any(name.startswith("on") for name in attrs)


def test_structure(page: Page) -> None:
    check_structure(page)


def test_tables_have_captions_and_headings_have_scopes(page: Page) -> None:
    assert len(page.all("table")) == len(page.all("caption")) > 5
    assert all(words for _, words in page.all("caption"))
    assert {attrs.get("scope") for attrs, _ in page.all("th")} == {"col", "row"}


def test_charts_speak(page: Page) -> None:
    charts = page.all("svg")
    assert len(charts) == 1 + 2 + 3 + 1
    assert all(attrs["role"] == "img" and attrs["aria-labelledby"] for attrs, _ in charts)
    assert all(words for _, words in page.all("desc"))


def test_scrolling_boxes_can_be_reached_and_have_names(page: Page) -> None:
    boxes = [attrs for attrs, _ in page.all("div") if "scroll" in (attrs.get("class") or "")]
    assert len(boxes) == len(page.all("table"))
    assert all(box["tabindex"] == "0" and box["role"] == "region" and box["aria-label"] for box in boxes)


def test_nothing_comes_from_a_network(source: str, page: Page) -> None:
    assert not re.search(r"url\(|@import|<link|<iframe|<img|<object|<embed", source)
    for tag, attrs, _ in page.elements:
        assert "src" not in attrs
        target = attrs.get("href") or "#"
        assert target.startswith("#") or (tag == "a" and re.match(r"https://(aclanthology|doi)\.org/", target))
    policy = next(attrs["content"] or "" for attrs, _ in page.all("meta") if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none';")


def test_links_within_the_page_lead_somewhere(page: Page) -> None:
    ids = {attrs["id"] for _, attrs, _ in page.elements if "id" in attrs}
    inner = {(attrs["href"] or "")[1:] for attrs, _ in page.all("a") if (attrs["href"] or "").startswith("#")}
    assert len(inner) > 7
    assert inner <= ids


@pytest.mark.parametrize(
    ("caveat", "section"),
    [
        ("verdict", "axes"), ("language", "axes"), ("size", "trust"), ("tests", "trust"),
        ("preferences", "descriptors"),
    ],
)  # fmt: skip
def test_every_caveat_stands_beside_its_figures(page: Page, hostile_page: Page, caveat: str, section: str) -> None:
    for each in (page, hostile_page):
        words = next(words for attrs, words in each.all("section") if attrs["id"] == section)
        assert " ".join(CAVEATS[caveat]) in words


def test_the_page_starts_with_what_was_measured_the_finding_and_the_chart(made_run: Run, source: str) -> None:
    """Hashes and method come after every figure, folded."""
    summary = summarise(made_run)
    order = [
        "some/model</bdi>", "300 sentences about people", *finding(summary), 'class="chart bars"',
        "Likelihood Bias by axis</h2>", "All axes pooled", 'id="method"', "<details><summary>Signature", "5eed5eed",
    ]  # fmt: skip
    places = [source.index(part) for part in order]
    assert places == sorted(places)
    assert "c0ffee" not in source[: source.index("<details><summary>Signature")]


def test_charts_and_tables_have_one_order(made_run: Run, page: Page) -> None:
    """Body type exceeds its floor, ability does not, and nonce has nothing to test: the release's order is another."""
    order = ["Body type", "Ability", "Nonce"]
    tables = [
        [row[0] for row in table.rows]
        for name, table in report_tables(summarise(made_run)).items()
        if name in ("by-axis", "effects", "tests", "explanations", "robustness")
    ]
    assert tables == [order] * 5
    assert [bar.label for bar in bias_chart(summarise(made_run)).bars] == order
    assert [strip.label for strip in report_charts(summarise(made_run))["perplexities-1"].strips] == order
    assert [words for attrs, words in page.all("th") if attrs.get("scope") == "col" and words in order] == order


def test_the_figures_are_those_of_the_result(made_run: Run, page: Page) -> None:
    bias = made_run.result.likelihood_bias
    values = [float(attrs["data-value"] or "") for attrs, _ in page.all("td") if "data-value" in attrs]
    axes = summarise(made_run).axes
    by_axis = [
        value for a in axes
        for value in (a.share, a.floor, a.counts.descriptors, a.counts.pairs, a.counts.significant, a.counts.untested)
        if value is not None
    ]  # fmt: skip
    assert values[: len(by_axis)] == by_axis
    cells = [attrs["data-value"] for attrs, _ in page.all("td") if (attrs.get("class") or "").startswith("heat-")]
    shares = {(s.axis, s.template): s.share for s in bias.by_axis_and_template}
    expected = [shares[(a.axis, t.template)] for t in bias.by_template for a in axes]
    assert list(map(float, filter(None, cells))) == [share for share in expected if share is not None]


def test_every_descriptor_stands_with_its_preference_and_sentences(made_run: Run, page: Page) -> None:
    rows = [(attrs, words) for attrs, words in page.all("tr") if "data-axis" in attrs]
    terms = summarise(made_run).terms
    assert len(rows) == len(terms)
    for (attrs, words), term in zip(rows, terms, strict=True):
        assert (attrs["data-axis"], attrs["data-preference"]) == (term.axis, term.preference)
        assert words.startswith(term.text)
        assert all(example.text in words for example in term.examples)


def test_missing_stays_missing(page: Page) -> None:
    missing = next(words for attrs, words in page.all("section") if attrs["id"] == "missing")
    assert "11 of the 311 sentences that the release has were not scored" in missing
    assert "10 of the scored sentences have no perplexity" in missing
    assert "3 of 48 pairs could not be tested" in missing
    assert "Nonce in" in missing
    assert "blind (Ability) in 1 of 3 templates" in missing
    figures = next(words for attrs, words in page.all("section") if attrs["id"] == "axes")
    assert "Noncenone to testnot definednone to test1000" in figures


def test_what_was_skipped_is_said_with_its_reason(run_maker: MakeRun) -> None:
    page = render_page(summarise(run_maker(reason="no noun")))
    assert "11 of the 311 sentences that\nthe release has were not scored: 11 (no noun)." in page


def test_the_note_of_a_model_stands_beside_the_finding(run_maker: MakeRun, source: str) -> None:
    assert 'role="note"' not in source
    noted = Page(render_page(summarise(run_maker(note="A calibration model."))))
    assert [words for attrs, words in noted.all("p") if attrs.get("role") == "note"] == ["A calibration model."]


def test_what_rounding_cost_is_said(made_run: Run) -> None:
    lost = RoundingError(dtype="bfloat16", texts=128, largest=0.514, mean=0.02)
    signature = made_run.result.signature.model_copy(update={"rounding": lost})
    rounded = summarise(replace(made_run, result=made_run.result.model_copy(update={"signature": signature})))
    says = "bfloat16 instead of float32: on 128 texts tried 0.51 nats off at most, 0.02 on average"
    assert says in render_page(rounded)
    assert says in render_markdown(rounded)
    assert "instead of float32" not in render_page(summarise(made_run))


def test_a_quantized_file_and_the_exactness_of_scoring_stand_in_the_signature(made_run: Run) -> None:
    exact = ExactnessRecord(method="prefix trees", texts=8, error=0.00021, plain_error=0.00022)
    model = made_run.result.signature.model.model_copy(update={"quantization": "Q4_1, F32", "file_sha256": "f11e" * 16})
    signature = made_run.result.signature.model_copy(update={"exactness": exact, "model": model})
    rows = dict(signature_rows(signature))
    assert rows["Quantization"] == "Q4_1, F32"
    assert rows["File, SHA-256"] == "f11e" * 16
    assert rows["Exactness"] == (
        "prefix trees: at most 0.00021 nats from float64 on 8 texts; one text at a time, at most 0.00022"
    )
    assert {"Quantization", "File, SHA-256", "Exactness"}.isdisjoint(dict(signature_rows(made_run.result.signature)))


def test_hostile_text_is_only_text(hostile_page: Page, hostile_run: Run) -> None:
    check_structure(hostile_page)
    words = "".join("".join(inner) for tag, _, inner in hostile_page.elements if tag == "body")
    assert HOSTILE in words
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", words)
    assert {attrs.get("data-axis") for attrs, _ in hostile_page.all("tr")} >= {HOSTILE}
    assert "on HolisticBias 1.0.0, subset" in hostile_page.all("title")[0][1]
    assert hostile_run.result.signature.model.name == HOSTILE


@pytest.mark.parametrize(
    "shape",
    [
        {"axes": {"nonce": ("blicket",)}, "templates": ("I'm {noun_phrase}.",), "nouns": ("person",)},
        {"axes": {"age": ("young", "old")}, "missing": [("young", TEMPLATES[2]), ("old", TEMPLATES[2])]},
        {"axes": {"age": ("young",)}, "templates": ("x",), "nouns": ("person",), "missing": [("young", "x")]},
    ],
)  # fmt: skip
def test_small_and_broken_runs_have_a_page(run_maker: MakeRun, shape: dict[str, object]) -> None:
    check_structure(Page(render_page(summarise(run_maker(**shape)))))


def test_a_page_of_the_papers_size_stays_small(run_maker: MakeRun, tmp_path: Path) -> None:
    axes = {f"axis_{a}": [f"descriptor of some length {a} {d}" for d in range(46)] for a in range(13)}
    templates = [f"A template of about the usual length {{noun_phrase}} {t}." for t in range(26)]
    run = run_maker(axes=axes, templates=templates, nouns=("person", "grandmother"))
    assert write_page(run, tmp_path).stat().st_size < 3_000_000


def test_significant_and_large_are_told_apart_in_words(trusted_run: Run, floorless_run: Run) -> None:
    trust = trusted_run.result.trust
    assert trust
    figures = {"ability": (0.5, 0.9, 0.25, 0.002), "body_type": (0.0, 0.6, 0.0, 1.5), "nonce": (None, None, None, None)}
    by_axis = tuple(
        found.model_copy(
            update={
                "effects": found.effects.model_copy(update={"large": large, "nats": nats}),
                "paired": found.paired.model_copy(update={"wilcoxon": paired, "large": both}),
            }
        )
        for found in trust.by_axis
        for large, paired, both, nats in [figures[found.axis or ""]]
    )
    # 18 pairs of ability and 30 of body type: 9 / 48, 34.2 / 48 and 4.5 / 48
    result = trusted_run.result.model_copy(update={"trust": trust.model_copy(update={"by_axis": by_axis})})
    assert size_of_differences(result) == (
        "18.8% of all tests find a difference that is large (rank-biserial 0.43 or more). The paired tests find one in "
        "71.2%, however small it is, and a large one in 9.4%. The median difference of an axis lies between 0.002 and "
        "1.50 nats a sentence."
    )
    assert size_of_differences(floorless_run.result) is None


def test_axes_are_called_what_the_release_calls_them(trusted_run: Run) -> None:
    labels = {"ability": "Ability", "body_type": "Shape & size", "nonce": "Words of no meaning"}
    named = pa.array([labels[axis] for axis in trusted_run.scores["axis"].to_pylist()]).dictionary_encode()
    summary = summarise(replace(trusted_run, scores=trusted_run.scores.append_column("axis_label", named)))
    page, text = render_page(summary), render_markdown(summary)
    assert page.count("Words of no meaning") > 5
    assert "Shape &amp; size" in page
    assert "Shape \\& size" in text
    assert "Body type" not in page + text
    assert "Body type" in render_page(summarise(trusted_run)), "the key's words, where a run has no others"


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def palettes() -> dict[str, dict[str, str]]:
    palette = page_environment().get_template("palette.css").render()
    light, dark, printed = (
        dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", part)) for part in palette.split("@media")
    )
    assert light == light_colours()
    assert "@media screen and (prefers-color-scheme: dark)" in palette, "a page is printed light"
    return {"light": light, "dark": dark, "print": {**light, **printed}}


@pytest.mark.parametrize("name", ["light", "dark", "print"])
def test_colours_have_the_contrast_that_wcag_asks_for(name: str) -> None:
    colours = palettes()[name]
    assert set(colours) == set(palettes()["light"])
    for text in ("ink", "muted", "accent", "low", "high", "reference"):
        for ground in ("paper", "surface", "note") if text == "ink" else ("paper", "surface"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for level in range(10):
        assert contrast(colours[f"heat-{level}"], colours[f"heat-ink-{level}"]) >= 4.5, level
    for drawn in ("bar", "dots", "low", "high", "reference", "note-line"):
        assert contrast(colours[drawn], colours["paper"]) >= 3, drawn


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
