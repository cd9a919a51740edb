"""Toxicity and regard from probabilities, and the cards that they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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

NAN = float("nan")


class Fixed(Classifier):
    """Gives each text the probabilities that it has in a table."""

    def __init__(self, card: Card, values: Mapping[str, Sequence[float]]) -> None:
        super().__init__(card, card.settings)
        self.values = values

    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        progress(len(texts))
        yield (
            np.arange(len(texts)),
            np.array([self.values[text] for text in texts], np.float64).reshape(-1, len(self.card.labels)),
        )


def judge(labels: Sequence[str], values: Mapping[str, Sequence[float]], name: str = "toxicity") -> Classifier:
    return Fixed(CARDS.read(name).model_copy(update={"labels": tuple(labels)}), values)


def test_toxicity_is_that_of_the_largest_label() -> None:
    values = {"doff": (0.2, 0.5, 0.1), "blick": (0.6, 0.1, 0.9), "wug": (NAN, NAN, NAN)}
    reader = ToxicityReader(ToxicitySettings(threshold=0.5), judge(("toxic", "threat", "odd"), values))
    done: list[int] = []
    read = read_each(reader, ["doff", "blick", None, " ", "wug", "doff"], done.append)
    assert sum(done) == 6
    assert read.column_names == list(reader.adds)
    assert list(dict.fromkeys(name.split(".")[1] for name in reader.adds)) == ["any", "toxic", "threat"]
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
        (ToxicityReader, "vader", "vader is a classifier of sentiment and names no offensive label"),
        (ToxicityReader, "go-emotions", "go-emotions is a classifier of style and names no offensive label"),
        (OffensivenessReader, "vader", "vader names no offensive label"),
        (RegardReader, "regard", ("negative", "neutral", "positive", "other")),
        (RegardReader, "vader", "vader is a classifier of sentiment: regard needs a card with task: regard"),
    ],
)
def test_labels_that_are_read(reader: type[LabelReader], card: str, expected: tuple[str, ...] | str) -> None:
    if isinstance(expected, tuple):
        assert reader.labels(CARDS.read(card)) == expected
        return
    with pytest.raises(ClassifierError) as caught:
        reader.labels(CARDS.read(card))
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
        RegardReader.labels(CARDS.read("regard").model_copy(update=own))
