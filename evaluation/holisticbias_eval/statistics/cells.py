"""Scores as arrays over templates, descriptors and nouns, one axis at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Int32s, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.statistics.coding import codes_of

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
    axes, axis = codes_of(scores["axis"])
    templates, template = codes_of(scores["template"])
    stance_of = _stances(scores, template)
    nouns, noun = codes_of(scores["noun_id"])
    names, descriptor = _sorted(*codes_of(scores["descriptor_id"]))
    plans = []
    repeated = None
    for a, t, rows in _rows_by_cell(axis, template, len(templates)):
        own, place = np.unique(descriptor[rows], return_inverse=True)
        column, width = noun[rows], len(nouns)
        if len(np.unique(place * len(nouns) + column)) < len(rows):
            repeated = repeated or f"axis {axes[a]}, template {templates[t]!r}: a noun occurs twice with one descriptor"
            column = _occurrences(place)
            width = int(column.max()) + 1
        plans.append(_Plan(a, t, [names[d] for d in own], rows, place.astype(np.int32), column, width))
    del axis, template, noun, descriptor
    columns = {"values": _spread_all(compared_values(scores, value), plans)}
    columns |= {name: _spread_all(_numbers(scores[name]), plans) for name in CONTROLS if name in scores.column_names}
    cells = (
        Cell(
            axes[plan.axis], templates[plan.template], stance_of[plan.template], tuple(plan.descriptors),
            nats=_nats(columns["values"][i], value), **{name: arrays[i] for name, arrays in columns.items()},
        )
        for i, plan in enumerate(plans)
    )  # fmt: skip
    stances = tuple(dict.fromkeys(stance_of))
    return Crossing(tuple(axes), tuple(templates), stances, tuple(nouns), tuple(cells), repeated)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The rows of one cell, and where each stands: the place of its descriptor, and its column of ``width``."""

    axis: int
    template: int
    descriptors: list[str]
    rows: Int32s
    place: Int32s
    column: Int32s
    width: int


def _spread_all(values: Floats, plans: Sequence[_Plan]) -> list[Floats]:
    """The values of each cell."""
    return [_spread(values[p.rows], p.place, p.column, (len(p.descriptors), p.width)) for p in plans]


def encode(column: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """The distinct texts of a column in order of appearance, and which of them each row has: shape ``[rows]``."""
    texts, codes = codes_of(column)
    return texts, codes.astype(np.int64)


def _nats(values: Floats, value: Compared) -> Floats:
    if value == "nll":
        return finite(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return finite(np.log(values))


def _stances(scores: pa.Table, template: Int32s) -> list[str]:
    """The stance of each template, in the order of the templates."""
    if "paraphrase_of" not in scores.column_names:
        return [str(i) for i in range(int(template.max(initial=-1)) + 1)]
    _, first = np.unique(template, return_index=True)
    rows = scores.select(["template_id", "paraphrase_of"]).take(pa.array(first)).to_pylist()
    return [row["paraphrase_of"] or row["template_id"] for row in rows]


def _sorted(names: list[str], codes: Int32s) -> tuple[list[str], Int32s]:
    """Sort the names, so that a pair is in the same order in every cell."""
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    return [names[i] for i in order], place[codes]


def _numbers(column: pa.ChunkedArray) -> Floats:
    numbers: Floats = column.cast(pa.float64()).to_numpy()
    return numbers


def _rows_by_cell(axis: Int32s, template: Int32s, templates: int) -> Iterator[tuple[int, int, Int32s]]:
    key = axis * templates + template
    order = np.argsort(key, kind="stable").astype(np.int32)
    keys, starts = np.unique(key[order], return_index=True)
    for k, rows in zip(keys, np.split(order, starts[1:]), strict=True):
        yield int(k) // templates, int(k) % templates, rows


def _occurrences(place: Ints) -> Int32s:
    """Count the earlier rows with the same descriptor: shape ``[rows]``."""
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place)
    found = np.empty(len(order), np.int32)
    found[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return found


def _spread(values: Floats, row: Int32s, column: Int32s, shape: tuple[int, int]) -> Floats:
    spread = np.full(shape, np.nan)
    spread[row, column] = values
    return spread
