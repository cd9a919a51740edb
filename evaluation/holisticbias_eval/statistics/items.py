"""Rows of groups, added up by item and resampled by item: several responses to one prompt stay together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.statistics.intervals import MIDDLE, expansion

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

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.starts) - 1

    def group_sums(self) -> Floats:
        """Sums over the rows of each group: shape ``[groups, columns]``."""
        total = np.zeros((len(self.sums) + 1, self.sums.shape[1]))
        np.cumsum(self.sums, axis=0, out=total[1:])
        return np.diff(total[self.starts], axis=0)

    def counts(self) -> Ints:
        """The number of items of each group with any row in each column: shape ``[groups, columns]``."""
        some = np.zeros((len(self.sums) + 1, self.sums.shape[1]), np.int64)
        np.cumsum(self.sums > 0, axis=0, out=some[1:])
        return np.diff(some[self.starts], axis=0)


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
        own = items.sums[start:end]
        if not len(own):
            yield np.zeros((draws, items.sums.shape[1]))
            continue
        step = max(1, _AT_ONCE // len(own))
        parts = [_draw(own, min(step, draws - done), rng) for done in range(0, draws, step)]
        yield np.concatenate(parts)


def _draw(own: Floats, draws: int, rng: np.random.Generator) -> Floats:
    size = len(own)
    chosen = rng.integers(size, size=(draws, size), dtype=np.int32)
    places = chosen + np.arange(draws)[:, None] * size
    times = np.bincount(places.ravel(), minlength=draws * size).reshape(draws, size)
    found: Floats = times.astype(np.float64) @ own
    return found


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
    Draws in which a value is not defined are left out. The variance is multiplied by ``n / (n - 1)``, the interval is
    expanded as in ``resampling.expansion``.
    """
    low, high, variance = (np.full(len(value), np.nan) for _ in range(3))
    whole = ~np.isnan(drawn).any(axis=0)
    if whole.any():
        low[whole], high[whole] = np.quantile(drawn[:, whole], MIDDLE, axis=0)
        variance[whole] = drawn[:, whole].var(axis=0, ddof=1)
    for i in np.flatnonzero(~whole & (~np.isnan(drawn)).any(axis=0)):
        low[i], high[i] = np.nanquantile(drawn[:, i], MIDDLE)
        variance[i] = np.nanvar(drawn[:, i])
    known = (items > 1) & ~np.isnan(value)
    factor = np.array([expansion(int(n)) for n in items])
    freedom = np.maximum(items - 1, 1)
    return Resampled(
        value,
        np.where(known, variance * items / freedom, np.nan),
        np.where(known, value - factor * (value - low), np.nan),
        np.where(known, value + factor * (high - value), np.nan),
    )


def paired_p(found: Resampled, items: Ints) -> Floats:
    """Two-sided p-values of differences, by Student's t of the bootstrap variance over so many items.

    The arguments have shape ``[groups, values]``; NaN if a variance is 0 or not known.
    """
    t = divide(found.value, np.sqrt(found.variance))
    freedom = np.maximum(items - 1, 1)
    p: Floats = 2 * stdtr(freedom, -np.abs(t))
    return p


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, NaN if the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = numerator / denominator
    return np.where(denominator > 0, found, np.nan)


def stacked(parts: list[Resampled]) -> Resampled:
    """Several results of ``summarise``, one row each."""
    names = ("value", "variance", "low", "high")
    value, variance, low, high = (np.stack([getattr(part, name) for part in parts]) for name in names)
    return Resampled(value, variance, low, high)
