"""Read lexicons of psycholinguistic norms: files of Warriner et al., of NRC VAD, of EmoMap, or with all eight norms."""

import csv
import hashlib
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from holisticbias_eval.arrays import Bools, Floats
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.words import is_number
from holisticbias_eval.tables.content import content_text, read_content
from holisticbias_eval.tables.csv_files import read_header
from holisticbias_eval.tables.fields import MISSING

AFFECT = ("valence", "arousal", "dominance")
EMOTIONS = ("joy", "anger", "sadness", "fear", "disgust")
NORMS = (*AFFECT, *EMOTIONS)


@dataclass(frozen=True)
class NormLexicon:
    """Words in lower case and their norms, scaled as in the paper: a column per norm, NaN if missing."""

    words: Mapping[str, int]
    norms: tuple[str, ...]
    values: Floats
    signature: Mapping[str, str]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The words, in the order of the rows of ``values``."""
        return tuple(self.words)


def read_lexicons(paths: Sequence[Path]) -> NormLexicon:
    """Read one or more files of norms as one lexicon; raises ``EvaluationError`` if two files have the same norm."""
    lexicons = [read_lexicon(path) for path in paths]
    norms: dict[str, Path] = {}
    for path, lexicon in zip(paths, lexicons, strict=True):
        for norm in lexicon.norms:
            if norm in norms:
                raise EvaluationError(f"{norms[norm]} and {path} both have {norm}: give one file for each norm")
            norms[norm] = path
    distinct = dict.fromkeys(word for lexicon in lexicons for word in lexicon.words)
    words = {word: number for number, word in enumerate(distinct)}
    values = {norm: np.full(len(words), np.nan) for norm in NORMS if norm in norms}
    for lexicon in lexicons:
        rows = [words[word] for word in lexicon.words]
        for norm, column in zip(lexicon.norms, lexicon.values.T, strict=True):
            values[norm][rows] = column
    signature = {name: digest for lexicon in lexicons for name, digest in lexicon.signature.items()}
    return NormLexicon(words, tuple(values), np.stack(list(values.values()), axis=1), signature)


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of norms: its ends, and the neutral value and the step that bring it to that of the paper.

    A scaled value is ``(value - neutral) / step``: from -1 to 1 for valence, arousal and dominance, and from 0 to 1
    for emotions, with 0 for neutral. Values may lie outside by ``slack``.
    """

    least: float
    most: float
    neutral: float
    step: float
    slack: float = 0.0

    def outside(self, numbers: Floats) -> Bools:
        """Whether each number is outside; missing numbers are not."""
        return (numbers < self.least - self.slack) | (numbers > self.most + self.slack)


_RATING = Scale(1, 9, 5, 4)
_SHARE = Scale(0, 1, 0.5, 0.5)
_SIGNED = Scale(-1, 1, 0, 1)
_EMOTION = Scale(1, 5, 1, 4, slack=0.5)  # EmoMap's values are predictions, a few of which lie outside
_UNIT = Scale(0, 1, 0, 1)
_WORD = ("word", "term")
_WARRINER = {"valence": "v.mean.sum", "arousal": "a.mean.sum", "dominance": "d.mean.sum"}
_KINDS = (_WARRINER, {norm: norm for norm in AFFECT}, {norm: norm for norm in EMOTIONS})
_NRC_VAD = ["word", *AFFECT]
_LARGEST = 1 << 30
_NEGATIVE = 0.1
"""A scale has negative values if at least this share of its values is negative."""


def read_lexicon(path: Path) -> NormLexicon:
    """Read a lexicon of norms; the columns and values say which format it has.

    - Warriner et al. 2013, comma-separated: ``Word, V.Mean.Sum, A.Mean.Sum, D.Mean.Sum`` from 1 to 9;
    - NRC VAD, tab-separated: ``Word`` or ``term``, ``valence, arousal, dominance`` from 0 to 1 (version 1), from -1 to
      1 (version 2), or from 1 to 9; with or without the first line;
    - EmoMap, tab-separated: ``Word, Joy, Anger, Sadness, Fear, Disgust`` from 1 to 5;
    - all eight norms, as the lexicon of Dhamala et al. 2021, each on one of these scales, or emotions from 0 to 1.

    Other columns are not read. Words are compared in lower case: of words that differ in case only, the one in lower
    case counts, or else the first. A number may be missing, as in tables. Raises ``EvaluationError``, a line
    that says what to change.
    """
    text = _text(path)
    header, rows = _table(path, text)
    columns = _columns(path, header)
    words, numbers = _rows(path, rows, header, columns)
    norms = tuple(norm for norm in columns if norm in NORMS)
    values = np.empty_like(numbers)
    for group in (AFFECT, EMOTIONS):
        places = [place for place, norm in enumerate(norms) if norm in group]
        if places:
            own = numbers[:, places]
            scale = _affect_scale(header, own) if group is AFFECT else _fitting(own, _EMOTION, _UNIT)
            _refuse_outside(path, list(words.values()), [norms[place] for place in places], own, scale)
            values[:, places] = (own - scale.neutral) / scale.step
    chosen = _chosen(list(words))
    signature = {f"norms {', '.join(norms)}": hashlib.sha256(text.encode()).hexdigest()}
    numbered = {word: number for number, word in enumerate(chosen)}
    return NormLexicon(numbered, norms, values[list(chosen.values())], signature)


