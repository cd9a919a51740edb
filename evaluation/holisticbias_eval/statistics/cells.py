"""Scores as arrays over templates, descriptors and nouns, an axis at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import SelectionError

VALUES = ("perplexity", "nll", "tokens", "phrase_nll")


@dataclass(frozen=True, slots=True)
class Cell:
    """The sentences of one axis in one template: shape ``[descriptors, nouns]`` each, NaN where there is none.

    ``stance`` is the template that the template words in another way, or itself.
    ``nll`` (nats a sentence), ``tokens`` and ``phrase_nll`` (nats of the noun
    phrase alone) are missing where the scores do not have them.
    """

    axis: str
    template: str
    stance: str
    descriptors: tuple[str, ...]
    perplexity: Floats
    nll: Floats | None
    tokens: Floats | None
    phrase_nll: Floats | None

    @property
    def log_perplexity(self) -> Floats:
        """Nats a token, NaN where they are not finite: such a value has a rank, and no distance from others."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return finite(np.log(self.perplexity))


@dataclass(frozen=True, slots=True)
class Crossing:
    """All cells of scored sentences, axis by axis; every cell is over the same nouns."""

    axes: tuple[str, ...]
    templates: tuple[str, ...]
    stances: tuple[str, ...]
    nouns: tuple[str, ...]
    cells: tuple[Cell, ...]


def finite(values: Floats) -> Floats:
    """The same with NaN for what is infinite."""
    return np.where(np.isfinite(values), values, np.nan)


def cross(scores: pa.Table) -> Crossing:
    """The scores by axis, template, descriptor and noun.

    ``scores`` has the columns ``axis, template, descriptor_id, noun_id,
    perplexity`` and may have ``nll, tokens, phrase_nll``, and ``template_id,
    paraphrase_of``, by which templates are known as wordings of one stance. Raises
    ``SelectionError`` where a noun stands twice with the same descriptor in the
    same template: nothing can then be paired or resampled by noun.
    """
    axes, axis = _encode(scores["axis"])
    templates, template = _encode(scores["template"])
    stance_of = _stances(scores, template)
    nouns, noun = _encode(scores["noun_id"])
    names, descriptor = _sorted(*_encode(scores["descriptor_id"]))
    values = {name: _numbers(scores[name]) for name in VALUES if name in scores.column_names}
    cells = []
    for a, t, rows in _rows_by_cell(axis, template, len(templates)):
        own, place = np.unique(descriptor[rows], return_inverse=True)
        if len(np.unique(place * len(nouns) + noun[rows])) < len(rows):
            raise SelectionError(f"axis {axes[a]}, template {templates[t]!r}: a noun stands twice with one descriptor")
        arrays = {
            name: _spread(column[rows], place, noun[rows], (len(own), len(nouns))) for name, column in values.items()
        }
        cells.append(
            Cell(
                axis=axes[a],
                template=templates[t],
                stance=stance_of[t],
                descriptors=tuple(names[d] for d in own),
                perplexity=arrays["perplexity"],
                nll=arrays.get("nll"),
                tokens=arrays.get("tokens"),
                phrase_nll=arrays.get("phrase_nll"),
            )
        )
    return Crossing(tuple(axes), tuple(templates), tuple(dict.fromkeys(stance_of)), tuple(nouns), tuple(cells))


def _stances(scores: pa.Table, template: Ints) -> list[str]:
    """The stance of each template, in the order of the templates."""
    if "paraphrase_of" not in scores.column_names:
        return [str(i) for i in range(int(template.max(initial=-1)) + 1)]
    _, first = np.unique(template, return_index=True)
    rows = scores.select(["template_id", "paraphrase_of"]).take(pa.array(first)).to_pylist()
    return [row["paraphrase_of"] or row["template_id"] for row in rows]


def _encode(column: pa.ChunkedArray) -> tuple[list[str], Ints]:
    encoded = pc.dictionary_encode(column.cast(pa.string())).combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def _sorted(names: list[str], codes: Ints) -> tuple[list[str], Ints]:
    """The same with names in order, so that a pair stands the same way round wherever it is named."""
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


def _spread(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> Floats:
    spread = np.full(shape, np.nan)
    spread[row, column] = values
    return spread
