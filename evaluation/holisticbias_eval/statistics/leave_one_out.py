"""Mann-Whitney tests between all pairs of rows, without each column in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holisticbias_eval.arrays import Bools, Floats, Int32s, Ints
from holisticbias_eval.statistics.mannwhitney import (
    EXACT_UP_TO,
    function_of_p,
    function_of_u,
    p_values,
    pairs_of,
    tie_terms,
    tied_members,
)

_MOST_COUNTS = 1 << 24  # 64 MB
_SMALL = 1 << 13  # counts up to this, doubled, are small numbers
_Counts = npt.NDArray[np.int16] | Int32s


def function_without_each_column(values: Floats, function: Callable[[Floats], Floats]) -> Iterator[Floats]:
    """``function_of_p`` of the values without each column: one array of shape ``[pairs]`` per column.

    Without a column U changes by the comparisons that the column takes part in, so the values are sorted once for all
    columns.
    """
    ranked = _rank(values)
    counts = (ranked.present.sum(axis=1) - ranked.present.T).astype(np.int64)
    tied = tied_members(ranked.rows, len(values), ranked.sizes)
    if len(ranked.rows) * len(values) > _MOST_COUNTS or (
        len(tied) and (_ties_decide_for_all(counts) or tied.size * len(counts) > _MOST_COUNTS)
    ):
        yield from (function_of_p(np.delete(values, i, axis=1), function) for i in range(values.shape[1]))
        return
    doubled = _doubled_u(ranked)
    found = function_of_u(function, doubled >> 1, counts)
    if len(tied):
        first, second = pairs_of(len(values))
        terms = tie_terms(tied - _members_by_column(ranked, tied))[:, first, second]
        other = terms > 0
        sizes = counts[:, first][other], counts[:, second][other]
        found[other] = function(p_values(doubled[other] / 2, *sizes, terms[other]))
    yield from found


def _ties_decide_for_all(counts: Ints) -> bool:
    """Whether one tie can mean that no pair uses the exact distribution: all samples have one small size."""
    return bool(((counts == counts[:, :1]).all(axis=1) & (counts[:, 0] <= EXACT_UP_TO)).any())


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Values in order: the row of each, and the sizes of the runs of equal ones.

    ``lower`` and ``upper`` say how many values are below each value, and how many are not above it: shape ``[rows,
    columns]``, zero where a value is missing (not ``present``).
    """

    present: Bools
    rows: Ints
    sizes: Ints
    lower: Ints
    upper: Ints


def _rank(values: Floats) -> _Ranked:
    present = ~np.isnan(values)
    known = values[present]
    order = np.argsort(known)
    ordered = known[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(known) else np.zeros(0, int)
    sizes = np.diff(np.append(starts, len(known)))
    lower, upper = np.zeros(values.shape, np.int64), np.zeros(values.shape, np.int64)
    place = np.empty(len(known), np.int64)
    place[order] = np.repeat(np.arange(len(sizes)), sizes)
    lower[present], upper[present] = starts[place], (starts + sizes)[place]
    return _Ranked(present, np.nonzero(present)[0][order], sizes, lower, upper)


def _doubled_u(ranked: _Ranked) -> Int32s:
    """Twice U of every pair without each column: shape ``[columns, pairs]``.

    U without a column is U minus the wins of the first sample's value in that column, minus the wins over the second
    sample's value, plus the comparison of the two values, which was subtracted twice.
    """
    rows, columns = ranked.lower.shape
    first, second = pairs_of(rows)
    below = _below(ranked.rows, rows, columns)
    twice = (below[ranked.lower.T] + below[ranked.upper.T]).reshape(columns, -1)
    of_first, of_second = twice.take(first * rows + second, axis=1), twice.take(second * rows + first, axis=1)
    one, other = ranked.present.T[:, first], ranked.present.T[:, second]
    lost = 2 * ranked.present.sum(axis=1, dtype=np.int32)[first] - of_second
    found: Int32s = of_first.sum(axis=0, dtype=np.int32) - of_first - lost * other
    both = one & other
    found += (ranked.lower[first].T >= ranked.upper[second].T) & both
    found += (ranked.upper[first].T > ranked.lower[second].T) & both
    return found


def _below(rows: Ints, samples: int, columns: int) -> _Counts:
    """The number of values of each sample among the first values in order: shape ``[values + 1, samples]``."""
    found = np.zeros((len(rows) + 1, samples), np.int16 if columns < _SMALL else np.int32)
    found[np.arange(1, len(rows) + 1), rows] = 1
    return np.cumsum(found, axis=0, dtype=found.dtype, out=found)


def _members_by_column(ranked: _Ranked, tied: Floats) -> Floats:
    """The part of each column in ``tied``, the counts of values of each row in each run: ``[columns, runs, rows]``."""
    found = np.zeros((ranked.lower.shape[1], *tied.shape))
    starts = np.cumsum(ranked.sizes) - ranked.sizes
    run = np.full(len(ranked.rows) + 1, -1)
    run[starts[ranked.sizes > 1]] = np.arange(len(tied))
    row, column = np.nonzero(ranked.present & (run[ranked.lower] >= 0))
    found[column, run[ranked.lower[row, column]], row] = 1
    return found
