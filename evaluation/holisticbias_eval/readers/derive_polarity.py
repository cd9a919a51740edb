"""Rebuild the gender polarity of words from word vectors.

``python -m holisticbias_eval.readers.derive_polarity VECTORS --pairs FILE --specific FILE --equalise FILE --out FILE``
"""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import yaml

from holisticbias.errors import HolisticBiasError
from holisticbias.output import new_file
from holisticbias.terminal import write
from holisticbias_eval.arrays import Bools, Floats
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.words import WORD_PATTERN, Polarity, is_number
from holisticbias_eval.tables.rows import read_json

Pairs = Sequence[tuple[str, str]]
Vectors = npt.NDArray[np.float32]
_LONGEST = 1000  # bytes of a word
_BINARY = ".bin"
_PLACES = 4
_SMALLEST = 5e-6  # polarities below this are rounding errors of neutral words
_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("vectors", type=_FILE)
@click.option("--pairs", type=_FILE, required=True, help="Definitional pairs: definitional_pairs.json of debiaswe.")
@click.option("--specific", type=_FILE, required=True, help="Words with a gender: gender_specific_full.json.")
@click.option("--equalise", type=_FILE, required=True, help="Pairs to equalise: equalize_pairs.json.")
@click.option("--out", type=_FILE, required=True, help="YAML file to write, for --polarity.")
def command(vectors: Path, pairs: Path, specific: Path, equalise: Path, out: Path) -> None:
    """Write the words of VECTORS whose gender polarity is not 0 after hard debiasing.

    VECTORS are in the text or binary format of word2vec; the other files are JSON lists as in debiaswe.
    """
    try:
        found = derive(vectors, pairs, specific, equalise, out.stem.lower())
        content = yaml.safe_dump(found.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=120)
        with new_file(out) as made:
            made.write_text(content, "utf-8")
    except HolisticBiasError as error:
        raise click.ClickException(str(error)) from error
    write(f"{len(found.words):,} words with a gender polarity; wrote {out}")


def derive(vectors: Path, pairs: Path, specific: Path, equalise: Path, name: str) -> Polarity:
    """The polarities of the words in a file of vectors, as a file of ``evaluation/polarity/``; male words first.

    Words that no text can contain, as of other characters than a to z, are left out. Raises ``EvaluationError``.
    """
    words, rows = read_vectors(vectors)
    kept = _json(specific, "words", lambda word: isinstance(word, str))
    values = gender_polarities(words, rows.astype(np.float64), _pairs(pairs), kept, _pairs(equalise))
    found = {w: v for w, v in zip(words, values.tolist(), strict=True) if abs(v) > _SMALLEST and WORD_PATTERN.match(w)}
    if not found:
        raise EvaluationError(f"no word of {vectors} has a gender polarity")
    return Polarity(
        id="".join(c if c.isascii() and c.isalnum() else "-" for c in name).strip("-") or "polarity",
        title="Words that keep a gender polarity after hard debiasing",
        licence="that of the vectors",
        source=(
            f"Cosine with she - he (Dhamala et al. 2021, section 4.5) after hard debiasing (Bolukbasi et al. 2016) of "
            f"the {len(words):,} words of {vectors.name}"
        ),
        words={word: round(value, _PLACES) for word, value in sorted(found.items(), key=lambda item: item[1])},
    )


def _pairs(path: Path) -> Pairs:
    found = _json(path, "pairs of words", lambda pair: isinstance(pair, list) and [*map(type, pair)] == [str, str])
    return [(first.lower(), second.lower()) for first, second in found]


def _json(path: Path, what: str, fits: Callable[[Any], bool]) -> list[Any]:
    """A JSON list, all of whose entries fit."""
    found = read_json(path, EvaluationError, f"name a JSON list of {what}")
    if not isinstance(found, list) or not all(map(fits, found)):
        raise EvaluationError(f"{path} is not a JSON list of {what}")
    return found


def read_vectors(path: Path) -> tuple[list[str], Vectors]:
    """The words of a file and their vectors, shape ``[words, dimensions]``.

    A file that ends in .bin is binary: a line with the numbers of words and dimensions, then for each word its
    bytes, a blank and 32-bit numbers. Any other file is text: a word and its numbers per line, with or without a
    first line. A word that stands again, as in published vectors, has its first vector. Raises ``EvaluationError``.
    """
    try:
        found = _binary(path) if path.suffix == _BINARY else _text(path)
    except UnicodeDecodeError as error:
        raise EvaluationError(f"{path} is not UTF-8 text: unpack it, or save it in UTF-8") from error
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read as word vectors: {error}") from error
    words, vectors = found
    if not np.isfinite(vectors).all():
        raise EvaluationError(f"{path}: a vector has a number that is not finite")
    first = dict(zip(reversed(words), reversed(range(len(words))), strict=True))
    if len(first) == len(words):
        return words, vectors
    rows = sorted(first.values())
    return [words[row] for row in rows], vectors[rows]


