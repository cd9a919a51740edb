"""Each distinct text is classified once, and its probabilities are kept between runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.progress import Progress
from holisticbias_eval.readers.card import Card
from holisticbias_eval.readers.classifier import Classifier

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


def kept(classifier: Lengths, folder: Path) -> Lengths:
    classifier.keep_in(folder, print)
    return classifier


def counted(done: list[int]) -> Progress:
    return done.append


TEXTS = ("abc", None, "", "a", " \n", "abc", "?", "abcd")


def test_each_distinct_text_is_judged_once_and_missing_texts_never() -> None:
    classifier, done = Lengths(), list[int]()
    values = classifier.probabilities(TEXTS, counted(done))
    np.testing.assert_array_equal(values, [expected(text) for text in TEXTS])
    assert sorted(classifier.asked) == ["?", "a", "abc", "abcd"]
    assert sum(done) == len(TEXTS)


@pytest.mark.parametrize("texts", [[], [None], ["", None]])
def test_nothing_to_judge(texts: list[str | None], tmp_path: Path) -> None:
    classifier = Lengths()
    for judge in (classifier, kept(classifier, tmp_path)):
        values = judge.probabilities(texts, counted([]))
        assert values.shape == (len(texts), 2)
        assert np.isnan(values).all()
    assert classifier.asked == []


def test_a_store_is_read_first_and_gets_each_batch(tmp_path: Path) -> None:
    first = Lengths(version="1")
    kept(first, tmp_path).probabilities(TEXTS[:4], counted([]))
    second = Lengths(version="1")
    values = kept(second, tmp_path).probabilities(TEXTS, counted([]))
    assert sorted(second.asked) == ["?", "abcd"]
    np.testing.assert_array_equal(values, [expected(text) for text in TEXTS])
    third = Lengths(version="1")
    again = kept(third, tmp_path).probabilities(TEXTS, counted([]))
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
        kept(stopped, tmp_path).probabilities(TEXTS, counted([]))
    other = Lengths()
    kept(other, tmp_path).probabilities(TEXTS, counted([]))
    assert len(stopped.asked) == 2
    assert sorted(stopped.asked + other.asked) == ["?", "a", "abc", "abcd"]
