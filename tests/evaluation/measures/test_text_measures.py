"""Measures of texts and of responses: what they add to a table, which classifiers they take, and their sections."""

import re
from pathlib import Path

import pyarrow as pa
import pytest
from tests.evaluation.made_responses import CLUSTERS, NAMES, judged, made_responses, pity

from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.gender_polarity import GenderPolarity
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.norms import Norms
from holisticbias_eval.measures.responses.examples import LETTERS, Examples, replaced_places
from holisticbias_eval.measures.sentiment import Sentiment
from holisticbias_eval.readers.reader import add_readings
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Chapter, Report

TEXTS = pa.table(
    {
        "group": ["doffs", "doffs", "daxes", "daxes", "daxes"],
        "text": ["The lovely doff, he sang.", None, "Lovely daxes sing.", " ", "A horrid day, she said."],
        "subject": ["lovely doff", "doff", "daxes", "dax", None],
    }
)


def read(measure: GroupMeasure, settings: MeasureSettings, texts: pa.Table = TEXTS) -> pa.Table:
    return add_readings(texts, measure.start(settings))


@pytest.fixture
def norms(tmp_path: Path) -> str:
    file = tmp_path / "norms.tsv"
    file.write_text("Word\tJoy\tAnger\tSadness\tFear\tDisgust\nlovely\t5\t1\t1\t1\t1\nday\t3\t1\t1\t1\t1\n", "utf-8")
    return str(file)


def columns(table: pa.Table, name: str) -> list[object]:
    found: list[object] = table[name].to_pylist()
    return found


def test_sentiment_reads_the_text_without_its_subject() -> None:
    table = read(Sentiment(), MeasureSettings())
    assert columns(table, "sentiment.compound") == [0.0, None, 0.5859, None, -0.5423]
    assert columns(table, "sentiment.compound.class") == ["neutral", None, "positive", None, "negative"]
    assert columns(table, "sentiment.compound.why") == [None, "refused", None, "empty text", None]
    assert table.select(TEXTS.column_names) == TEXTS
    strict = read(Sentiment(), MeasureSettings(values={"positive": 0.6, "negative": -0.6}))
    assert columns(strict, "sentiment.compound.class") == ["neutral", None, "neutral", None, "neutral"]


def test_reading_again_replaces_the_columns() -> None:
    once = read(Sentiment(), MeasureSettings(values={"positive": 0.6}))
    assert read(Sentiment(), MeasureSettings(), once) == read(Sentiment(), MeasureSettings())


@pytest.mark.parametrize("measure", [Sentiment(), GenderPolarity(), Norms()])
def test_the_words_of_a_row_are_those_of_its_text(measure: GroupMeasure, norms: str) -> None:
    settings = MeasureSettings(values={"norms": (norms,)})
    table = read(measure, settings)
    read_by = {f"{measure.info.name}.{method.name}": method for method in measure.methods}
    assert not read_by.keys().isdisjoint(table.column_names)
    for name in read_by.keys() & {*table.column_names}:
        words = list(measure.carriers(table, settings, read_by[name]))
        assert [bool(found) for found in words] == [bool(value) for value in columns(table, name)]


SETTINGS = MeasureSettings(clusters=CLUSTERS)
MEASURED = ("generation_bias", "offensiveness", "prompt_offensiveness", "response_wording")


def chapters_of(answers: pa.Table) -> tuple[Chapter, ...]:
    view = View(Figures(f for name in MEASURED for f in MEASURES[name].figures(answers, SETTINGS).figures), answers)
    return tuple(Chapter(MEASURES[m].info, MEASURES[m].sections(view)) for m in MEASURED)


def test_hostile_responses_are_cut_escaped_and_never_links() -> None:
    page = render_page(Report("r", chapters_of(judged(made_responses(NAMES, 20, pity))), scope=()))
    assert "<script>alert" not in page
    assert 'href="http://evil' not in page
    assert "evil.example" in page
    assert not re.search("[\u202e\x1b]", page)
    assert not re.search("(long ){60}", page)
    assert len(page) < 600_000


def test_many_figures_make_a_page_of_bounded_size() -> None:
    names = {f"axis {a}": tuple(f"w{a}x{i}" for i in range(60)) for a in range(3)}
    answers = judged(made_responses(names, 2, lambda rng, d, p: "I'm sorry to hear " + d if d.endswith("1") else None))
    assert len(render_page(Report("r", chapters_of(answers)))) < 1_500_000


def test_replaced_places() -> None:
    expected = {
        ("I like stads.", "I like stads."): ("I like stads.",),
        ("stads are fine", "left-handeds are fine"): ("", "stads", " are fine"),
        ("as a grey blue cook I", "as a left-handed cook I"): ("as a ", "grey blue", " cook I"),
        ("two stad and stad", "two left-handed and left-handed"): ("two ", "stad", " and ", "stad"),
        ("", ""): (),
    }
    assert {(response, text): replaced_places(response, text) for response, text in expected} == expected


def test_a_long_response_is_cut_after_its_replaced_places_are_found() -> None:
    response = "one stad " + "word " * 500
    found = replaced_places(response, response.replace("stad", "left-handed"))
    assert found[:2] == ("one ", "stad")
    assert "".join(found).endswith("…")
    assert len("".join(found)) <= LETTERS + 1


def test_examples_of_what_is_not_there() -> None:
    examples, stad = Examples(made_responses({"nonce": ("stad",)}, 2)), {"axis": "nonce", "descriptor": "nonce.stad"}
    assert examples.highest(_share(stad), "p:pity", 3) == ()
    assert examples.with_phrase(_share({**stad, "phrase": "(unbalanced"}), 3) == ()
    assert examples.with_phrase(_share({**stad, "descriptor": "nobody", "phrase": "word"}), 3) == ()


def _share(keys: dict[str, str]) -> Figure:
    return make_figure("response_wording", "phrase_share", keys, 0.5, "share", 2)
