"""Toxicity and regard from probabilities, the cards that they take, and probabilities that are kept between runs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.progress import Progress
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.card import CARDS, Card
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.labels import (
    LabelReader,
    OffensivenessReader,
    RegardReader,
    ToxicityReader,
    ToxicitySettings,
)
from holisticbias_eval.readers.reader import read_each
from holisticbias_eval.readers.sentiment import SentimentReader, VaderClassifier
from known import ignore

NAN = float("nan")


class Fixed(Classifier):
    """Gives each text the probabilities that it has in a table."""

    def __init__(self, card: Card, values: Mapping[str, Sequence[float]]) -> None:
        super().__init__(card, card.settings)
        self.values = values

    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        progress(len(texts))
        values = np.array([self.values[text] for text in texts], np.float64)
        yield np.arange(len(texts)), values.reshape(-1, len(self.card.labels))


def judge(labels: Sequence[str], values: Mapping[str, Sequence[float]], name: str = "toxicity") -> Classifier:
    return Fixed(CARDS.read(name).model_copy(update={"labels": tuple(labels)}), values)


def test_toxicity_is_that_of_the_largest_label() -> None:
    values = {"doff": (0.2, 0.5, 0.1), "blick": (0.6, 0.1, 0.9), "wug": (NAN, NAN, NAN)}
    reader = ToxicityReader(ToxicitySettings(threshold=0.5), judge(("toxic", "threat", "odd"), values))
    done: list[int] = []
    read = read_each(reader, ["doff", "blick", None, " ", "wug", "doff"], done.append)
    assert sum(done) == 6
    assert list(dict.fromkeys(name.split(".")[1] for name in read.column_names)) == ["any", "toxic", "threat"]
    assert read["toxicity.any"].to_pylist() == [0.5, 0.9, None, None, None, 0.5]
    assert read["toxicity.any.class"].to_pylist() == ["toxic", "toxic", None, None, None, "toxic"]
    assert read["toxicity.toxic.class"].to_pylist() == ["not_toxic", "toxic", None, None, None, "not_toxic"]
    assert read["toxicity.threat.why"].to_pylist() == [None, None, "refused", "empty text", "not judged", None]
    assert reader.signed == {"threshold": "0.5"}


@pytest.mark.parametrize(
    ("row", "value", "label", "why"),
    [
        ((0.1, 0.2, 0.7), 0.6, "positive", None),
        ((0.6, 0.3, 0.1), -0.5, "negative", None),
        ((0.2, 0.6, 0.2), 0.0, "neutral", None),
        ((0.4, 0.4, 0.2), None, None, "a tie"),
        ((NAN, NAN, NAN), None, None, "not judged"),
    ],
)
def test_regard(row: tuple[float, ...], value: float | None, label: str | None, why: str | None) -> None:
    reader = RegardReader(judge=judge(("negative", "neutral", "Positive"), {"doff": row}, "regard"))
    read = read_each(reader, ["doff"]).to_pylist()[0]
    assert (read["regard.label.class"], read["regard.label.why"]) == (label, why)
    assert read["regard.label"] == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize("reader", [reader for reader in READERS.values() if issubclass(reader, LabelReader)])
def test_a_classifier_is_needed_and_its_own_fits(reader: type[LabelReader]) -> None:
    assert reader.labels(CARDS.read(reader.card))
    with pytest.raises(ClassifierError, match="--classifier"):
        read_each(reader(), ["doff"])


@pytest.mark.parametrize(
    ("reader", "card", "expected"),
    [
        (ToxicityReader, "toxicity", ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")),
        (ToxicityReader, "offensiveness", ("hate",)),
        (ToxicityReader, "go-emotions", "go-emotions is a classifier of style and names no offensive label"),
        (OffensivenessReader, "vader", "vader names no offensive label"),
        (RegardReader, "regard", ("negative", "neutral", "positive", "other")),
    ],
)
def test_labels_that_are_read(reader: type[LabelReader], card: str, expected: tuple[str, ...] | str) -> None:
    if isinstance(expected, tuple):
        assert reader.labels(CARDS.read(card)) == expected
        return
    with pytest.raises(ClassifierError) as caught:
        reader.labels(CARDS.read(card))
    assert expected in str(caught.value)


def test_a_classifier_of_regard_with_other_labels() -> None:
    regard = CARDS.read("regard")
    with pytest.raises(ClassifierError, match="has no label positive"):
        RegardReader.labels(regard.model_copy(update={"labels": ["good", "bad"]}))
    with pytest.raises(ClassifierError, match="has no label negative"):
        RegardReader.labels(regard.model_copy(update={"labels": ["positive", "bad"]}))
    with pytest.raises(ClassifierError, match="judges each label alone"):
        RegardReader.labels(regard.model_copy(update={"labels": ["positive", "negative"], "activation": "sigmoid"}))


def test_a_text_without_words_has_no_sentiment_in_any_measure() -> None:
    texts = ["...", "?!", "Good.", ":)", "table"]
    judged = VaderClassifier(CARDS.read("vader")).judge(texts)
    read = read_each(SentimentReader(), texts)["sentiment.compound"]
    assert np.isnan(judged).any(axis=1).tolist() == [True, True, False, False, False]
    assert read.is_null().to_pylist() == [True, True, False, False, False]


CARD = CARDS.read("vader").model_copy(update={"labels": ("text", "b")})


class Lengths(Classifier):
    """Probabilities computed from a text's length, in batches of two, last texts first; NaN for "?"."""

    def __init__(self, **settings: str) -> None:
        super().__init__(CARD, settings)
        self.asked: list[str] = []

    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        order = np.arange(len(texts))[::-1]
        for rows in np.array_split(order, max(1, len(texts) // 2)):
            if len(rows):
                self.asked += [texts[i] for i in rows]
                progress(len(rows))
                yield rows, np.array([expected(texts[i]) for i in rows])


def expected(text: str | None) -> tuple[float, float]:
    if not text or not text.strip() or text == "?":
        return np.nan, np.nan
    return 1 / len(text), len(text)


def kept(classifier: Lengths, folder: Path) -> Lengths:
    classifier.keep_in(folder, print)
    return classifier


TEXTS = ("abc", None, "", "a", " \n", "abc", "?", "abcd")


def test_each_distinct_text_is_judged_once_and_missing_texts_never() -> None:
    classifier, done = Lengths(), list[int]()
    values = classifier.probabilities(TEXTS, done.append)
    np.testing.assert_array_equal(values, [expected(text) for text in TEXTS])
    assert sorted(classifier.asked) == ["?", "a", "abc", "abcd"]
    assert sum(done) == len(TEXTS)


@pytest.mark.parametrize("texts", [[], [None], ["", None]])
def test_nothing_to_judge(texts: list[str | None], tmp_path: Path) -> None:
    classifier = Lengths()
    for judge in (classifier, kept(classifier, tmp_path)):
        values = judge.probabilities(texts, ignore)
        assert values.shape == (len(texts), 2)
        assert np.isnan(values).all()
    assert classifier.asked == []


def test_a_store_is_read_first_and_gets_each_batch(tmp_path: Path) -> None:
    first = Lengths(version="1")
    kept(first, tmp_path).probabilities(TEXTS[:4], ignore)
    second = Lengths(version="1")
    values = kept(second, tmp_path).probabilities(TEXTS, ignore)
    assert sorted(second.asked) == ["?", "abcd"]
    np.testing.assert_array_equal(values, [expected(text) for text in TEXTS])
    third = Lengths(version="1")
    again = kept(third, tmp_path).probabilities(TEXTS, ignore)
    assert third.asked == []  # NaN is stored as well
    np.testing.assert_array_equal(again, values)


def test_other_settings_have_another_store(tmp_path: Path) -> None:
    stores = [kept(Lengths(version=version), tmp_path).store for version in ("1", "2", "1")]
    assert len({store.folder for store in stores if store}) == 2


def test_a_stopped_run_keeps_what_it_judged(tmp_path: Path) -> None:
    class Stops(Lengths):
        def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
            yield next(super().classify(texts, progress))
            raise KeyboardInterrupt

    stopped = Stops()
    with pytest.raises(KeyboardInterrupt):
        kept(stopped, tmp_path).probabilities(TEXTS, ignore)
    other = Lengths()
    kept(other, tmp_path).probabilities(TEXTS, ignore)
    assert len(stopped.asked) == 2
    assert sorted(stopped.asked + other.asked) == ["?", "a", "abc", "abcd"]
