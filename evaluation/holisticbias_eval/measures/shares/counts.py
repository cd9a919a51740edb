"""Counts of the pairs of descriptors that differ."""

from __future__ import annotations

from collections.abc import Iterable

from holisticbias_eval.arrays import Ints
from holisticbias_eval.measures.shares.figures import Share
from holisticbias_eval.statistics.cells import Cell
from holisticbias_eval.statistics.groups_of_rows import compared_pairs
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.shares import counts_of


def count_cell(cell: Cell, tests: PairwiseTests) -> Share:
    """Count the pairs of a cell."""
    return share_of_cell(cell, counts_of(tests.stacked))


def share_of_cell(cell: Cell, counts: Ints) -> Share:
    """The share of a cell whose pairs were counted: ``counts`` are those that differ and those that were tested."""
    significant, tested = counts.tolist()
    compared = len(compared_pairs(len(cell.descriptors))[0])
    return _share(cell.axis, cell.template, len(cell.descriptors), tested, significant, compared - tested)


def pool(cells: Iterable[Share], axis: str | None, template: str | None) -> Share:
    """Add up the cells of an axis or of a template."""
    found = [c for c in cells if axis in (None, c.axis) and template in (None, c.template)]
    counts = [c.descriptors for c in found]
    return _share(
        axis,
        template,
        max(counts) if axis else sum(counts),
        sum(c.pairs for c in found),
        sum(c.significant for c in found),
        sum(c.untested for c in found),
    )


def _share(
    axis: str | None, template: str | None, descriptors: int, pairs: int, significant: int, untested: int
) -> Share:
    return Share(
        axis=axis,
        template=template,
        descriptors=descriptors,
        pairs=pairs,
        significant=significant,
        untested=untested,
        share=significant / pairs if pairs else None,
    )
