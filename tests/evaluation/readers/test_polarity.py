"""Sentiment by VADER, as a reader and as a classifier, and gender polarity by two lists."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.engines import start_classifier
from holisticbias_eval.readers.gender_polarity import GenderPolarityReader, PolaritySettings, gender_words
from holisticbias_eval.readers.reader import read_each
from holisticbias_eval.readers.sentiment import SentimentReader, SentimentSettings
from holisticbias_eval.readers.words import POLARITY, collect, entry_of, split_words, weighted_means

NO_WORD, TIE = "no word of the lists", "a tie"
Read = tuple[float | None, str | None, str | None]


def read(text: str, method: str, threshold: float = 0.25, ties: Literal["apart", "published"] = "apart") -> Read:
    reader = GenderPolarityReader(PolaritySettings(polar=threshold, ties=ties))
    row, name = read_each(reader, [text]).to_pylist()[0], f"gender_polarity.{method}"
    assert sum(reader.carriers(text, method).values()) == pytest.approx(row[name] or 0, abs=1e-4)
    return None if row[name] is None else round(row[name], 4), row[f"{name}.class"], row[f"{name}.why"]


def test_methods() -> None:
    expected = {
        ("words", "He took his hat."): (-1.0, "male", None),
        ("words", "She gave him her hat, and hers."): (0.5, "female", None),  # she her hers against him
        ("words", "she\u2019s here"): (1.0, "female", None),
        ("words", "women's, girl's, mother"): (None, None, NO_WORD),  # the paper counts the listed forms alone
        ("words", "Women\u2019s work"): (1.0, "female", None),
        ("words", "the then sheet hershey mankind"): (None, None, NO_WORD),
        ("weighted", "he and she"): (0.0, "neutral", None),
        ("weighted", "a daddy, he said"): (-0.4425, "male", None),  # (0.0006^2 - 0.4431^2) / (0.0006 + 0.4431)
        ("weighted", "my wife"): (0.1197, "neutral", None),
        ("weighted", "a bachelor's degree in men's wear"): (None, None, NO_WORD),
        ("weighted", "the twin sister"): (0.4907, "female", None),  # the phrase, not sister (0.3796)
        ("weighted", "a sister"): (0.3796, "female", None),
        ("weighted", "horsemen"): (None, None, NO_WORD),  # its polarity is 0.0000
        ("maximum", "he met the queen"): (-0.4431, "male", None),  # 0.4297 is smaller
        ("maximum", "kings and queens"): (None, None, TIE),
        ("maximum", "he, she and a lady"): (0.505, "female", None),  # the tie is not of the largest
        ("maximum", "chair"): (None, None, NO_WORD),
    }
    assert {(method, text): read(text, method) for method, text in expected} == expected


def test_ties_as_published() -> None:
    published = partial(read, ties="published")
    assert published("chair", "words") == published("he and she", "words") == (0.0, "neutral", None)
    assert published("he and she", "maximum") == (-0.4431, "male", None)
    assert published("she and he", "maximum") == (0.4431, "female", None)
    assert published("he, she and a lady", "maximum") == (0.505, "female", None)


def test_the_threshold_belongs_to_the_class() -> None:
    assert read("my wife", "weighted", 0.1197)[1] == "female"
    assert read("my wife", "weighted", 0.1198)[1] == "neutral"


def test_the_shipped_file_has_the_words_of_the_derivation() -> None:
    words = POLARITY.read("gender-polarity").words
    assert len(words) == 232
    assert (words["he"], words["she"], words["chairman"]) == (-0.4431, 0.4431, -0.4361)
    assert sum(value < 0 for value in words.values()) == 98
    assert sum(value > 0 for value in words.values()) == 133
    assert sum("_" in word for word in words) == 14


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("{doff: 2}", "it must be at most 1"),
        ("{doff: 0.1, dax: true}", "words.dax: it must be a number"),
        ("{doff blick: 0.1}", "it must have the form"),
        ("{doff_blick: 0.1, doff-blick: 0.2}", "are the same words in a text"),
        ("{doff: .nan}", "reads '.nan' as a number"),
    ],
)
def test_a_wrong_file_gets_one_line(tmp_path: Path, words: str, message: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(f"id: own\ntitle: own\nlicence: own\nsource: own\nwords: {words}\n", "utf-8")
    with pytest.raises(EvaluationError, match=message) as caught:
        gender_words(str(file))
    assert "\n" not in str(caught.value)


def test_words_of_a_text() -> None:
    expected = {
        "He said, SHE said.": ["he", "said", "she", "said"],
        "he's she\u2019s": ["he's", "she", "s"],
        "women's 'men' o'clock's'": ["women's", "men", "o'clock's"],
        "his/her, man-made_his": ["his", "her", "man", "made", "his"],
        "wider.He went\u2014she": ["wider", "he", "went", "she"],
        "cr\u00eape 3rd \u00c9lan": ["cr\u00eape", "3rd", "\u00e9lan"],
        " .,'' ": [],
    }
    assert {text: split_words(text) for text in expected} == expected


def test_a_word_is_found_without_its_possessive_ending() -> None:
    found = [entry_of(word, {"doff": 0, "it's": 1}) for word in ("doff", "doff's", "it's", "it", "doffs")]
    assert found == [0, 0, 1, None, None]


def plain_mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    size = sum(abs(value) for value in known)
    return sum(math.copysign(value * value, value) for value in known) / size if size else math.nan


VALUES = st.floats(-1, 1).map(lambda value: round(value, 3)) | st.just(math.nan)


@given(st.lists(VALUES, min_size=1, max_size=6), st.data())
def test_means_are_those_of_the_formula(values: list[float], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(st.integers(0, len(values) - 1), max_size=5), min_size=1, max_size=5))
    means = weighted_means(collect(rows), np.array(values))
    expected = [plain_mean([values[i] for i in row]) for row in rows]
    np.testing.assert_allclose(means, expected, atol=1e-12)


def test_a_polarity_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    content = POLARITY.find("gender-polarity").read_text("utf-8")
    file.write_text(content, "utf-8")
    before = gender_words(str(file)).settings
    assert gender_words(str(file)) is gender_words(str(file))
    file.write_text(content.replace("title: ", "title: Other ", 1), "utf-8")
    assert gender_words(str(file)).polarity.title.startswith("Other")
    assert before["gender_words"] == gender_words(str(file)).settings["gender_words"]


TEXTS = [
    "VADER is smart, handsome, and funny.",
    "VADER is smart, handsome, and funny!",
    "Today SUX!",
    "The chair is on the floor.",
    "Catch utf-8 emoji such as \U0001f498 and \U0001f48b",
    ":)",
    "VADER is not smart, handsome, nor funny.",
    "At least it isn't a horrible book.",
    "blicket",
    "... !?",
]


def test_scores_are_those_of_the_package() -> None:
    read = read_each(SentimentReader(), TEXTS)
    values, analyzer = read["sentiment.compound"].to_pylist(), SentimentIntensityAnalyzer()
    assert values == [*(analyzer.polarity_scores(text)["compound"] for text in TEXTS[:-1]), None]
    assert values[:3] == [0.8316, 0.8439, -0.5461]  # stated in the package's README
    assert read["sentiment.compound.why"].to_pylist() == [None] * 9 + ["no word"]
    assert read["sentiment.compound.class"].to_pylist() == [
        "positive", "positive", "negative", "neutral", "positive", "neutral", "negative", "neutral", "neutral", None,
    ]  # fmt: skip


def test_a_score_at_a_bound_belongs_to_the_class() -> None:
    def classed(text: str, positive: float, negative: float) -> list[str]:
        reader = SentimentReader(SentimentSettings(positive=positive, negative=negative))
        assert (reader.signed["positive"], reader.signed["negative"]) == (f"{positive:g}", f"{negative:g}")
        found: list[str] = read_each(reader, [text])["sentiment.compound.class"].to_pylist()
        return found

    assert classed("good", 0.4, -0.4) == classed("good", 0.4404, -0.4) == ["positive"]
    assert classed("good", 0.4405, -0.4) == ["neutral"]
    assert classed("bad", 0.5, -0.5423) == ["negative"]


def test_probabilities_are_the_shares_of_the_package() -> None:
    values = start_classifier("vader", print).probabilities(TEXTS[:-1], lambda done: None)
    analyzer = SentimentIntensityAnalyzer()
    expected = [[analyzer.polarity_scores(text)[name] for name in ("neg", "neu", "pos")] for text in TEXTS[:-1]]
    np.testing.assert_array_equal(values, expected)
    assert values[0, 2] == 0.746  # stated in the package's README: pos of its first example
    assert values[3].tolist() == [0, 1, 0]


def test_a_card_may_order_the_labels_otherwise(card: Callable[..., Path]) -> None:
    file = card(engine="vader", activation="none", labels=["positive", "negative"])
    values = start_classifier(str(file), print).probabilities(TEXTS[:1], lambda done: None)
    assert values.tolist() == [[0.746, 0.0]]
