"""Scores as arrays over templates, descriptors and nouns, one axis at a time; columns of text as whole numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats, Int32s, Ints, Numbers
from holisticbias_eval.errors import SelectionError


def codes_of(column: pa.ChunkedArray) -> tuple[list[str], Int32s]:
    """The distinct texts of a column in order of appearance, and which of them each row has: shape ``[rows]``.

    A dictionary column is not decoded. Raises ``ArrowInvalid`` if a text is null.
    """
    if pa.types.is_dictionary(column.type) and not column.null_count:
        whole = column.unify_dictionaries().combine_chunks()
        names = pc.dictionary_encode(whole.dictionary.cast(pa.string()))  # equal texts get one number
        used = pc.dictionary_encode(names.indices.take(whole.indices))
        return names.dictionary.take(used.dictionary).to_pylist(), used.indices.to_numpy().astype(np.int32)
    encoded = pc.dictionary_encode(column.cast(pa.string())).combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int32)


def is_text(column: pa.ChunkedArray, text: str) -> Bools:
    """Whether each row has this text; a dictionary column is not decoded. Raises ``ArrowInvalid`` if one is null."""
    texts, codes = codes_of(column)
    return codes == (texts.index(text) if text in texts else len(texts))


def first_rows(codes: Int32s) -> Ints:
    """The first row with each code, for codes in order of appearance."""
    return np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))


def codes_of_numbers(values: Ints) -> tuple[list[int], Int32s]:
    """The distinct numbers in order of appearance, and which of them each row has: shape ``[rows]``."""
    encoded = pc.dictionary_encode(pa.array(values))
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()


Compared = Literal["perplexity", "nll"]
CONTROLS = ("nll", "tokens", "phrase_nll")
"""Nats and scored tokens of each sentence, and nats of its noun phrase alone."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The sentences of one axis in one template: arrays of shape ``[descriptors, nouns]``, NaN if there is no value.

    An array is made when it is asked for: those of all cells at once take as much memory as the scores.

    ``stance`` is the template that this one paraphrases, or itself. ``rows`` are the rows of ``scores``, and ``slots``
    the place of each in an array of ``columns`` columns: the row times ``columns``, plus the column.
    ``scores`` are the columns of all rows, shape ``[rows]`` each: ``values``, those of the column ``value``, which are
    compared, and ``CONTROLS``, if there are any.
    """

    axis: str
    template: str
    stance: str
    descriptors: tuple[str, ...]
    columns: int
    rows: Int32s | slice
    slots: Int32s
    value: Compared
    scores: Mapping[str, Numbers]

    @property
    def values(self) -> Floats:
        """The values that are compared by rank."""
        return self._spread(self.scores["values"])

    @property
    def nats(self) -> Floats:
        """The values as nats, whose differences have a size; NaN if infinite.

        That is the logarithm of a perplexity (nats per token), and a negative log-likelihood unchanged.
        """
        if self.value == "nll":
            return finite(self.values)
        with np.errstate(divide="ignore", invalid="ignore"):
            return finite(np.log(self.values))

    def control(self, name: str) -> Floats | None:
        """The values of one of ``CONTROLS``; ``None`` if the scores do not have it."""
        column = self.scores.get(name)
        return None if column is None else self._spread(column)

    def _spread(self, column: Numbers) -> Floats:
        spread = np.full(len(self.descriptors) * self.columns, np.nan)
        spread[self.slots] = column[self.rows]
        return spread.reshape(-1, self.columns)


@dataclass(frozen=True, slots=True)
class Crossing:
    """All cells of scored sentences, axis by axis.

    Every cell has the same nouns as columns, unless ``repeated`` says where a
    noun occurs twice with one descriptor: columns of that cell then have no
    meaning, and nothing can be paired or resampled by noun.
    """

    axes: tuple[str, ...]
    templates: tuple[str, ...]
    stances: tuple[str, ...]
    nouns: tuple[str, ...]
    cells: tuple[Cell, ...]
    repeated: str | None = None

    def with_scores(self, scores: pa.Table, value: Compared = "perplexity") -> "Crossing":
        """The same sentences in the same rows, with other scores."""
        other = _scores(scores, value)
        return replace(self, cells=tuple(replace(cell, value=value, scores=other) for cell in self.cells))


def finite(values: Floats) -> Floats:
    """Replace infinite values by NaN."""
    return np.where(np.isfinite(values), values, np.nan)


def compared_values(scores: pa.Table, value: Compared) -> Floats:
    """The column to compare, NaN if no token was scored: shape ``[rows]``.

    Raises ``SelectionError`` if there is no such column.
    """
    if value not in scores.column_names:
        raise SelectionError(f"the scores have no column {value}")
    perplexity = floats(scores["perplexity"])
    return perplexity if value == "perplexity" else np.where(np.isnan(perplexity), np.nan, floats(scores[value]))


def cross(scores: pa.Table, value: Compared = "perplexity") -> Crossing:
    """Arrange the scores by axis, template, descriptor and noun.

    ``scores`` has the columns ``axis, template, descriptor_id, noun_id,
    perplexity`` and may have ``nll, tokens, phrase_nll``, and ``template_id,
    paraphrase_of``, which say which templates are wordings of one stance.
    ``value`` is the column that is compared.
    """
    axes, axis = codes_of(scores["axis"])
    templates, template = codes_of(scores["template"])
    stance_of = _stances(scores, template)
    axis *= np.int32(len(templates))
    axis += template
    groups = _rows_by_key(axis)
    del axis, template
    nouns, noun = codes_of(scores["noun_id"])
    names, descriptor = _sorted(*codes_of(scores["descriptor_id"]))
    columns = _scores(scores, value)
    cells = []
    repeated = None
    for key, rows in groups:
        a, t = divmod(key, len(templates))
        own, place = _numbered(descriptor[rows], len(names))
        column, width = noun[rows], len(nouns)
        if _repeats(place * np.int32(width) + column, len(own) * width):
            repeated = repeated or f"axis {axes[a]}, template {templates[t]!r}: a noun occurs twice with one descriptor"
            column = occurrences(place)
            width = int(column.max()) + 1
        descriptors = tuple(names[d] for d in own)
        slots = place * np.int32(width) + column
        cells.append(Cell(axes[a], templates[t], stance_of[t], descriptors, width, rows, slots, value, columns))
    stances = tuple(dict.fromkeys(stance_of))
    return Crossing(tuple(axes), tuple(templates), stances, tuple(nouns), tuple(cells), repeated)


def _scores(scores: pa.Table, value: Compared) -> Mapping[str, Numbers]:
    controls = {name: _numbers(scores[name]) for name in CONTROLS if name in scores.column_names}
    return {"values": compared_values(scores, value), **controls}


def encode(column: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """The distinct texts of a column in order of appearance, and which of them each row has: shape ``[rows]``."""
    texts, codes = codes_of(column)
    return texts, codes.astype(np.int64)


def _stances(scores: pa.Table, template: Int32s) -> list[str]:
    """The stance of each template, in the order of the templates."""
    if "paraphrase_of" not in scores.column_names:
        return [str(i) for i in range(int(template.max(initial=-1)) + 1)]
    rows = scores.select(["template_id", "paraphrase_of"]).take(pa.array(first_rows(template))).to_pylist()
    return [row["paraphrase_of"] or row["template_id"] for row in rows]


def _sorted(names: list[str], codes: Int32s) -> tuple[list[str], Int32s]:
    """Sort the names, so that a pair is in the same order in every cell."""
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    return [names[i] for i in order], place[codes]


def floats(column: pa.ChunkedArray) -> Floats:
    """The numbers of a column, NaN if missing."""
    return column.cast(pa.float64()).to_numpy()


def _numbers(column: pa.ChunkedArray) -> Numbers:
    """The numbers of a column, NaN if missing; whole numbers without a missing one stay so, which takes less memory."""
    return column.to_numpy() if pa.types.is_integer(column.type) else floats(column)


def _rows_by_key(key: Int32s) -> list[tuple[int, Int32s | slice]]:
    """The rows with each key, in the order of the keys; a slice if they are consecutive."""
    order = np.argsort(key, kind="stable").astype(np.int32)
    ordered = key[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    ends = np.append(starts[1:], len(order))
    bounds = zip(ordered[starts].tolist(), starts.tolist(), ends.tolist(), strict=True)
    return [(k, _consecutive(order[start:end])) for k, start, end in bounds]


def _consecutive(rows: Int32s) -> Int32s | slice:
    """Rows in ascending order, as a slice if none is left out."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


def _numbered(codes: Int32s, size: int) -> tuple[list[int], Int32s]:
    """The codes that occur, in order, and the place of each row's code among them; codes are below ``size``."""
    occurs = np.zeros(size, np.bool_)
    occurs[codes] = True
    places = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(occurs).tolist(), places[codes]


def _repeats(slots: Int32s, size: int) -> bool:
    """Whether any slot occurs twice."""
    taken = np.zeros(size, np.bool_)
    taken[slots] = True
    return int(taken.sum()) < len(slots)


def occurrences(place: Int32s | Ints) -> Int32s:
    """Count the earlier rows with the same number: shape ``[rows]``."""
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place)
    found = np.empty(len(order), np.int32)
    found[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return found
