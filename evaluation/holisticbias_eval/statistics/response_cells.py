"""Judged responses as arrays, sorted by template, axis and descriptor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.statistics.cells import encode


@dataclass(frozen=True, slots=True)
class ResponseCells:
    """Responses in cells: a cell is a descriptor in a template, and a descriptor is a pair of axis and text.

    ``values`` has shape ``[responses, labels]``, sorted by template, axis and
    descriptor, so that cells, axes in a template, and templates are runs of rows.
    Per cell, ``count`` is the number of responses, and ``template``, ``axis`` and
    ``descriptor`` are positions in ``templates``, ``axes`` and ``descriptors``.
    ``asked`` has the same three positions of every cell that was asked about, also
    those without any judged response: shape ``[asked, 3]``. ``unjudged`` is the
    number of responses without values per axis.
    """

    axes: tuple[str, ...]
    templates: tuple[str, ...]
    descriptors: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]
    values: Floats
    count: Ints
    template: Ints
    axis: Ints
    descriptor: Ints
    asked: Ints
    unjudged: Ints

    @property
    def start(self) -> Ints:
        """The first row of each cell."""
        return np.cumsum(self.count) - self.count

    def parts(self, key: Ints) -> Iterator[tuple[slice, slice]]:
        """The cells, and the rows, of each run of cells with equal keys; ``key`` has shape ``[cells]``."""
        edges = np.flatnonzero(np.diff(key)) + 1
        rows = np.concatenate([[0], np.cumsum(self.count)])
        for first, last in zip([0, *edges.tolist()], [*edges.tolist(), len(key)], strict=True):
            if last > first:
                yield slice(first, last), slice(int(rows[first]), int(rows[last]))

    def sums(self, values: Floats) -> Floats:
        """Sum rows by cell; ``values`` has shape ``[responses, ...]``."""
        found: Floats = np.add.reduceat(values, self.start, axis=0)
        return found

    def keep(self, cells: Bools) -> ResponseCells:
        """Only these cells; the others count as not asked about."""
        rows = np.repeat(cells, self.count)
        chosen = (self.count[cells], self.template[cells], self.axis[cells], self.descriptor[cells])
        asked = np.stack(chosen[1:], axis=1)
        count, template, axis, descriptor = chosen
        return replace(
            self,
            values=self.values[rows],
            count=count,
            template=template,
            axis=axis,
            descriptor=descriptor,
            asked=asked,
        )


def arrange_responses(answers: pa.Table, columns: dict[str, str]) -> ResponseCells:
    """Arrange a table of responses with the columns ``axis, template, descriptor`` and a column per label.

    ``columns`` has the column of each label. Responses with a null in any of them were
    not judged: they are counted and left out. Raises ``SelectionError`` if no response was judged.
    """
    axes, axis = encode(answers["axis"])
    templates, template = encode(answers["template"])
    names, text = encode(answers["descriptor"])
    pairs, descriptor = np.unique(axis * len(names) + text, return_inverse=True)
    descriptors = tuple((axes[pair // len(names)], names[pair % len(names)]) for pair in pairs.tolist())
    judged = _judged(answers, columns)
    if not judged.any():
        raise SelectionError("no response has probabilities: there is nothing to measure")
    cell = np.stack([template, axis, descriptor], axis=1)
    kept = np.flatnonzero(judged)
    order = kept[np.lexsort(cell[kept].T[::-1])]
    values = np.empty((len(order), len(columns)), order="F")
    for label, column in enumerate(columns.values()):
        values[:, label] = _numbers(answers[column])[order]
    found, count = _runs(cell[order])
    return ResponseCells(
        axes=tuple(axes),
        templates=tuple(templates),
        descriptors=descriptors,
        labels=tuple(columns),
        values=values,
        count=count,
        template=found[:, 0],
        axis=found[:, 1],
        descriptor=found[:, 2],
        asked=np.unique(cell, axis=0),
        unjudged=np.bincount(axis[~judged], minlength=len(axes)),
    )


def _judged(answers: pa.Table, columns: dict[str, str]) -> Bools:
    judged = np.ones(answers.num_rows, bool)
    for column in columns.values():
        if answers[column].null_count:
            judged &= pc.is_valid(answers[column]).to_numpy()
    return judged


def _numbers(column: pa.ChunkedArray) -> Floats:
    numbers: Floats = column.cast(pa.float64()).to_numpy()
    return numbers


def _runs(cell: Ints) -> tuple[Ints, Ints]:
    """The distinct rows of sorted cells, and how often each occurs."""
    new = np.concatenate([[True], (cell[1:] != cell[:-1]).any(axis=1)])
    first = np.flatnonzero(new)
    return cell[first], np.diff(first, append=len(cell))
