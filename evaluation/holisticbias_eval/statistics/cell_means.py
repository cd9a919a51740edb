"""Means of one value over cells of responses, with intervals over other responses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.intervals import t_quantile
from holisticbias_eval.statistics.response_cells import ResponseCells


@dataclass(frozen=True, slots=True)
class CellMeans:
    """The mean of each cell, and its sampling variance with its degrees of freedom: shape ``[cells]`` each.

    A cell of one response takes the pooled variance of its template, and is NaN if there is none.
    """

    mean: Floats
    variance: Floats
    freedom: Ints

    def over(self, group: Ints, size: int) -> list[tuple[float, Interval | None, int]]:
        """The mean over the cells of each group with its 95% interval, and the number of cells.

        ``group`` has the group of each cell, and there are ``size`` groups. The
        cells are fixed: the interval is over other responses in the same cells. It is null if the
        variance is not known or zero.
        """
        count = np.bincount(group, minlength=size)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.bincount(group, weights=self.mean, minlength=size) / count
            error = np.sqrt(np.bincount(group, weights=self.variance, minlength=size)) / count
        freedom = np.bincount(group, weights=self.freedom, minlength=size)
        margin = np.where(freedom > 0, t_quantile(freedom), np.nan) * error
        return [
            (m, Interval.between(max(m - d, 0.0), min(m + d, 1.0)) if d > 0 else None, n)
            for m, d, n in zip(mean.tolist(), margin.tolist(), count.tolist(), strict=True)
        ]


def cell_means(cells: ResponseCells) -> CellMeans:
    """The means of the first label over the responses of each cell."""
    values, count = cells.values[:, 0], cells.count
    mean = cells.sums(values) / count
    squares = cells.sums((values - np.repeat(mean, count)) ** 2)
    freedom = count - 1
    size = len(cells.templates)
    with np.errstate(divide="ignore", invalid="ignore"):
        total, degrees = (np.bincount(cells.template, weights=w, minlength=size) for w in (squares, freedom))
        pooled = np.divide(total, degrees)
        variance = np.where(count > 1, squares / freedom, pooled[cells.template]) / count
    return CellMeans(mean, variance, freedom)
