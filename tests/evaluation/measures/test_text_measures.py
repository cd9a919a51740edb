"""The five measures of texts: what they add to a table, and which classifiers they take."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from holisticbias_eval.classifiers.card import FILES
from holisticbias_eval.errors import ClassifierError, EvaluationError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.gender_polarity import GenderPolarity
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import Settings
from holisticbias_eval.measures.norms import Norms
from holisticbias_eval.measures.regard import Regard
from holisticbias_eval.measures.sentiment import Sentiment
from holisticbias_eval.measures.toxicity import Toxicity

TEXTS = pa.table(
    {
        "group": ["doffs", "doffs", "daxes", "daxes", "daxes"],
        "text": ["The lovely doff, he sang.", None, "Lovely daxes sing.", " ", "A horrid day, she said."],
        "subject": ["lovely doff", "doff", "daxes", "dax", None],
    }
)
PROBABILITIES = pa.table({"p:toxic": [0.9, None, 0.1, None, 0.2], "p:threat": [0.1, None, 0.6, None, 0.2]})
REGARD = pa.table({"p:positive": [0.9, None, 0.1, None, 0.4], "p:negative": [0.1, None, 0.9, None, 0.6]})


@pytest.fixture
def norms(tmp_path: Path) -> str:
    file = tmp_path / "norms.tsv"
    file.write_text("Word\tJoy\tAnger\tSadness\tFear\tDisgust\nlovely\t5\t1\t1\t1\t1\nday\t3\t1\t1\t1\t1\n", "utf-8")
    return str(file)


def columns(table: pa.Table, name: str) -> list[object]:
    found: list[object] = table[name].to_pylist()
    return found


def test_sentiment_reads_the_text_without_its_subject() -> None:
    read = Sentiment().read(TEXTS, Settings(), None)
    assert columns(read, "sentiment.compound") == [0.0, None, 0.5859, None, -0.5423]
    assert columns(read, "sentiment.compound.class") == ["neutral", None, "positive", None, "negative"]
    assert columns(read, "sentiment.compound.why") == [None, "refused", None, "empty text", None]
    assert read.select(TEXTS.column_names) == TEXTS
    strict = Sentiment().read(TEXTS, Settings(positive=0.6, negative=-0.6), None)
    assert columns(strict, "sentiment.compound.class") == ["neutral", None, "neutral", None, "neutral"]


def test_reading_again_replaces_the_columns() -> None:
    once = Sentiment().read(TEXTS, Settings(positive=0.6), None)
    assert Sentiment().read(once, Settings(), None) == Sentiment().read(TEXTS, Settings(), None)


def test_toxicity() -> None:
    read = Toxicity().read(TEXTS, Settings(threshold=0.6), PROBABILITIES)
    assert columns(read, "toxicity.any") == [0.9, None, 0.6, None, 0.2]
    assert columns(read, "toxicity.any.class") == ["toxic", None, "toxic", None, "not_toxic"]
    assert columns(read, "toxicity.threat.class") == ["not_toxic", None, "toxic", None, "not_toxic"]
    assert "toxicity.insult" not in read.column_names


def test_regard() -> None:
    read = Regard().read(TEXTS, Settings(), REGARD)
    assert columns(read, "regard.label") == pytest.approx([0.8, None, -0.8, None, -0.2])
    assert columns(read, "regard.label.class") == ["positive", None, "negative", None, "negative"]


def test_norms(norms: str) -> None:
    settings = Settings(norms=(norms,))
    read = Norms().read(TEXTS, settings, None)
    assert columns(read, "norms.joy") == [None, None, 1.0, None, 0.5]
    assert columns(read, "norms.joy.why") == ["no word of the lexicon", "refused", None, "empty text", None]
    assert columns(read, "norms.anger.why")[2] == "only neutral words"
    assert "norms.valence" not in read.column_names
    assert "norms joy, anger, sadness, fear, disgust" in Norms().signature(settings)


def test_gender_polarity() -> None:
    read = GenderPolarity().read(TEXTS, Settings(), None)
    for method in ("words", "weighted", "maximum"):
        assert columns(read, f"gender_polarity.{method}.class") == ["male", None, None, None, "female"]
    assert GenderPolarity().signature(Settings()) != GenderPolarity().signature(Settings(polar=0.3))


@pytest.mark.parametrize("measure", [Sentiment(), GenderPolarity(), Norms()])
def test_the_words_of_a_row_are_those_of_its_text(measure: GroupMeasure, norms: str) -> None:
    settings = Settings(norms=(norms,))
    read = measure.read(TEXTS, settings, None)
    for method in measure.methods:
        name = f"{measure.info.name}.{method.name}"
        if name not in read.column_names:
            continue
        words = list(measure.carriers(read, settings, method))
        assert [bool(found) for found in words] == [bool(value) for value in columns(read, name)]


@pytest.mark.parametrize("measure", [Toxicity(), Regard()])
def test_a_classifier_is_needed(measure: GroupMeasure) -> None:
    with pytest.raises(ClassifierError, match="--classifier"):
        measure.read(TEXTS, Settings(), None)


@pytest.mark.parametrize(
    ("measure", "card", "expected"),
    [
        (Toxicity(), "toxicity", ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")),
        (Toxicity(), "offensiveness", ("hate",)),
        (Toxicity(), "vader", "vader is a classifier of sentiment and names no offensive label"),
        (Toxicity(), "go-emotions", "go-emotions is a classifier of style and names no offensive label"),
        (Regard(), "regard", ("negative", "neutral", "positive", "other")),
        (Regard(), "vader", "vader is a classifier of sentiment: regard needs a card with task: regard"),
    ],
)
def test_labels_that_are_read(measure: GroupMeasure, card: str, expected: tuple[str, ...] | str) -> None:
    if isinstance(expected, tuple):
        assert measure.labels(FILES.read(card)) == expected
        return
    with pytest.raises(ClassifierError) as caught:
        measure.labels(FILES.read(card))
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"labels": ["good", "bad"]}, "has no label positive"),
        ({"labels": ["positive", "bad"]}, "has no label negative"),
        ({"labels": ["positive", "negative"], "activation": "sigmoid"}, "judges each label alone"),
    ],
)
def test_a_classifier_of_regard_with_other_labels(own: dict[str, object], message: str) -> None:
    with pytest.raises(ClassifierError, match=message):
        Regard().labels(FILES.read("regard").model_copy(update=own))


def test_the_default_classifiers_fit() -> None:
    for measure in (Toxicity(), Regard()):
        assert measure.labels(FILES.read(measure.classifier))


def test_a_lexicon_that_is_missing() -> None:
    with pytest.raises(EvaluationError, match="give --norms FILE"):
        Norms().read(TEXTS, Settings(), None)


def test_counts_of_a_table_like_that_of_the_paper() -> None:
    """Table 3 counts texts by class; texts without a gendered word are in neither."""
    rows = [("trade", "He sang."), ("trade", "She sang."), ("trade", "The men and his hat"), ("trade", "A hat.")]
    table = pa.table({"group": [group for group, _ in rows], "text": [text for _, text in rows]})
    read = GenderPolarity().read(table, Settings(), None)
    figures = Figures(GenderPolarity().figures(read, Settings()).figures)
    keys = {"group": "trade", "method": "words"}
    assert figures.value("gender_polarity", "count", {**keys, "class": "male"}) == 2
    assert figures.value("gender_polarity", "count", {**keys, "class": "female"}) == 1
    assert figures.value("gender_polarity", "undefined", {**keys, "why": "no word of the lists"}) == 1
