"""Counts of the pairs of descriptors that differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Ints
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.measures.shares.figures import Share
from holisticbias_eval.statistics.cells import Cell, Crossing
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


def tests_table(crossing: Crossing, tests: Sequence[PairwiseTests]) -> pa.Table:
    """Every test: a row for each pair of descriptors of an axis in a template.

    The columns are ``axis, template, first, second, u, p, significant``; the last
    three are null if a descriptor has no value. ``p`` is the p-value of the pair
    by itself; shares count ``significant``; see ``PairwiseTests``.
    """
    found = [_cell_table(cell, own) for cell, own in zip(crossing.cells, tests, strict=True)]
    return pa.concat_tables(found).unify_dictionaries()


def _cell_table(cell: Cell, tests: PairwiseTests) -> pa.Table:
    def named(places: Ints, names: Sequence[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(places.astype(np.int32), pa.array(names, pa.string()))

    one = np.zeros(len(tests.p), np.int64)
    return pa.table(
        {
            "axis": named(one, [cell.axis]),
            "template": named(one, [cell.template]),
            "first": named(tests.first, cell.descriptors),
            "second": named(tests.second, cell.descriptors),
            "u": pa.array(tests.u, from_pandas=True),
            "p": pa.array(tests.p, from_pandas=True),
            "significant": pa.array(tests.stacked < SIGNIFICANCE, mask=np.isnan(tests.p)),
        }
    )
