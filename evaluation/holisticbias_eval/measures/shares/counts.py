"""Counts of the pairs of descriptors that differ."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.measures.shares.figures import Share
from holisticbias_eval.statistics.cells import Cell
from holisticbias_eval.statistics.mannwhitney import PairwiseTests


def count_cell(cell: Cell, tests: PairwiseTests) -> Share:
    """Count the pairs of a cell."""
    tested = ~np.isnan(tests.p)
    return _share(
        cell.axis,
        cell.template,
        len(cell.descriptors),
        int(tested.sum()),
        int((tests.stacked < SIGNIFICANCE).sum()),
        int((~tested).sum()),
    )


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
