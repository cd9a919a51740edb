"""Mann-Whitney tests between all pairs of rows, without each column in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from holisticbias_eval.arrays import Floats, Int32s, Ints
from holisticbias_eval.statistics.mannwhitney import function_of_p, function_of_u, pairs_of

_MOST_COUNTS = 1 << 24  # 64 MB


def function_without_each_column(values: Floats, function: Callable[[Floats], Floats]) -> Iterator[Floats]:
    """``function_of_p`` of the values without each column: one array of shape ``[pairs]`` per column.

    Without ties U changes by the comparisons that the column takes part in, so the values are sorted once for all
    columns.
    """
    present = ~np.isnan(values)
    rows, known = np.nonzero(present)[0], values[present]
    order = np.argsort(known)
    ordered = known[order]
    ties = (ordered[1:] == ordered[:-1]).any()  # also of infinite values
    if ties or len(known) * len(values) > _MOST_COUNTS:
        yield from (function_of_p(np.delete(values, i, axis=1), function) for i in range(values.shape[1]))
        return
    place = np.zeros(values.shape, np.int64)  # the first row of ``below``, which is zero, stands for a missing value
    place[present] = np.argsort(order) + 1
    below = _below(rows[order], len(values))
    counts, wins = present.sum(axis=1), sum(below[place[:, i]] for i in range(values.shape[1]))
    for i in range(values.shape[1]):
        u = _without(wins - below[place[:, i]], below[place[:, i]], counts, place[:, i])
        yield function_of_u(function, u[pairs_of(len(values))], counts - present[:, i])


def _below(rows: Ints, samples: int) -> Int32s:
    """The number of values of each sample below each value, in the order of the values, after a row of zeros.

    Shape ``[values + 1, samples]``.
    """
    found = np.zeros((len(rows) + 2, samples), np.int32)
    found[np.arange(2, len(rows) + 2), rows] = 1
    return np.cumsum(found[:-1], axis=0, dtype=np.int32)


def _without(left: Int32s, below: Int32s, counts: Ints, place: Ints) -> Int32s:
    """U without a column: ``left`` lacks the column of the first sample only; ``below`` is that of its values."""
    present = place > 0
    above = np.where(present, counts[:, None] - below.T, 0)
    both = present[:, None] & present & (place[:, None] > place)
    found: Int32s = left - above + both
    return found
