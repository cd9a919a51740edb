"""Counts of the pairs of descriptors that differ."""

from __future__ import annotations

from collections.abc import Iterable

from holisticbias_eval.arrays import Ints
from holisticbias_eval.measures.shares.figures import Share
from holisticbias_eval.statistics.cells import Cell
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.pairs import compared_pairs, counts_of


def count_cell(cell: Cell, tests: PairwiseTests) -> Share:
    """Count the pairs of a cell."""
    return share_of_cell(cell, counts_of(tests.stacked))


def share_of_cell(cell: Cell, counts: Ints) -> Share:
    """The share of a cell whose pairs were counted: ``counts`` has the pairs that differ and the tested pairs."""
    significant, tested = counts.tolist()
    descriptors = len(cell.descriptors)
    compared, every = len(compared_pairs(descriptors)[0]), descriptors * (descriptors - 1) // 2
    return Share(
        axis=cell.axis,
        template=cell.template,
        descriptors=descriptors,
        pairs=tested,
        significant=significant,
        untested=compared - tested,
        share=significant / tested if tested else None,
        **({"drawn": compared, "drawn_from": every} if compared < every else {}),
    )


def pool(cells: Iterable[Share], axis: str | None, template: str | None) -> Share:
    """Add up the cells of an axis or of a template; templates have the same pairs of descriptors, axes others."""
    found = [c for c in cells if axis in (None, c.axis) and template in (None, c.template)]
    combine = max if axis else sum
    pairs, significant, untested = (
        sum(getattr(c, name) for c in found) for name in ("pairs", "significant", "untested")
    )
    some = any(c.drawn_from for c in found)
    return Share(
        axis=axis,
        template=template,
        descriptors=combine(c.descriptors for c in found),
        pairs=pairs,
        significant=significant,
        untested=untested,
        share=significant / pairs if pairs else None,
        drawn=combine(c.drawn or c.pairs + c.untested for c in found) if some else None,
        drawn_from=sum(c.drawn_from or c.pairs + c.untested for c in found) if some else None,
    )