def _text(path: Path) -> tuple[list[str], Vectors]:
    """A word may have blanks, as in vectors of GloVe: the last blanks of a line are those before its numbers."""
    words: list[str] = []
    rows: list[Vectors] = []
    size, declared = 0, ""
    with path.open(encoding="utf-8-sig", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            parts = line.rstrip().split(" ")
            if number == 1 and len(parts) == 2:
                declared = parts[0]
                continue
            size = size or _numbers(parts)
            if len(parts) <= size or not size:
                raise EvaluationError(
                    f"{path}:{number}: {len(parts) - 1} numbers, but the first word has {size or 'none'}"
                )
            try:
                rows.append(np.array(parts[-size:], np.float32))
            except ValueError as error:
                raise EvaluationError(f"{path}:{number}: {error}") from error
            words.append(" ".join(parts[:-size]))
    if not words:
        raise EvaluationError(f"{path} has no words")
    if declared.isdecimal() and len(words) < int(declared):
        raise EvaluationError(f"{path} has {len(words):,} words, not {declared} as its first line says: it is cut")
    return words, np.stack(rows)


def _numbers(parts: Sequence[str]) -> int:
    """How many parts of the first line are numbers, after a word; all but the first if the last one is not."""
    return sum(1 for _ in takewhile(is_number, reversed(parts[1:]))) or len(parts) - 1


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


def gender_polarities(
    words: Sequence[str], vectors: Floats, definitional: Pairs, specific: Collection[str], equalise: Pairs
) -> Floats:
    """The polarity of each word: the cosine of its debiased vector with she - he, below 0 for male.

    Only gender-specific words and equalised pairs keep a part along the gender direction, the first principal
    component of the definitional pairs. Neutral words lose theirs; the two words of an equalised pair become equal but
    for it. Pairs with a missing word are left out. Raises ``EvaluationError`` without a definitional pair.
    Sources: Bolukbasi et al. 2016, section 6, for debiasing; Dhamala et al. 2021, section 4.5, for the polarity.
    """
    place = {word: row for row, word in enumerate(words)}
    for word in ("she", "he"):
        if word not in place:
            raise EvaluationError(f"the vectors have no word {word!r}")
    units = _unit(np.asarray(vectors, np.float64))
    direction = gender_direction(place, units, definitional)
    kept = set(specific)
    neutral: Bools = np.array([word not in kept for word in words])
    units[neutral] -= np.outer(units[neutral] @ direction, direction)
    debiased = _unit(_equalised(_unit(units), place, direction, equalise))
    direction = debiased[place["she"]] - debiased[place["he"]]
    polarities: Floats = debiased @ direction / np.linalg.norm(direction)
    return polarities


def _equalised(units: Floats, place: Mapping[str, int], direction: Floats, equalise: Pairs) -> Floats:
    """The vectors, in which the two words of each pair are equal but for their part along the direction."""
    for pair in equalise:
        if all(word in place for word in pair):
            first, second = (place[word] for word in pair)
            middle = (units[first] + units[second]) / 2
            middle -= middle @ direction * direction
            height = np.sqrt(max(0.0, 1 - float(middle @ middle)))
            sign = 1.0 if (units[first] - units[second]) @ direction >= 0 else -1.0
            units[first] = middle + sign * height * direction
            units[second] = middle - sign * height * direction
    return units


def gender_direction(place: Mapping[str, int], units: Floats, definitional: Pairs) -> Floats:
    """The first principal component of the words of definitional pairs, each pair centred at its mean."""
    pairs = [(units[place[a]], units[place[b]]) for a, b in definitional if a in place and b in place]
    if not pairs:
        raise EvaluationError("the vectors have none of the definitional pairs")
    centred = np.concatenate([np.stack((a - b, b - a)) / 2 for a, b in pairs])
    _, _, components = np.linalg.svd(centred, full_matrices=False)
    direction: Floats = components[0]
    return direction


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units


if __name__ == "__main__":
    sys.exit(command())
