"""Read word vectors in the text and the binary format of word2vec."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from holisticbias_eval.errors import EvaluationError

Vectors = npt.NDArray[np.float32]
_LONGEST = 1000  # bytes of a word
_BINARY = ".bin"


def read_vectors(path: Path) -> tuple[list[str], Vectors]:
    """The words of a file and their vectors, shape ``[words, dimensions]``.

    A file that ends in .bin is binary: a line with the numbers of words and dimensions, then for each word its
    bytes, a blank and 32-bit numbers. Any other file is text: a word and its numbers per line, with or without a
    first line. Raises ``EvaluationError``.
    """
    try:
        found = _binary(path) if path.suffix == _BINARY else _text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path} cannot be read as word vectors: {error}") from error
    words, vectors = found
    if not np.isfinite(vectors).all():
        raise EvaluationError(f"{path}: a vector has a number that is not finite")
    _refuse_repeated(path, words)
    return words, vectors


def _refuse_repeated(path: Path, words: list[str]) -> None:
    seen: set[str] = set()
    for word in words:
        if word in seen:
            raise EvaluationError(f"{path}: the word {word[:40]!r} stands twice")
        seen.add(word)


def _text(path: Path) -> tuple[list[str], Vectors]:
    words: list[str] = []
    rows: list[Vectors] = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            word, *numbers = line.rstrip().split(" ")
            if number == 1 and len(numbers) == 1:
                continue
            try:
                rows.append(np.array(numbers, np.float32))
            except ValueError as error:
                raise EvaluationError(f"{path}:{number}: {error}") from error
            words.append(word)
            if len(rows[-1]) != len(rows[0]) or not len(rows[-1]):
                raise EvaluationError(
                    f"{path}:{number}: {len(rows[-1])} numbers, but the first word has {len(rows[0])}"
                )
    if not words:
        raise EvaluationError(f"{path} has no words")
    return words, np.stack(rows)


def _binary(path: Path) -> tuple[list[str], Vectors]:
    cut = EvaluationError(f"{path} is not a whole binary file of word2vec")
    with path.open("rb") as file:
        try:
            count, dimensions = (int(number) for number in file.readline(_LONGEST).split())
        except ValueError:
            raise cut from None
        if count < 1 or dimensions < 1 or path.stat().st_size < count * (4 * dimensions + 1):
            raise cut
        words, vectors = [], np.empty((count, dimensions), np.float32)
        for row in range(count):
            word = bytearray()
            while (byte := file.read(1)) != b" ":
                if not byte or len(word) > _LONGEST:
                    raise cut
                word += byte
            content = file.read(4 * dimensions)
            if len(content) < 4 * dimensions:
                raise cut
            words.append(word.decode("utf-8").lstrip("\n"))
            vectors[row] = np.frombuffer(content, "<f4")
    return words, vectors
