"""Each distinct text is classified once, and its probabilities are kept between runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.progress import Progress
from holisticbias_eval.readers.card import Card
from holisticbias_eval.readers.classifier import Classifier, classify_texts, label_store

CARD = Card(
    id="made-up", title="-", task="style", engine="vader", labels=("text", "b"), activation="none", licence="-",
    source="-", limits="-",
)  # fmt: skip


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


def counted(done: list[int]) -> Progress:
    return done.append


TEXTS = ("abc", None, "", "a", " \n", "abc", "?", "abcd")


def test_each_distinct_text_is_judged_once_and_missing_texts_never() -> None:
    classifier, done = Lengths(), list[int]()
    values = classify_texts(classifier, TEXTS, None, counted(done))
    np.testing.assert_array_equal(values, [expected(text) for text in TEXTS])
    assert sorted(classifier.asked) == ["?", "a", "abc", "abcd"]
    assert sum(done) == len(TEXTS)


@pytest.mark.parametrize("texts", [[], [None], ["", None]])
def test_nothing_to_judge(texts: list[str | None], tmp_path: Path) -> None:
    classifier = Lengths()
    for store in (None, label_store(tmp_path, classifier, print)):
        values = classify_texts(classifier, texts, store, counted([]))
        assert values.shape == (len(texts), 2)
        assert np.isnan(values).all()
    assert classifier.asked == []


def test_a_store_is_read_first_and_gets_each_batch(tmp_path: Path) -> None:
    first = Lengths(version="1")
    store = label_store(tmp_path, first, print)
    classify_texts(first, TEXTS[:4], store, counted([]))
    second = Lengths(version="1")
    values = classify_texts(second, TEXTS, label_store(tmp_path, second, print), counted([]))
    assert sorted(second.asked) == ["?", "abcd"]
    np.testing.assert_array_equal(values, [expected(text) for text in TEXTS])
    third = Lengths(version="1")
    again = classify_texts(third, TEXTS, label_store(tmp_path, third, print), counted([]))
    assert third.asked == []  # NaN is stored as well
    np.testing.assert_array_equal(again, values)


def test_other_settings_have_another_store(tmp_path: Path) -> None:
    folders = {label_store(tmp_path, Lengths(version=version), print).folder for version in ("1", "2", "1")}
    assert len(folders) == 2


def test_a_stopped_run_keeps_what_it_judged(tmp_path: Path) -> None:
    class Stops(Lengths):
        def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
            yield next(super().classify(texts, progress))
            raise KeyboardInterrupt

    stopped = Stops()
    with pytest.raises(KeyboardInterrupt):
        classify_texts(stopped, TEXTS, label_store(tmp_path, stopped, print), counted([]))
    other = Lengths()
    classify_texts(other, TEXTS, label_store(tmp_path, other, print), counted([]))
    assert len(stopped.asked) == 2
    assert sorted(stopped.asked + other.asked) == ["?", "a", "abc", "abcd"]
