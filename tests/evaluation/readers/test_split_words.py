"""Words of texts, and weighted means over them, with a plain version beside."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.readers.words import collect, entry_of, split_words, weighted_means


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("He said, SHE said.", ["he", "said", "she", "said"]),
        ("he's she\u2019s", ["he's", "she", "s"]),
        ("women's 'men' o'clock's'", ["women's", "men", "o'clock's"]),
        ("his/her, man-made_his", ["his", "her", "man", "made", "his"]),
        ("wider.He went\u2014she", ["wider", "he", "went", "she"]),
        ("cr\u00eape 3rd \u00c9lan", ["cr\u00eape", "3rd", "\u00e9lan"]),
        (" .,'' ", []),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize(("word", "found"), [("doff", 0), ("doff's", 0), ("it's", 1), ("it", None), ("doffs", None)])
def test_a_word_is_found_without_its_possessive_ending(word: str, found: int | None) -> None:
    assert entry_of(word, {"doff": 0, "it's": 1}) == found


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


def test_a_mean_by_hand() -> None:
    # (0.5^2 + 0.5^2 - 0.2^2) / (0.5 + 0.5 + 0.2)
    assert weighted_means(collect([[0, 0, 1], []]), np.array([0.5, -0.2]))[0] == pytest.approx(0.46 / 1.2)
