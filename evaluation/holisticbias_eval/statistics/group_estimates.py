"""Shares and means of groups and of whole domains, with intervals over items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.statistics.intervals import difference_interval, score_interval
from holisticbias_eval.statistics.items import DRAWS, Items, Resampled, divide, resampled_sums, stacked, summarise
from holisticbias_eval.statistics.two_groups import design_effects


@dataclass(frozen=True, slots=True)
class Side:
    """The columns of sums that each value is the quotient of: ``[values]`` each."""

    numerators: Ints
    denominators: Ints

    def of(self, sums: Floats) -> Floats:
        """The values, from sums of shape ``[..., columns]``."""
        return divide(sums[..., self.numerators], sums[..., self.denominators])


@dataclass(frozen=True, slots=True)
class Estimates:
    """Values with 95% intervals: shape ``[groups, values]`` each, NaN if undefined.

    ``rows`` and ``items`` are counted, ``variance`` is that of the bootstrap, ``effect`` the design effect of a share
    (NaN for a mean).
    """

    value: Floats
    variance: Floats
    low: Floats
    high: Floats
    rows: Floats
    items: Ints
    effect: Floats

    def part(self, chosen: slice) -> Estimates:
        """The estimates of some groups."""
        names = ("value", "variance", "low", "high", "rows", "items", "effect")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})


@dataclass(frozen=True, slots=True)
class Estimated:
    """Estimates of every side for groups and domains; ``change`` is the second side minus the first, if there are two.

    ``change`` has the shape of the groups, ``domain_change`` that of the domains.
    """

    groups: tuple[Estimates, ...]
    domains: tuple[Estimates, ...]
    change: Resampled | None
    domain_change: Resampled | None


def estimate(
    items: Items,
    domains: Sequence[slice],
    sides: Sequence[Side],
    shares: Bools,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> Estimated:
    """Estimate the values of every group and domain with a bootstrap of items within groups.

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
    whole_sums = np.stack([sums[domain].sum(axis=0) for domain in domains])
    whole_counts = np.stack([counts[domain].sum(axis=0) for domain in domains])
    groups, domains_found = zip(*of_groups, strict=True), zip(*of_domains, strict=True)
    by_group, by_domain = [stacked(list(one)) for one in groups], [stacked(list(one)) for one in domains_found]
    found = tuple(_estimates(r, s, sums, counts, shares, domains) for r, s in zip(by_group, sides, strict=False))
    whole = tuple(_estimates(r, s, whole_sums, whole_counts, shares) for r, s in zip(by_domain, sides, strict=False))
    if len(sides) < 2:
        return Estimated(found, whole, None, None)
    return Estimated(found, whole, _change(by_group[2], found, shares), _change(by_domain[2], whole, shares))


def _known(counts: Ints) -> Ints:
    """The items of a domain, shape ``[columns]``; 1 if no group has several: draws within groups do not vary."""
    known: Ints = np.where(counts.max(axis=0) > 1, counts.sum(axis=0), np.minimum(counts.sum(axis=0), 1))
    return known


def _change(change: Resampled, sides: tuple[Estimates, ...], shares: Bools) -> Resampled:
    """The change with Newcombe's interval where both shares are 0 or 1, because draws of equal rows do not vary."""
    first, second = sides
    low, high = difference_interval((second.value, second.low, second.high), (first.value, first.low, first.high))
    alike = shares & (first.variance == 0) & (second.variance == 0)
    return replace(change, low=np.where(alike, low, change.low), high=np.where(alike, high, change.high))


def _summaries(sums: Floats, counts: Ints, drawn: Floats, sides: Sequence[Side]) -> list[Resampled]:
    """The summary of each side, and of the difference of two."""
    found = [summarise(side.of(sums), side.of(drawn), counts[side.denominators]) for side in sides]
    if len(sides) > 1:
        first, second = sides[:2]
        items = np.minimum(counts[first.denominators], counts[second.denominators])
        found.append(summarise(second.of(sums) - first.of(sums), second.of(drawn) - first.of(drawn), items))
    return found


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
    return Estimates(
        found.value,
        found.variance,
        np.where(shares, low, found.low),
        np.where(shares, high, found.high),
        rows,
        items,
        effect,
    )
