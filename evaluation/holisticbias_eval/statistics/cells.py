"""Scores as arrays over templates, descriptors and nouns, one axis at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import SelectionError

Compared = Literal["perplexity", "nll"]
CONTROLS = ("nll", "tokens", "phrase_nll")


@dataclass(frozen=True, slots=True)
class Cell:
    """The sentences of one axis in one template: arrays of shape ``[descriptors, nouns]``, NaN if there is no value.

    ``values`` are compared by rank. ``nats`` are the same values as nats, whose
    differences have a size: the logarithm of a perplexity (nats per token), a
    negative log-likelihood unchanged; NaN if infinite. ``stance`` is the
    template that this one paraphrases, or itself. ``nll`` (nats per sentence),
    ``tokens`` and ``phrase_nll`` (nats of the noun phrase alone) are ``None`` if
    the scores do not have them.
    """

    axis: str
    template: str
    stance: str
    descriptors: tuple[str, ...]
    values: Floats
    nats: Floats
    nll: Floats | None = None
    tokens: Floats | None = None
    phrase_nll: Floats | None = None


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


def finite(values: Floats) -> Floats:
    """Replace infinite values by NaN."""
    return np.where(np.isfinite(values), values, np.nan)


def compared_values(scores: pa.Table, value: Compared) -> Floats:
    """The column to compare, NaN if no token was scored: shape ``[rows]``.

    Raises ``SelectionError`` if there is no such column.
    """
    if value not in scores.column_names:
        raise SelectionError(f"the scores have no column {value}")
    perplexity = _numbers(scores["perplexity"])
    return perplexity if value == "perplexity" else np.where(np.isnan(perplexity), np.nan, _numbers(scores[value]))


def cross(scores: pa.Table, value: Compared = "perplexity") -> Crossing:
    """Arrange the scores by axis, template, descriptor and noun.

    ``scores`` has the columns ``axis, template, descriptor_id, noun_id,
    perplexity`` and may have ``nll, tokens, phrase_nll``, and ``template_id,
    paraphrase_of``, which say which templates are wordings of one stance.
    ``value`` is the column that is compared.
    """
    axes, axis = encode(scores["axis"])
    templates, template = encode(scores["template"])
    stance_of = _stances(scores, template)
    nouns, noun = encode(scores["noun_id"])
    names, descriptor = _sorted(*encode(scores["descriptor_id"]))
    values = compared_values(scores, value)
    columns = {"values": values, "nats": _nats(values, value)}
    columns |= {name: _numbers(scores[name]) for name in CONTROLS if name in scores.column_names}
    cells = []
    repeated = None
    for a, t, rows in _rows_by_cell(axis, template, len(templates)):
        own, place = np.unique(descriptor[rows], return_inverse=True)
        column, width = noun[rows], len(nouns)
        if len(np.unique(place * len(nouns) + column)) < len(rows):
            repeated = repeated or f"axis {axes[a]}, template {templates[t]!r}: a noun occurs twice with one descriptor"
            column = _occurrences(place)
            width = int(column.max()) + 1
        arrays = {n: _spread(known[rows], place, column, (len(own), width)) for n, known in columns.items()}
        cells.append(Cell(axes[a], templates[t], stance_of[t], tuple(names[d] for d in own), **arrays))
    stances = tuple(dict.fromkeys(stance_of))
    return Crossing(tuple(axes), tuple(templates), stances, tuple(nouns), tuple(cells), repeated)


def encode(column: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """The distinct texts of a column in order of appearance, and which of them each row has: shape ``[rows]``."""
    encoded = pc.dictionary_encode(column.cast(pa.string())).combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def _nats(values: Floats, value: Compared) -> Floats:
    if value == "nll":
        return finite(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return finite(np.log(values))


def _stances(scores: pa.Table, template: Ints) -> list[str]:
    """The stance of each template, in the order of the templates."""
    if "paraphrase_of" not in scores.column_names:
        return [str(i) for i in range(int(template.max(initial=-1)) + 1)]
    _, first = np.unique(template, return_index=True)
    rows = scores.select(["template_id", "paraphrase_of"]).take(pa.array(first)).to_pylist()
    return [row["paraphrase_of"] or row["template_id"] for row in rows]


def _sorted(names: list[str], codes: Ints) -> tuple[list[str], Ints]:
    """Sort the names, so that a pair is in the same order in every cell."""
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return [names[i] for i in order], place[codes]


def _numbers(column: pa.ChunkedArray) -> Floats:
    numbers: Floats = column.cast(pa.float64()).to_numpy()
    return numbers


def _rows_by_cell(axis: Ints, template: Ints, templates: int) -> Iterator[tuple[int, int, Ints]]:
    key = axis * templates + template
    order = np.argsort(key, kind="stable")
    keys, starts = np.unique(key[order], return_index=True)
    for k, rows in zip(keys, np.split(order, starts[1:]), strict=True):
        yield int(k) // templates, int(k) % templates, rows


def _occurrences(place: Ints) -> Ints:
    """Count the earlier rows with the same descriptor: shape ``[rows]``."""
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place)
    found = np.empty_like(order)
    found[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return found


def _spread(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> Floats:
    spread = np.full(shape, np.nan)
    spread[row, column] = values
    return spread
