"""Rows of groups added up by item and resampled by item, and estimates of groups and domains with intervals."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from holisticbias_eval.arrays import ROUNDING, Bools, Floats, Ints, divide
from holisticbias_eval.statistics.intervals import MIDDLE, difference_interval, expansion, score_interval
from holisticbias_eval.statistics.tests import design_effects, student_p

DRAWS = 1000
"""Bootstrap draws of items."""
_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Items:
    """Sums over the rows of each item: ``sums`` has shape ``[items, columns]``.

    The items of group ``g`` are ``starts[g]`` to ``starts[g + 1]``.
    """

    sums: Floats
    starts: Ints

    def group_sums(self) -> Floats:
        """Sums over the rows of each group: shape ``[groups, columns]``."""
        return self._by_group(self.sums)

    def counts(self) -> Ints:
        """The number of items of each group with any row in each column: shape ``[groups, columns]``."""
        return self._by_group((self.sums > 0).astype(np.int64))

    def _by_group(self, values: Floats | Ints) -> Any:
        total = np.concatenate([np.zeros_like(values[:1], shape=(1, values.shape[1])), np.cumsum(values, axis=0)])
        return np.diff(total[self.starts], axis=0)


def add_up(group: Ints, item: Ints, columns: Floats, groups: int) -> Items:
    """Add up rows by item within groups.

    ``group`` and ``item`` have shape ``[rows]``, ``columns`` ``[rows, columns]``. A row whose item is -1 is an item by
    itself. The same item in two groups is two items.
    """
    alone = item < 0
    own = np.where(alone, int(item.max(initial=-1)) + 1 + np.arange(len(item)), item)
    width = int(own.max(initial=0)) + 1
    keys, place = np.unique(group * width + own, return_inverse=True)
    sums: Floats = np.stack([np.bincount(place, column, len(keys)).astype(np.float64) for column in columns.T], axis=1)
    starts = np.searchsorted(keys // width, np.arange(groups + 1))
    return Items(sums, starts.astype(np.int64))


def resampled_sums(items: Items, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Sums of each group over as many of its items, drawn with replacement: shape ``[draws, columns]`` for each."""
    for start, end in zip(items.starts, items.starts[1:], strict=False):
        own, size = items.sums[start:end], int(end - start)
        found = np.zeros((draws, items.sums.shape[1]))
        step = max(1, _AT_ONCE // max(size, 1))
        for done in range(0, draws if size else 0, step):
            rows = min(step, draws - done)
            chosen = rng.integers(size, size=(rows, size), dtype=np.int32) + np.arange(rows)[:, None] * size
            times = np.bincount(chosen.ravel(), minlength=rows * size).reshape(rows, size)
            found[done : done + rows] = times.astype(np.float64) @ own
        yield found


@dataclass(frozen=True, slots=True)
class Resampled:
    """Values of groups, their bootstrap variance, and 95% percentile intervals: shape ``[groups, values]`` each.

    NaN if a value is not defined, or if a group has fewer than two items.
    """

    value: Floats
    variance: Floats
    low: Floats
    high: Floats

    def ends(self, i: int) -> tuple[float, float]:
        """Both ends of an interval of a result of shape ``[values]``."""
        return float(self.low[i]), float(self.high[i])


def summarise(value: Floats, drawn: Floats, items: Ints) -> Resampled:
    """The variance and the percentile interval of draws, widened for the number of items.

    ``value`` and ``items`` have shape ``[values]``, ``drawn`` ``[draws, values]``; the result has shape ``[values]``.
    Draws in which a value is not defined are left out, and what differs by rounding only does not vary. The variance is
    multiplied by ``n / (n - 1)``, the interval is expanded as in ``intervals.expansion``. They are NaN if a value is
    not defined in most draws.
    """
    low, high, variance = (np.full(len(value), np.nan) for _ in range(3))
    drawn = np.where(np.abs(drawn - value) <= ROUNDING * np.abs(value), value, drawn)
    moved = drawn - value  # the mean of equal values can differ from them by rounding, that of zeros cannot
    known = (~np.isnan(drawn)).sum(axis=0)
    whole = (known == len(drawn)) & (known > 1)
    if whole.any():
        low[whole], high[whole] = np.quantile(drawn[:, whole], MIDDLE, axis=0)
        variance[whole] = moved[:, whole].var(axis=0, ddof=1)
    for i in np.flatnonzero(~whole & (2 * known >= len(drawn)) & (known > 1)):
        low[i], high[i] = np.nanquantile(drawn[:, i], MIDDLE)
        variance[i] = np.nanvar(moved[:, i], ddof=1)
    several = (items > 1) & ~np.isnan(value)
    factor = np.array([expansion(int(n)) for n in items])
    freedom = np.maximum(items - 1, 1)
    return Resampled(
        value,
        np.where(several, variance * items / freedom, np.nan),
        np.where(several, value - factor * (value - low), np.nan),
        np.where(several, value + factor * (high - value), np.nan),
    )


def resample(sums: Floats, values: Callable[[Floats], Floats], seed: int | None) -> Resampled:
    """Values of the sums over items, with a bootstrap of the items; without a seed the values alone.

    ``sums`` has shape ``[items, columns]``; ``values`` makes an array of shape ``[..., values]`` from sums over items
    ``[..., columns]``; the result has shape ``[values]``.
    """
    items = Items(sums, np.array([0, len(sums)], np.int64))
    drawn = next(resampled_sums(items, 0 if seed is None else DRAWS, np.random.default_rng(seed)))
    whole = values(items.group_sums()[0])
    return summarise(whole, values(drawn), np.full(len(whole), len(sums)))


def paired_p(found: Resampled, items: Ints) -> Floats:
    """Two-sided p-values of differences, by Student's t of the bootstrap variance over so many items.

    The arguments have shape ``[groups, values]``; NaN if a variance is 0 or not known.
    """
    return student_p(divide(found.value, np.sqrt(found.variance)), items - 1)


def stacked(parts: list[Resampled]) -> Resampled:
    """Several results of ``summarise``, one row each."""
    return Resampled(*(np.stack([getattr(part, field.name) for part in parts]) for field in fields(Resampled)))


@dataclass(frozen=True, slots=True)
class Side:
    """The columns of sums that each value is the quotient of: ``[values]`` each."""

    numerators: Ints
    denominators: Ints

    def of(self, sums: Floats) -> Floats:
        """The values, from sums of shape ``[..., columns]``."""
        return divide(sums[..., self.numerators], sums[..., self.denominators])


@dataclass(frozen=True, slots=True)
class Estimates(Resampled):
    """Values with 95% intervals, and what they are of: shape ``[groups, values]`` each, NaN if undefined.

    ``rows`` and ``items`` are counted, ``effect`` is the design effect of a share (NaN for a mean).
    """

    rows: Floats
    items: Ints
    effect: Floats

    def part(self, chosen: slice) -> "Estimates":
        """The estimates of some groups."""
        return Estimates(*(getattr(self, field.name)[chosen] for field in fields(self)))


Level = tuple[tuple[Estimates, ...], Resampled | None]
"""The estimates of every side, and the change from the first side to the second, if there are two."""


def estimate(
    items: Items,
    domains: Sequence[slice],
    sides: Sequence[Side],
    shares: Bools,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> tuple[Level, Level]:
    """Estimate the values of every group, and of every domain, with a bootstrap of items within groups.

    ``domains`` are the groups of each domain, in order and next to each other; ``shares`` says which values are
    shares: their intervals are Wilson's at the effective number of rows that the bootstrap's variance gives, because
    percentiles are empty at 0 and 1 and too narrow near them. Those of means are percentile intervals. All values and
    sides share the draws: two sides that have items in common are paired.
    """
    sums, counts = items.group_sums(), items.counts()
    drawn = resampled_sums(items, draws, rng)
    of_groups: list[list[Resampled]] = []
    of_domains: list[list[Resampled]] = []
    for domain in domains:
        total = np.zeros((draws, sums.shape[1]))
        for g in range(domain.start, domain.stop):
            own = next(drawn)
            total += own
            of_groups.append(_summaries(sums[g], counts[g], own, sides))
        of_domains.append(_summaries(sums[domain].sum(axis=0), _known(counts[domain]), total, sides))
    whole_sums, whole_counts = (
        np.stack([values[domain].sum(axis=0) for domain in domains]) for values in (sums, counts)
    )
    by_group, by_domain = ([stacked(list(one)) for one in zip(*of, strict=True)] for of in (of_groups, of_domains))
    found = tuple(_estimates(r, s, sums, counts, shares, domains) for r, s in zip(by_group, sides, strict=False))
    whole = tuple(_estimates(r, s, whole_sums, whole_counts, shares) for r, s in zip(by_domain, sides, strict=False))
    return (found, _change(by_group, found, shares)), (whole, _change(by_domain, whole, shares))


def _known(counts: Ints) -> Ints:
    """The items of a domain, shape ``[columns]``; 1 if no group has several: draws within groups do not vary."""
    return np.where(counts.max(axis=0) > 1, counts.sum(axis=0), np.minimum(counts.sum(axis=0), 1))


def _change(drawn: list[Resampled], sides: tuple[Estimates, ...], shares: Bools) -> Resampled | None:
    """The change with Newcombe's interval where both shares are 0 or 1, because draws of equal rows do not vary."""
    if len(sides) < 2:
        return None
    (first, second), change = sides, drawn[2]
    low, high = difference_interval((second.value, second.low, second.high), (first.value, first.low, first.high))
    alike = shares & (first.variance == 0) & (second.variance == 0)
    return replace(change, low=np.where(alike, low, change.low), high=np.where(alike, high, change.high))


def _summaries(sums: Floats, counts: Ints, drawn: Floats, sides: Sequence[Side]) -> list[Resampled]:
    """The summary of each side, and of the difference of two."""
    found = [summarise(side.of(sums), side.of(drawn), counts[side.denominators]) for side in sides]
    if len(sides) > 1:
        first, second = sides[:2]
        items = np.minimum(counts[first.denominators], counts[second.denominators])
        value, moved = (_difference(first.of(part), second.of(part)) for part in (sums, drawn))
        found.append(summarise(value, moved, items))
    return found


def _difference(first: Floats, second: Floats) -> Floats:
    """The second minus the first, and 0 in place of what rounding leaves of equal values: it would be tested."""
    found = second - first
    return np.where(np.abs(found) <= ROUNDING * np.abs(second), 0.0, found)


def _estimates(
    found: Resampled, side: Side, sums: Floats, counts: Ints, shares: Bools, domains: Sequence[slice] = ()
) -> Estimates:
    """Add the counts, and replace the intervals of shares."""
    rows, items = sums[:, side.denominators], counts[:, side.denominators]
    effect = np.full(found.value.shape, np.nan)
    for part in domains or (slice(0, len(rows)),):
        effect[part] = design_effects(found.value[part], rows[part], items[part], found.variance[part])
    effect[:, ~shares] = np.nan
    low, high = score_interval(found.value, rows, items, effect)
    ends = np.where(shares, low, found.low), np.where(shares, high, found.high)
    return Estimates(found.value, found.variance, *ends, rows, items, effect)