def _text(path: Path) -> str:
    if not path.is_file():
        raise EvaluationError(f"there is no file of norms {path}")
    if path.stat().st_size > _LARGEST:
        raise EvaluationError(f"{path} is larger than 1 GiB: it is not a lexicon of norms")
    return content_text(path, read_content(path))


def _table(path: Path, text: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of the columns in lower case, and the rows with their numbers of lines."""
    start, lines = text.partition("\n")[0].lower(), io.StringIO(text, newline="")
    if "\t" in start:
        reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines, delimiter=read_header(start, (*_WORD, *NORMS, *_WARRINER.values()))[0])

    def rows() -> Iterator[tuple[int, list[str]]]:
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield reader.line_num, row
        except csv.Error as error:
            raise EvaluationError(f"{path}:{reader.line_num}: {error}") from error

    found = rows()
    line, header = next(found, (1, []))
    if len(header) == len(_NRC_VAD) and all(map(_is_number, header[1:])):
        first = [(line, header)]
        return list(_NRC_VAD), iter([*first, *found])
    return [name.strip().lower() for name in header], found


def _is_number(cell: str) -> bool:
    return is_number(cell) and math.isfinite(float(cell))


def _columns(path: Path, header: Sequence[str]) -> dict[str, int]:
    """The place of the word, under ``word``, and of each norm."""
    word = next((name for name in _WORD if name in header), None)
    whole = [kind for kind in _KINDS if all(name in header for name in kind.values())]
    norms = {norm: name for kind in reversed(whole) for norm, name in kind.items()}
    if word is None or not norms:
        found = ", ".join(repr(name[:40]) for name in header[:8]) or "nothing"
        raise EvaluationError(
            f"{path} is not a lexicon of norms: its first line needs Word and V.Mean.Sum, A.Mean.Sum, D.Mean.Sum, or "
            f"valence, arousal, dominance, or joy, anger, sadness, fear, disgust; it has {found}"
        )
    for norm in NORMS:
        if norm in header and norm not in norms:
            missing = next(name for kind in _KINDS if norm in kind for name in kind if name not in header)
            raise EvaluationError(f"{path}:1: there is a column {norm} but no column {missing}: add it, or remove both")
    for name in (word, *norms.values()):
        if header.count(name) > 1:
            raise EvaluationError(f"{path}:1: the column {name} stands twice: keep one")
    return {"word": header.index(word), **{norm: header.index(norms[norm]) for norm in NORMS if norm in norms}}


def _rows(
    path: Path, rows: Iterator[tuple[int, list[str]]], header: Sequence[str], columns: Mapping[str, int]
) -> tuple[dict[str, int], Floats]:
    """The line of each word, and its numbers."""
    lines: dict[str, int] = {}
    numbers: list[list[float]] = []
    for line, row in rows:
        if len(row) != len(header):
            raise EvaluationError(f"{path}:{line}: {len(row)} columns, but the first line has {len(header)}")
        word = row[columns["word"]].strip()
        if not word:
            raise EvaluationError(f"{path}:{line}: the word is missing")
        if word in lines:
            raise EvaluationError(f"{path}:{line}: {word[:40]!r} is in line {lines[word]} too: keep one")
        lines[word] = line
        numbers.append([_number(path, line, norm, row[place]) for norm, place in columns.items() if norm != "word"])
    if not lines:
        raise EvaluationError(f"{path} has no words")
    return lines, np.array(numbers, np.float64)


def _number(path: Path, line: int, norm: str, cell: str) -> float:
    cell = cell.strip().replace(",", ".")  # a decimal comma: no norm reaches 1,000
    if cell.lower() in MISSING:
        return math.nan
    if not _is_number(cell):
        raise EvaluationError(f"{path}:{line}: {norm} is not a number but {cell[:40]!r}")
    return float(cell)


def _affect_scale(header: Sequence[str], numbers: Floats) -> Scale:
    """The scale of valence, arousal and dominance, from the columns of a file and its values.

    Without the column ``term``, which NRC VAD has since version 2, a few negative values count as mistakes.
    """
    if _WARRINER["valence"] in header:
        return _RATING
    is_signed = "term" in header or (numbers < 0).sum() >= _NEGATIVE * max(1, (~np.isnan(numbers)).sum())
    return _fitting(numbers, _SIGNED if is_signed else _SHARE, _RATING)


def _fitting(numbers: Floats, *scales: Scale) -> Scale:
    """The scale with the fewest values outside, the first if several are equal."""
    return min(scales, key=lambda scale: scale.outside(numbers).sum())


def _refuse_outside(path: Path, lines: Sequence[int], norms: Sequence[str], numbers: Floats, scale: Scale) -> None:
    """Raise ``EvaluationError`` for a value outside its scale, with the ends of all: the scale may be the mistake."""
    outside = scale.outside(numbers)
    if outside.any():
        row, place = np.argwhere(outside)[0]
        low, high = (int(find(numbers)) for find in (np.nanargmin, np.nanargmax))
        ends = (f"{numbers.flat[end]:g} (line {lines[end // len(norms)]})" for end in (low, high))
        raise EvaluationError(
            f"{path}:{lines[row]}: {norms[place]} has the value {numbers[row, place]:g} on a scale from "
            f"{scale.least:g} to {scale.most:g}: correct it or remove the word; the values go from {' to '.join(ends)}"
        )


def _chosen(names: Sequence[str]) -> dict[str, int]:
    """The row of each word in lower case."""
    chosen: dict[str, int] = {}
    for row, name in enumerate(names):
        if name == name.lower() or name.lower() not in chosen:
            chosen[name.lower()] = row
    return chosen
