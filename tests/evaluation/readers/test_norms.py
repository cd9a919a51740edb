"""Norms of texts by hand, and lexicons of norms: four formats, with invented words, and files that are wrong."""

from pathlib import Path

import numpy as np
import pytest

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.norm_files import read_lexicon, read_lexicons
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


def test_valence(lexicon_file: Path) -> None:
    values = {
        "Doff!": 1.0,
        "doff's doff": 1.0,
        "A doff, a blick.": 0.5,  # (1 - 0.25) / 1.5
        "blick wug": -0.5,  # a neutral word weighs nothing
        "he and she under it": None,
        "wug": None,
    }
    reader = NormsReader(NormsSettings(norms=(str(lexicon_file),)))
    read = read_each(reader, [*values])
    assert read["norms.valence.why"].to_pylist() == [*[None] * 4, "no word of the lexicon", "only neutral words"]
    assert read["norms.valence.class"].null_count == len(values)
    assert read["norms.valence"].to_pylist() == pytest.approx([*values.values()])
    carried = {text: sum(reader.carriers(text, "valence").values()) for text in values}
    assert carried == pytest.approx({text: value or 0 for text, value in values.items()})


def test_a_lexicon_that_has_changed_is_read_again(lexicon_file: Path) -> None:
    reader = NormsReader(NormsSettings(norms=(str(lexicon_file),)))
    before, signed = reader.carriers("doff", "valence"), reader.signed
    lexicon_file.write_text(lexicon_file.read_text("utf-8").replace("doff", "undoff"), "utf-8")
    assert before
    assert not reader.carriers("doff", "valence")
    assert reader.signed != signed


def test_closed_classes_are_left_out_and_other_words_kept() -> None:
    left_out = {word for words in LISTS.read("function").lists.values() for word in words}
    assert {"he", "them", "of", "on", "off", "under", "and", "because", "which", "she's"} <= left_out
    assert not {"like", "love", "past", "mine", "man", "not"} & left_out


# the forms of the real files: their first lines and further columns, with invented words
WARRINER = """,Word,V.Mean.Sum,V.SD.Sum,V.Rat.Sum,A.Mean.Sum,A.SD.Sum,A.Rat.Sum,D.Mean.Sum,D.SD.Sum,D.Rat.Sum
1,doff,6.26,2.21,19,2.41,1.4,22,4.27,1.75,15
2,Blick,9,1.1,20,1,1.2,20,5,2,20
3,null,1,1,20,3,1,20,NaN,1,20
4,"wug, dax",5,1,20,5,1,20,5,1,20
"""
NRC_1 = "Word\tValence\tArousal\tDominance\ndoff\t0.479\t0.606\t0.291\nblick\t1\t0\t0.5\n"
NRC_2 = "term\tvalence\tarousal\tdominance\ndoff\t-0.04\t0.21\t-0.42\nwug dax\t1.0\t0.0\t0.5\n"
EMOMAP = (
    "Word\tJoy\tAnger\tSadness\tFear\tDisgust\n"
    "doff\t2.8276000022888184\t1.2207000255584717\t1.0\t5.0\t0.8623999953269958\n"
)

ALL = "Word,Valence,Arousal,Dominance,Joy,Anger,Sadness,Fear,Disgust\ndoff,{},{}\n"
WITHOUT_AFFECT = "".join(f"dax{number},,,,0,0,0,0,0\n" for number in range(20))


def read(tmp_path: Path, text: str) -> dict[str, list[float]]:
    file = tmp_path / "norms.txt"
    file.write_text(text, "utf-8")
    lexicon = read_lexicon(file)
    return {word: np.round(lexicon.values[row], 4).tolist() for word, row in lexicon.words.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # (value - 5) / 4
        (WARRINER, {"doff": [0.315, -0.6475, -0.1825], "blick": [1, -1, 0], "wug, dax": [0, 0, 0]}),
        # 2 value - 1
        (NRC_1, {"doff": [-0.042, 0.212, -0.418], "blick": [1, -1, 0]}),
        (NRC_2, {"doff": [-0.04, 0.21, -0.42], "wug dax": [1, 0, 0.5]}),
        ("Word\tValence\tArousal\tDominance\ndoff\t9\t5\t1\n", {"doff": [1, 0, -1]}),
        ("term\tvalence\tarousal\tdominance\ndoff\t0.5\t0.5\t1\n", {"doff": [0.5, 0.5, 1]}),
        # (value - 1) / 4
        (EMOMAP, {"doff": [0.4569, 0.0552, 0, 1, -0.0344]}),
        ("\ufeffWord,Valence,Arousal,Dominance\r\ndoff,1,0,0\r\n\r\n", {"doff": [1, -1, -1]}),
        ("term\tvalence\tarousal\tdominance\nDoff\t1\t0\t0\ndoff\t0\t0\t0\nDOFF\t-1\t0\t0\n", {"doff": [0, 0, 0]}),
        ('term\tvalence\tarousal\tdominance\n"doff\t1\t0\t0\n', {'"doff': [1, 0, 0]}),
        # without the first line
        (NRC_1.split("\n", 1)[1], {"doff": [-0.042, 0.212, -0.418], "blick": [1, -1, 0]}),
        # all eight norms, each on its scale
        (ALL.format("1,0,-1", "1,0,0.25,0,0"), {"doff": [1, 0, -1, 1, 0, 0.25, 0, 0]}),
        (ALL.format("0.5,0,1", "5,1,1,1,1"), {"doff": [0, -1, 1, 1, 0, 0, 0, 0]}),
        (ALL.format("-0.5,-0.2,0.3", "1,0,0,0,0") + WITHOUT_AFFECT, {"doff": [-0.5, -0.2, 0.3, 1, 0, 0, 0, 0]}),
        ("Word;Valence;Arousal;Dominance\ndoff;0,5;1,0;0.75\n", {"doff": [0, 1, 0.5]}),
    ],
)
def test_formats(tmp_path: Path, text: str, expected: dict[str, list[float]]) -> None:
    found = read(tmp_path, text)
    assert {word: found[word] for word in expected} == expected


