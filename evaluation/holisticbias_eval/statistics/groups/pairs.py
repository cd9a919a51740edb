"""Differences between the groups of a domain: pairs, each against the others, and the largest difference."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import ROUNDING, Bools, Floats, Ints, divide
from holisticbias_eval.statistics.groups.items import Estimates, Items, Side, resampled_sums
from holisticbias_eval.statistics.intervals import CRITICAL_Z, difference_interval, score_interval, t_margin
from holisticbias_eval.statistics.tests import design_effects, normal_p, permuted_p, student_p, two_proportions, welch


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences of values: shape ``[comparisons, values]`` each, NaN if undefined.

    ``p_value`` treats rows as independent, ``clustered_p`` items. ``rows`` were compared, ``first`` and ``second`` are
    groups, -1 for all groups but the first.
    """

    first: Ints
    second: Ints
    value: Floats
    low: Floats
    high: Floats
    p_value: Floats
    clustered_p: Floats
    rows: Floats


def by_value(p: Floats, correct: Callable[[Floats], Floats]) -> Floats:
    """Correct the p-values of each value by themselves: shape ``[comparisons, values]``."""
    return np.stack([correct(column) for column in p.T], axis=1) if p.shape[1] else p


def pairs(found: Estimates, row_variance: Floats, shares: Bools) -> Differences:
    """All pairs of the groups: the first minus the second.

    ``row_variance`` is the variance of a mean if rows are independent.
    """
    first, second = np.triu_indices(len(found.value), 1)
    return _compare(found, row_variance, shares, found, row_variance, first, second, second)


def against_rest(found: Estimates, row_variance: Floats, shares: Bools) -> Differences:
    """Each group minus all other groups together."""
    others, variance = _rest(found, row_variance, shares)
    each = np.arange(len(found.value))
    return _compare(found, row_variance, shares, others, variance, each, each, np.full(len(each), -1))


def _rest(found: Estimates, row_variance: Floats, shares: Bools) -> tuple[Estimates, Floats]:
    """The estimates of all groups but each, and the variance of the mean of their rows.

    A group with one item, whose variance is not known, takes that of the items of all groups.
    """
    total = np.nan_to_num(found.value) * found.rows
    rows, items = found.rows.sum(axis=0) - found.rows, found.items.sum(axis=0) - found.items
    value = divide(total.sum(axis=0) - total, rows)

    def weighted(variance: Floats, sizes: Floats | Ints) -> Floats:
        freedom = np.where(np.isnan(variance), 0, sizes - 1)
        pooled = divide((np.nan_to_num(variance) * sizes * freedom).sum(axis=0), freedom.sum(axis=0))
        whole = np.where(np.isnan(variance), divide(pooled, sizes), variance)
        parts = np.nan_to_num(whole) * found.rows**2
        return divide(parts.sum(axis=0) - parts, rows**2)

    variance = weighted(found.variance, found.items)
    effect = design_effects(value, rows, items, variance)
    effect[:, ~shares] = np.nan
    low, high = score_interval(value, rows, items, effect)
    margin = CRITICAL_Z * np.sqrt(variance)
    ends = np.where(shares, low, value - margin), np.where(shares, high, value + margin)
    others = Estimates(value, variance, *ends, rows, items, effect)
    return others, weighted(row_variance, found.rows)


def _compare(
    one: Estimates, one_rows: Floats, shares: Bools, other: Estimates, other_rows: Floats,
    i: Ints, j: Ints, second: Ints,
) -> Differences:  # fmt: skip
    low, high = difference_interval(
        (one.value[i], one.low[i], one.high[i]), (other.value[j], other.low[j], other.high[j])
    )
    difference = one.value[i] - other.value[j]
    counts = np.nan_to_num(one.value[i]) * one.rows[i], np.nan_to_num(other.value[j]) * other.rows[j]
    z = two_proportions(counts[0], one.rows[i], counts[1], other.rows[j])
    effect, freedom = _pair_effect(one, other, i, j)
    clustered_z = z / np.sqrt(effect)
    share_p = np.where(np.isinf(freedom), normal_p(clustered_z), student_p(clustered_z, freedom))
    mean_p = welch(difference, one_rows[i], one.rows[i], other_rows[j], other.rows[j])
    items = one.items[i].astype(float), other.items[j].astype(float)
    items_p = welch(difference, one.variance[i], items[0], other.variance[j], items[1])
    return Differences(
        i, second, difference, low, high,
        np.where(shares, normal_p(z), mean_p), np.where(shares, share_p, items_p), one.rows[i] + other.rows[j],
    )  # fmt: skip


