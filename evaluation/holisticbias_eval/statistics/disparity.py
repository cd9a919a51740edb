"""The difference between the largest and the smallest value over groups, and what chance makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.statistics.group_estimates import Side
from holisticbias_eval.statistics.items import Items, resampled_sums

PERMUTATIONS, FEWEST = 1000, 200
_ITEMS = 20_000_000
"""Items that are permuted in all, as far as this leaves at least ``FEWEST`` permutations."""


@dataclass(frozen=True, slots=True)
class Disparities:
    """The largest minus the smallest value over groups: ``value`` has shape ``[values]``, NaN with fewer than two.

    ``permuted`` has the same for permuted groups, ``[permutations, values]``; ``groups`` counts those with a
    value, ``highest`` and ``lowest`` are the groups at the ends, -1 if there is no value.
    """

    value: Floats
    permuted: Floats
    groups: Ints
    highest: Ints
    lowest: Ints

    def p_values(self) -> Floats:
        """The share of permutations, the observed one among them, in which the value is as large: ``[values]``."""
        reached = (self.permuted >= self.value - 1e-12).sum(axis=0)
        return np.where(np.isnan(self.value), np.nan, (1 + reached) / (1 + len(self.permuted)))


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
    known = ~np.isnan(values)
    enough = known.sum(axis=0) > 1
    highest = np.where(enough, np.where(known, values, -np.inf).argmax(axis=0), -1)
    lowest = np.where(enough, np.where(known, values, np.inf).argmin(axis=0), -1)
    return Disparities(_range(values), permuted, known.sum(axis=0), highest, lowest)


@dataclass(frozen=True, slots=True)
class DisparityChange:
    """The change of the disparity from one side to another: shape ``[values]`` each, NaN if not defined."""

    first: Floats
    second: Floats
    error: Floats

    @property
    def change(self) -> Floats:
        """The second disparity minus the first."""
        return self.second - self.first


def disparity_changes(
    items: Items, domains: Sequence[slice], first: Side, second: Side, rng: np.random.Generator, draws: int = 500
) -> list[DisparityChange]:
    """The change of the disparity of each domain, with its standard error over items.

    ``items`` have the sums of both sides, so that the bootstrap draws an item with its values on both.
    """
    sums, found = items.group_sums(), []
    drawn = resampled_sums(items, draws, rng)
    for domain in domains:
        values = tuple(side.of(sums[domain]) for side in (first, second))
        ends = np.full((2, 2, draws, values[0].shape[1]), np.nan)
        for _ in range(domain.start, domain.stop):
            own = next(drawn)
            for s, side in enumerate((first, second)):
                ends[s, 0], ends[s, 1] = np.fmin(ends[s, 0], side.of(own)), np.fmax(ends[s, 1], side.of(own))
        ranges = ends[:, 1] - ends[:, 0]
        error = np.std(ranges[1] - ranges[0], axis=0, ddof=1)
        found.append(DisparityChange(_range(values[0]), _range(values[1]), np.where(error > 0, error, np.nan)))
    return found


def _range(values: Floats) -> Floats:
    """The largest minus the smallest known value of each column, NaN with fewer than two."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        spread = np.where(known, values, -np.inf).max(axis=0) - np.where(known, values, np.inf).min(axis=0)
    return np.where(known.sum(axis=0) > 1, spread, np.nan)
