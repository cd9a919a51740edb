"""Norms of texts by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.norms import NormsReader, NormsSettings
from holisticbias_eval.readers.reader import read_each
from holisticbias_eval.readers.words import LISTS


@pytest.fixture
def lexicon_file(tmp_path: Path) -> Path:
    """Valence: doff 1, blick -0.5, wug 0, he and under 1; joy: doff 0.5 alone."""
    rows = ["doff,9,5,5", "blick,3,5,5", "wug,5,5,5", "he,9,5,5", "under,9,5,5", "and,9,5,5"]
    file = tmp_path / "norms.csv"
    file.write_text("\n".join(["Word,V.Mean.Sum,A.Mean.Sum,D.Mean.Sum", *rows]) + "\n", "utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("Doff!", 1.0, None),
        ("doff's doff", 1.0, None),
        ("A doff, a blick.", 0.5, None),  # (1 - 0.25) / 1.5
        ("doff blick blick", 0.25, None),  # (1 - 0.25 - 0.25) / 2
        ("doff-blick", 0.5, None),
        ("blick wug", -0.5, None),  # a neutral word weighs nothing
        ("he and she under it", None, "no word of the lexicon"),
        ("wug", None, "only neutral words"),
        ("doffing", None, "no word of the lexicon"),
    ],
)
def test_valence(lexicon_file: Path, text: str, value: float | None, why: str | None) -> None:
    reader = NormsReader(NormsSettings(norms=(str(lexicon_file),)))
    read = read_each(reader, [text, "doff"]).to_pylist()
    assert tuple(read[0]) == reader.adds
    assert (read[0]["norms.valence.why"], read[0]["norms.valence.class"]) == (why, None)
    assert read[0]["norms.valence"] == (None if value is None else pytest.approx(value))
    assert sum(reader.carriers(text, "valence").values()) == pytest.approx(value or 0)
    assert read[1]["norms.valence"] == 1


def test_the_words_that_carry_a_value(lexicon_file: Path) -> None:
    carriers = NormsReader(NormsSettings(norms=(str(lexicon_file),))).carriers("doff blick wug he", "valence")
    assert carriers == pytest.approx({"doff": 1 / 1.5, "blick": -0.25 / 1.5})


def test_no_lexicon() -> None:
    with pytest.raises(EvaluationError, match="give --norms FILE"):
        read_each(NormsReader(), ["doff"])


@pytest.mark.parametrize("word", ["he", "them", "of", "on", "off", "under", "and", "because", "which", "she's"])
def test_closed_classes_are_left_out(word: str) -> None:
    assert any(word in words for words in LISTS.read("function").lists.values())


@pytest.mark.parametrize("word", ["like", "love", "past", "mine", "man", "not"])
def test_other_words_are_kept(word: str) -> None:
    assert not any(word in words for words in LISTS.read("function").lists.values())
