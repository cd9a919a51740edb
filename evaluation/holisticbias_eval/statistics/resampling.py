"""The number of pairs that differ if nouns are resampled or left out, or descriptors' labels permuted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holisticbias_eval.arrays import Bools, Floats, Int32s, Ints
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.statistics import mannwhitney as mw
from holisticbias_eval.statistics.intervals import CRITICAL_Z

_MOST_COUNTS = 1 << 24  # 64 MB
_SMALL = 1 << 13  # counts up to this, doubled, are small numbers
_Counts = npt.NDArray[np.int16] | Int32s


def function_without_each_column(values: Floats, function: Callable[[Floats], Floats]) -> Iterator[Floats]:
    """``function_of_p`` of the values without each column: one array of shape ``[pairs]`` per column.

    Without a column U changes by the comparisons that the column takes part in, so the values are sorted once for all
    columns.
    """
    ranked = _order(values)
    counts = (ranked.present.sum(axis=1) - ranked.present.T).astype(np.int64)
    tied = mw.tied_members(ranked.rows, len(values), ranked.sizes)
    if len(ranked.rows) * len(values) > _MOST_COUNTS or (
        len(tied) and (_ties_decide_for_all(counts) or tied.size * len(counts) > _MOST_COUNTS)
    ):
        yield from (mw.function_of_p(np.delete(values, i, axis=1), function) for i in range(values.shape[1]))
        return
    doubled = _doubled_u(ranked)
    found = mw.function_of_u(function, doubled >> 1, counts)
    if len(tied):
        first, second = mw.pairs_of(len(values))
        terms = mw.tie_terms(tied - _members_by_column(ranked, tied))[:, first, second]
        other = terms > 0
        sizes = counts[:, first][other], counts[:, second][other]
        found[other] = function(mw.p_values(doubled[other] / 2, *sizes, terms[other]))
    yield from found


def _ties_decide_for_all(counts: Ints) -> bool:
    """Whether one tie can mean that no pair uses the exact distribution: all samples have one small size."""
    return bool(((counts == counts[:, :1]).all(axis=1) & (counts[:, 0] <= mw.EXACT_UP_TO)).any())


@dataclass(frozen=True, slots=True)
class _Ordered:
    """Values in order: the row of each, and the sizes of the runs of equal ones.

    ``lower`` and ``upper`` say how many values are below each value, and how many are not above it: shape ``[rows,
    columns]``, zero where a value is missing (not ``present``).
    """

    present: Bools
    rows: Ints
    sizes: Ints
    lower: Ints
    upper: Ints


def _order(values: Floats) -> _Ordered:
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
    return _Ordered(present, np.nonzero(present)[0][order], sizes, lower, upper)


def _doubled_u(ranked: _Ordered) -> Int32s:
    """Twice U of every pair without each column: shape ``[columns, pairs]``.

    U without a column is U minus the wins of the first sample's value in that column, minus the wins over the second
    sample's value, plus the comparison of the two values, which was subtracted twice.
    """
    rows, columns = ranked.lower.shape
    first, second = mw.pairs_of(rows)
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


def _members_by_column(ranked: _Ordered, tied: Floats) -> Floats:
    """The part of each column in ``tied``, the counts of values of each row in each run: ``[columns, runs, rows]``."""
    found = np.zeros((ranked.lower.shape[1], *tied.shape))
    starts = np.cumsum(ranked.sizes) - ranked.sizes
    run = np.full(len(ranked.rows) + 1, -1)
    run[starts[ranked.sizes > 1]] = np.arange(len(tied))
    row, column = np.nonzero(ranked.present & (run[ranked.lower] >= 0))
    found[column, run[ranked.lower[row, column]], row] = 1
    return found


_BYTES_AT_ONCE = 1 << 20  # blocks that fit into the processor's cache


def noun_draws(nouns: int, draws: int, rng: np.random.Generator) -> Ints:
    """Draw as many nouns as there are with replacement, and count each: shape ``[draws, nouns]``."""
    return rng.multinomial(nouns, np.full(nouns, 1 / nouns), size=draws).astype(np.int64)


def significant_when_weighted(values: Floats, weights: Ints) -> Ints:
    """Count the pairs with p < 0.05, and the testable pairs, with weighted nouns.

    ``values`` has shape ``[descriptors, nouns]``, NaN if there is no value;
    ``weights`` has shape ``[draws, nouns]``; the result has shape
    ``[2, draws]``. The test is that of ``mann_whitney_pairs`` on the samples with
    their values repeated.

    A U statistic under weights is a quadratic form: ``w' G w`` with ``G`` of
    shape ``[nouns, nouns]`` saying which value of the first descriptor is above
    which of the second. One matrix product gives it for all pairs and draws. The
    weights multiply both halves of ``G`` alike, so the halves are added up first.
    """
    first, second = mw.pairs_of(len(values))
    limits = _limits(values, weights)
    tied = mw.tied_pairs(values)
    simple = ~tied & limits.normal[limits.kind[first], limits.kind[second]]
    found = _when_weighted_one_by_one(values, weights, first[~simple], second[~simple])
    upper = np.triu_indices(values.shape[1])
    products = (weights[:, upper[0]] * weights[:, upper[1]]).T.astype(np.float32)
    products[upper[0] == upper[1]] /= 2  # the diagonal is added up twice
    above, below = _ranks(values)
    halves = above[:, upper[0]], above[:, upper[1]], below[:, upper[1]], below[:, upper[0]]
    for one, other in _pieces(first[simple], second[simple], max(1, _BYTES_AT_ONCE // (4 * len(products)))):
        wins = (halves[0][one] > halves[2][other]).view(np.int8) + (halves[1][one] > halves[3][other]).view(np.int8)
        u = wins.astype(np.float32) @ products
        kinds = limits.kind[one], limits.kind[other]
        u -= limits.mean[kinds]
        found[0] += (np.abs(u, out=u) > limits.margin[kinds]).sum(axis=0)
        found[1] += limits.known[kinds].sum(axis=0)
    return found


@dataclass(frozen=True, slots=True)
class _Limits:
    """The region in which a pair without ties does not differ in a draw, for descriptors with the same nouns.

    ``kind`` numbers the sets of nouns that descriptors have, shape ``[descriptors]``. ``mean`` of U, ``margin`` and
    ``known`` (whether both have a value) have shape ``[kinds, kinds, draws]``; ``normal`` says for which kinds the
    normal approximation is used in all draws: shape ``[kinds, kinds]``.
    """

    kind: Ints
    mean: npt.NDArray[np.float32]
    margin: npt.NDArray[np.float32]
    known: Bools
    normal: Bools


def _limits(values: Floats, weights: Ints) -> _Limits:
    present, kind = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    counts, again = (w @ present.T.astype(np.int64) for w in (weights, weights**3 - weights))
    n1, n2 = counts.T[:, None, :], counts.T[None, :, :]
    known = (n1 > 0) & (n2 > 0)
    normal: Bools = np.logical_and.reduce(np.minimum(n1, n2) > mw.EXACT_UP_TO, axis=2)
    margin = np.where(known, _margin(n1, n2, again.T[:, None, :] + again.T[None, :, :]), np.inf)
    return _Limits(
        kind.reshape(-1),
        (n1 * n2 / 2).astype(np.float32),
        (np.floor(2 * margin) / 2).astype(np.float32),  # U and its mean are halves of whole numbers
        known,
        normal,
    )


def _ranks(values: Floats) -> tuple[Int32s, Int32s]:
    """Values as ranks; a missing one is above nothing in the first array, and below nothing in the second."""
    present = ~np.isnan(values)
    ranks = np.unique(values[present], return_inverse=True)[1].reshape(-1)
    above, below = np.full(values.shape, -1, np.int32), np.full(values.shape, values.size, np.int32)
    above[present] = below[present] = ranks
    return above, below


def _pieces(first: Ints, second: Ints, size: int) -> Iterator[tuple[Ints, Ints]]:
    for start in range(0, len(first), size):
        yield first[start : start + size], second[start : start + size]


def _when_weighted_one_by_one(values: Floats, weights: Ints, first: Ints, second: Ints) -> Ints:
    """Count among the given pairs, which may have ties or few values."""
    products = (weights[:, :, None] * weights[:, None, :]).reshape(len(weights), -1).T.astype(np.float32)
    counts, repeated = (w @ (~np.isnan(values)).T.astype(np.int64) for w in (weights, weights**3 - weights))
    found = np.zeros((2, len(weights)), np.int64)
    for one, other in _pieces(first, second, max(1, _BYTES_AT_ONCE // (4 * values.shape[1] ** 2))):
        u = _above(values[one], values[other]).reshape(len(one), -1) @ products
        ties = ties_of_values(values[one], values[other])
        n1, n2 = counts[:, one].T, counts[:, other].T
        again = repeated[:, one].T + repeated[:, other].T
        found += [whether.sum(axis=0) for whether in _differs(u, n1, n2, again, ties)]
    return found


def _above(one: Floats, other: Floats) -> npt.NDArray[np.float32]:
    left, right = one[:, :, None], other[:, None, :]
    above: npt.NDArray[np.float32] = (left > right).astype(np.float32)
    equal = left == right
    if equal.any():
        above += 0.5 * equal
    return above


def ties_of_values(one: Floats, other: Floats) -> Floats:
    """The sum of t^3 - t over groups of equal values in each pair's pooled sample: shape ``[pairs]``."""
    pooled = np.sort(np.concatenate([one, other], axis=1), axis=1)
    ties = np.zeros(len(pooled))
    for row in np.flatnonzero((pooled[:, 1:] == pooled[:, :-1]).any(axis=1)):
        _, runs = np.unique(pooled[row][~np.isnan(pooled[row])], return_counts=True)
        ties[row] = (runs.astype(float) ** 3 - runs).sum()
    return ties


