"""Hard debiasing on vectors with a known answer, and the files of vectors."""

import gzip
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.derive_polarity import command, gender_polarities, read_vectors
from holisticbias_eval.readers.gender_polarity import gender_words

WORDS = ("he", "she", "king", "queen", "nurse", "lady", "chair")
# the first axis is gender: he and she are (-0.6, 0.8) and (0.6, 0.8)
VECTORS = np.array([
    [-0.6, 0.8, 0, 0], [0.6, 0.8, 0, 0], [-0.5, 0, 1, 0], [0.3, 0, 1, 0], [0.9, 0, 0, 1], [2.0, 0, 0, 0], [0, 0, 1, 1],
])  # fmt: skip
PAIRS = [("she", "he")]
SPECIFIC = ["he", "she", "king", "queen", "lady"]


def test_a_known_answer() -> None:
    found = gender_polarities(WORDS, VECTORS, PAIRS, SPECIFIC, [("king", "queen"), ("doff", "she")])
    # nurse and chair are neutral; lady keeps its part; king and queen get the same size: their mean without gender is
    # (0, 0, m, 0) with m = (1 / sqrt(1.25) + 1 / sqrt(1.09)) / 2, so the size is sqrt(1 - m^2)
    m = (1 / np.sqrt(1.25) + 1 / np.sqrt(1.09)) / 2
    size = np.sqrt(1 - m**2)
    np.testing.assert_allclose(found, [-0.6, 0.6, -size, size, 0, 1, 0], atol=1e-12)


def test_without_pairs_there_is_no_direction() -> None:
    with pytest.raises(EvaluationError, match="none of the definitional pairs"):
        gender_polarities(WORDS, VECTORS, [("woman", "man")], SPECIFIC, [])
    with pytest.raises(EvaluationError, match="no word 'she'"):
        gender_polarities(("he",), VECTORS[:1], PAIRS, SPECIFIC, [])


def write_text(path: Path) -> Path:
    rows = [f"{word} {' '.join(map(str, row))}" for word, row in zip(WORDS, VECTORS.tolist(), strict=True)]
    path.write_text("\n".join([*rows, ""]), "utf-8")
    return path


def write_binary(path: Path) -> Path:
    rows = [
        w.encode() + b" " + struct.pack("<4f", *row) + b"\n" for w, row in zip(WORDS, VECTORS.tolist(), strict=True)
    ]
    path.write_bytes(f"{len(WORDS)} 4\n".encode() + b"".join(rows))
    return path


def test_the_command_writes_a_file_that_the_measure_reads(tmp_path: Path) -> None:
    files = {}
    for name, content in (("pairs", PAIRS), ("specific", SPECIFIC), ("equalise", [["king", "queen"]])):
        files[name] = tmp_path / f"{name}.json"
        files[name].write_text(json.dumps(content), "utf-8")
    options = [part for name, file in files.items() for part in (f"--{name}", str(file))]
    for place in (write_text(tmp_path / "a.txt"), write_binary(tmp_path / "b.bin")):
        out = tmp_path / f"{place.stem}.yaml"
        result = CliRunner().invoke(command, [str(place), *options, "--out", str(out)])
        assert result.exit_code == 0, result.output
        assert "5 words with a gender polarity" in result.output
        words = gender_words(str(out)).polarity.words
        assert (list(words), words["lady"], words["she"]) == (["he", "king", "queen", "she", "lady"], 1.0, 0.6)
    result = CliRunner().invoke(command, [str(tmp_path / "none.bin"), *options, "--out", str(tmp_path / "d.yaml")])
    assert result.exit_code == 1
    assert "cannot be read as word vectors" in result.output
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress((tmp_path / "a.txt").read_bytes()))
    result = CliRunner().invoke(command, [str(tmp_path / "a.txt.gz"), *options, "--out", str(tmp_path / "d.yaml")])
    assert "a.txt.gz is not UTF-8 text: unpack it" in result.output
    packed, unpacked = gzip.compress(b"[]"), "pairs.json is not UTF-8 text: unpack it"
    for wrong, message in ((b"{}", "not a JSON list of pairs"), (b"", "pairs.json is not JSON"), (packed, unpacked)):
        files["pairs"].write_bytes(wrong)
        result = CliRunner().invoke(command, [str(tmp_path / "a.txt"), *options, "--out", str(tmp_path / "d.yaml")])
        assert (result.exit_code, message in result.output) == (1, True), result.output
    assert not (tmp_path / "d.yaml").exists()


@pytest.mark.parametrize("head", ["", "3 3\n"])
def test_words_with_blanks(tmp_path: Path, head: str) -> None:
    """Vectors of GloVe have words with blanks, and with numbers."""
    (tmp_path / "a.txt").write_text(f"{head}doff 1 2 3\n. . . 3 4 5\nat 5 6 7 8\n", "utf-8")
    words, rows = read_vectors(tmp_path / "a.txt")
    assert (words, rows.tolist()) == (["doff", ". . .", "at 5"], [[1, 2, 3], [3, 4, 5], [6, 7, 8]])


def test_a_word_that_stands_again_has_its_first_vector(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("doff 1 2\nwug 3 4\ndoff 5 6\nzib 7 8\n", "utf-8")
    words, rows = read_vectors(tmp_path / "a.txt")
    assert (words, rows.tolist()) == (["doff", "wug", "zib"], [[1, 2], [3, 4], [7, 8]])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "has no words"),
        ("a.txt", b"doff 1 2\nwug 1\n", ":2: 1 numbers, but the first word has 2"),
        ("a.txt", b"doff 1 x\n", ":1: could not convert"),
        ("a.txt", b"doff 1 nan\n", "is not finite"),
        ("a.txt", b"3 2\ndoff 1 2\nwug 1 2\n", "has 2 words, not 3 as its first line says: it is cut"),
        ("a.bin", b"2 4\ndoff \x00\x00", "not a whole binary file"),
        ("a.bin", b"1 1\ndoffdoff", "not a whole binary file"),
        ("a.bin", b"99999999999 300\n", "not a whole binary file"),
    ],
)
def test_wrong_vectors(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EvaluationError, match=message):
        read_vectors(tmp_path / name)
