"""The five measures of texts: what they add to a table, and which classifiers they take."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.gender_polarity import GenderPolarity
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.norms import Norms
from holisticbias_eval.measures.sentiment import Sentiment
from holisticbias_eval.readers.reader import add_readings

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
    for method in measure.methods:
        name = f"{measure.info.name}.{method.name}"
        if name not in table.column_names:
            continue
        words = list(measure.carriers(table, settings, method))
        assert [bool(found) for found in words] == [bool(value) for value in columns(table, name)]


def test_counts_of_a_table_like_that_of_the_paper() -> None:
    """Table 3 counts texts by class; texts without a gendered word are in neither."""
    rows = [("trade", "He sang."), ("trade", "She sang."), ("trade", "The men and his hat"), ("trade", "A hat.")]
    table = pa.table({"group": [group for group, _ in rows], "text": [text for _, text in rows]})
    table = read(GenderPolarity(), MeasureSettings(), table)
    figures = Figures(GenderPolarity().figures(table, MeasureSettings()).figures)
    keys = {"group": "trade", "method": "words"}
    assert figures.value("gender_polarity", "count", {**keys, "class": "male"}) == 2
    assert figures.value("gender_polarity", "count", {**keys, "class": "female"}) == 1
    assert figures.value("gender_polarity", "undefined", {**keys, "why": "no word of the lists"}) == 1