def _differs(u: npt.NDArray[np.float32], n1: Ints, n2: Ints, repeated: Ints, ties: Floats) -> tuple[Bools, Bools]:
    """Whether each pair differs, and whether it could be tested: shape ``[pairs, draws]`` each.

    If a value is both repeated and tied with another, its ties are added up as
    if they were separate.
    """
    known = (n1 > 0) & (n2 > 0)
    all_ties = repeated + ties[:, None]
    if (n1 <= mw.EXACT_UP_TO).any() or (n2 <= mw.EXACT_UP_TO).any():
        p = mw.p_values(*np.broadcast_arrays(u.astype(np.float64), n1, n2, all_ties))
        return p < SIGNIFICANCE, known
    return (np.abs(u - n1 * n2 / 2) > _margin(n1, n2, all_ties)) & known, known


def _margin(n1: Ints, n2: Ints, ties: Floats | Ints) -> Floats:
    """The largest distance of U from its mean without a significant difference, by the normal approximation."""
    n = n1 + n2
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1.0)))
        return CRITICAL_Z * np.sqrt(np.maximum(variance, 0)) + 0.5


def significant_when_permuted(values: Floats, permutations: int, rng: np.random.Generator) -> Ints:
    """Count the pairs with p < 0.05, and the testable pairs, with permuted labels: ``[2, permutations]``.

    The descriptors' labels are permuted among the sentences of each noun, so
    that differences between nouns remain and all others are due to chance.
    """
    return np.stack([mw.count_different_rows(rng.permuted(values, axis=0)) for _ in range(permutations)], axis=1)


def significant_without_each_noun(values: Floats) -> Ints:
    """Count the pairs with p < 0.05, and the testable pairs, without each noun: ``[2, nouns]``."""
    found = function_without_each_column(values, mw.differs)
    return np.stack([mw.count_known(pairs) for pairs in found], axis=1)