def _pair_effect(one: Estimates, other: Estimates, i: Ints, j: Ints) -> tuple[Floats, Floats]:
    """The design effect of two groups that have one share, and its degrees of freedom.

    The variances are ``p (1 - p) effect / n`` with the same ``p``, as in Rao and Scott (1992): a group without any row
    of a class would have none by its own share. The degrees of freedom are those of Satterthwaite (1946), with
    ``items - 1`` for each effect above 1; one of 1 is not estimated.
    """
    first, second = one.effect[i] * other.rows[j], other.effect[j] * one.rows[i]
    freedoms = [np.where(e.effect > 1, e.items - 1.0, np.inf)[k] for e, k in ((one, i), (other, j))]
    freedom, _ = t_margin(first, freedoms[0], second, freedoms[1])
    return divide(first + second, one.rows[i] + other.rows[j]), freedom


PERMUTATIONS, FEWEST = 1000, 200
_ITEMS = 20_000_000
"""Items that are permuted in all, as far as this leaves at least ``FEWEST`` permutations."""


@dataclass(frozen=True, slots=True)
class Disparities:
    """The largest minus the smallest value over groups: ``value`` has shape ``[values]``, NaN with fewer than two.

    ``permuted`` has the same for permuted groups, ``[permutations, values]``; ``groups`` counts those with a value.
    """

    value: Floats
    permuted: Floats
    groups: Ints

    def p_values(self) -> Floats:
        """The share of permutations, the observed one among them, in which the value is as large: ``[values]``."""
        return permuted_p(self.value, self.permuted)


def permutations_for(items: int) -> int:
    """The number of permutations for so many items: 1,000, and fewer, at least 200, above 20,000 items."""
    return int(np.clip(_ITEMS // max(items, 1), FEWEST, PERMUTATIONS))


def disparities(items: Items, side: Side, rng: np.random.Generator, permutations: int | None = None) -> Disparities:
    """Compare the largest and the smallest quotient over groups with those of permuted groups.

    Each permutation deals the items out to the groups, as many to each as it has: the rows of an item stay together.
    """
    values = side.of(items.group_sums())
    count = permutations_for(len(items.sums)) if permutations is None else permutations
    permuted = np.full((count, values.shape[1]), np.nan)
    filled = np.flatnonzero(np.diff(items.starts) > 0)
    if len(filled) > 1:
        starts = items.starts[filled]
        for i in range(count):
            sums = np.add.reduceat(items.sums[rng.permutation(len(items.sums))], starts, axis=0)
            permuted[i] = _range(side.of(sums))
    return Disparities(_range(values), permuted, (~np.isnan(values)).sum(axis=0))


_CHANGE_DRAWS = 500


def disparity_changes(
    items: Items, domains: Sequence[slice], sides: Sequence[Side], rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats, Floats, Ints]]:
    """The disparity of each domain on two sides, and the error of its change with its degrees of freedom: ``[values]``.

    NaN if not defined. ``items`` have the sums of both sides, so that the bootstrap draws an item with its values on
    both. The variance is multiplied by ``n / (n - 1)``, and its degrees of freedom are ``2 (n - 1)``, for n items of
    that highest or lowest group of either side that has fewest: without a second item its variance is not known.
    """
    sums, counts, drawn = items.group_sums(), items.counts(), resampled_sums(items, _CHANGE_DRAWS, rng)
    for domain in domains:
        first, second = (side.of(sums[domain]) for side in sides)
        fewest = np.minimum(*(_fewest(side.of(sums[domain]), counts[domain][:, side.denominators]) for side in sides))
        ends = np.full((2, 2, _CHANGE_DRAWS, first.shape[1]), np.nan)
        for _ in range(domain.start, domain.stop):
            own = next(drawn)
            for s, side in enumerate(sides):
                ends[s, 0], ends[s, 1] = np.fmin(ends[s, 0], side.of(own)), np.fmax(ends[s, 1], side.of(own))
        ranges = _apart(ends[:, 0], ends[:, 1])
        error = np.std(ranges[1] - ranges[0], axis=0, ddof=1) * np.sqrt(divide(fewest, fewest - 1))
        yield _range(first), _range(second), np.where(error > 0, error, np.nan), 2 * (fewest - 1)


def _fewest(values: Floats, items: Ints) -> Ints:
    """The number of items of the group with the highest or the lowest value, whichever has fewer: ``[values]``."""
    known = ~np.isnan(values)
    ends = np.where(known, values, np.inf).argmin(axis=0), np.where(known, values, -np.inf).argmax(axis=0)
    return np.take_along_axis(items, np.stack(ends), axis=0).min(axis=0)


def _range(values: Floats) -> Floats:
    """The largest minus the smallest known value of each column, NaN with fewer than two."""
    several = (~np.isnan(values)).sum(axis=0) > 1
    return np.where(several, _apart(np.fmin.reduce(values), np.fmax.reduce(values)), np.nan)


def _apart(low: Floats, high: Floats) -> Floats:
    """The second minus the first; what rounding leaves of equal values is 0, or a change of it would be tested."""
    found = high - low
    return np.where(found <= ROUNDING * np.abs(high), 0.0, found)