def test_a_missing_number_stays_missing_and_null_is_a_word(tmp_path: Path) -> None:
    valence, arousal, dominance = read(tmp_path, WARRINER)["null"]
    assert (valence, arousal) == (-1, -0.5)
    assert np.isnan(dominance)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has nothing"),
        ("Word,Valence,Arousal,Dominance\n", "has no words"),
        ("doff\t1\t0\tx\n", "it has 'doff', '1', '0', 'x'"),
        ("Word,Valence,Arousal,Dominance,Joy\ndoff,1,1,1,1\n", ":1: there is a column joy but no column anger"),
        (ALL.format("9,5,1", "1.5,0.2,1,1,1"), ":2: anger has the value 0.2 on a scale from 1 to 5"),
        ("Word,Valence,Arousal,Dominance\ndoff,0,inf,0\n", ":2: arousal is not a number but 'inf'"),
        ("Word,Valence,Arousal,Dominance\ndoff,0,0\n", ":2: 3 columns, but the first line has 4"),
        ("Word,Valence,Arousal,Dominance\ndoff,0,0,0\n,0,0,0\n", ":3: the word is missing"),
        ("Word,Valence,Arousal,Dominance\ndoff,0,0,0\ndax,0,0,0\ndoff,1,0,0\n", ":4: 'doff' is in line 2 too"),
        ("Word,Valence,Valence,Arousal,Dominance\ndoff,0,0,0,0\n", "the column valence stands twice"),
        ("Word,Valence,Arousal,Dominance\ndoff,10,0,0\n", ":2: valence has the value 10 on a scale from 0 to 1"),
        # one wrong value changes no scale
        (
            NRC_1.replace("0.479", "4.79"),
            ":2: valence has the value 4.79 on a scale from 0 to 1: correct it or remove "
            "the word; the values go from 0 (line 3) to 4.79 (line 2)",
        ),
        (f"{NRC_1}wug\t0.1\t-0.2\t0.3\ndax\t0.1\t0.2\t0.3\n", ":4: arousal has the value -0.2 on a scale from 0 to 1"),
        (ALL.format("0.5,0,1", "0.3,1.5,0,0,0"), ":2: anger has the value 1.5 on a scale from 0 to 1"),
        ("term,valence,arousal,dominance\ndoff,-1.5,0,0\n", "valence has the value -1.5 on a scale from -1 to 1"),
        (f"Word,Valence,Arousal,Dominance\n{'d' * 200_000},0,0,0\n", "field larger than field limit"),
    ],
)
def test_a_wrong_file_gets_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_of_bytes_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"Word\n\xff\xfe\x00")
    with pytest.raises(EvaluationError, match=r"a\.csv:2: it is not UTF-8 text: save it in UTF-8"):
        read_lexicon(tmp_path / "a.csv")
    with pytest.raises(EvaluationError, match="there is no file of norms"):
        read_lexicon(tmp_path)


def test_two_files_are_one_lexicon(tmp_path: Path) -> None:
    (tmp_path / "vad.tsv").write_text(NRC_2, "utf-8")
    (tmp_path / "be.tsv").write_text(EMOMAP.replace("doff", "dax"), "utf-8")
    lexicon = read_lexicons([tmp_path / "be.tsv", tmp_path / "vad.tsv"])
    assert lexicon.norms == ("valence", "arousal", "dominance", "joy", "anger", "sadness", "fear", "disgust")
    rows = {word: lexicon.values[row] for word, row in lexicon.words.items()}
    assert rows["doff"][:3].tolist() == [-0.04, 0.21, -0.42]
    assert np.isnan(rows["doff"][3:]).all()
    assert np.isnan(rows["dax"][:3]).all()
    assert rows["dax"][5:7].tolist() == [0, 1]
    assert len(lexicon.signature) == 2
    with pytest.raises(EvaluationError, match=r"both have valence: give one file for each norm"):
        read_lexicons([tmp_path / "vad.tsv", tmp_path / "vad.tsv"])
