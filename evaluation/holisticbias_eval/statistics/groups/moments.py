"""Sums over sentences from which F and all pairwise t follow, for one table or for many resampled ones at once."""

from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Bools, Floats, divide
from holisticbias_eval.statistics.mannwhitney import pairs_of

_ZERO = 1e-13
"""A sum of squared deviations is 0 up to this share of the sum of squares: the rest is rounding."""
_LARGEST = 1e140
"""Values above it are scaled down, because their squares overflow; F and t do not depend on the scale."""


def centred(values: Floats) -> Floats:
    """Values minus their median, which leaves F and t as they are and the least to rounding; NaN stays NaN."""
    known = values[~np.isnan(values)]
    if not len(known):
        return values
    moved: Floats = values - np.median(known)
    return moved / max(1.0, float(np.nanmax(np.abs(moved))) / _LARGEST)


def moments(values: Floats, *, pairs: bool) -> Floats:
    """Whether each value is known, the value, its square, and with ``pairs`` the same of all differences of groups.

    ``values`` has shape ``[..., sentences, groups]``, NaN if missing; the result ``[..., sentences, columns]``. Sums
    over sentences are read by ``Sums``.
    """
    parts = [values]
    if pairs:
        first, second = pairs_of(values.shape[-1])
        parts.append(values[..., first] - values[..., second])
    found = []
    for part in parts:
        known = ~np.isnan(part)
        filled = np.where(known, part, 0.0)
        found += [known.astype(np.float64), filled, filled**2]
    return np.concatenate(found, axis=-1)


@dataclass(frozen=True, slots=True)
class MomentSums:
    """Sums of ``moments`` over sentences: shape ``[..., columns]``, of so many groups."""

    sums: Floats
    groups: int

    @property
    def paired(self) -> bool:
        """Whether there are sums of differences."""
        return bool(self.sums.shape[-1] > 3 * self.groups)

    @property
    def count(self) -> Floats:
        """The number of values of each group: shape ``[..., groups]``."""
        return self.sums[..., : self.groups]

    @property
    def mean(self) -> Floats:
        """The mean of each group, NaN without a value: shape ``[..., groups]``."""
        return divide(self._total, self.count)

    @property
    def _total(self) -> Floats:
        return self.sums[..., self.groups : 2 * self.groups]

    @property
    def _squares(self) -> Floats:
        return self.sums[..., 2 * self.groups : 3 * self.groups]

    def between_and_within(self) -> tuple[Floats, Floats]:
        """Sums of squares between and within groups: shape ``[...]``.

        NaN if a group has fewer than two values, or without two groups.
        """
        enough = (self.count > 1).all(axis=-1) & (self.groups > 1)
        size = self.count.sum(axis=-1)
        grand = divide(self._total.sum(axis=-1), size)
        mean = np.where(self.count > 0, self.mean, 0.0)
        between = (self.count * (mean - grand[..., None]) ** 2).sum(axis=-1)
        within = _deviations(self._squares, self._total, self.count).sum(axis=-1)
        return np.where(enough, between, np.nan), np.where(enough, within, np.nan)

    def f(self) -> Floats:
        """One-way analysis of variance: shape ``[...]``.

        NaN if a group has fewer than two values, or if no group varies.
        """
        between, within = self.between_and_within()
        freedom = self.count.sum(axis=-1) - self.groups
        return divide(between / max(self.groups - 1, 1), divide(within, freedom))

    def eta_squared(self) -> Floats:
        """The share of the sum of squares that lies between groups: shape ``[...]``."""
        between, within = self.between_and_within()
        return divide(between, between + within)

    def unpaired_t(self) -> Floats:
        """Student's t of every pair with a pooled variance, the first minus the second: shape ``[..., pairs]``.

        NaN if a group has fewer than two values, or if neither varies.
        """
        first, second = pairs_of(self.groups)
        n, m = self.count[..., first], self.count[..., second]
        squares = _deviations(self._squares, self._total, self.count)
        kept = self._squares[..., first] + self._squares[..., second]
        pooled = unless_rounding(squares[..., first] + squares[..., second], kept)
        error = np.sqrt(divide(pooled, n + m - 2) * (divide(np.ones_like(n), n) + divide(np.ones_like(m), m)))
        found = divide(self.mean[..., first] - self.mean[..., second], error)
        return np.where((n > 1) & (m > 1), found, np.nan)

    @property
    def pair_count(self) -> Floats:
        """The number of sentences that both groups of a pair have: shape ``[..., pairs]``."""
        return self._pairs(0)

    def paired_t(self) -> Floats:
        """Student's t of the differences of every pair: shape ``[..., pairs]``.

        NaN if sentences are not paired, with fewer than two, or if differences do not vary.
        """
        if not self.paired:
            return np.full((*self.sums.shape[:-1], self.groups * (self.groups - 1) // 2), np.nan)
        n, total, squares = (self._pairs(i) for i in range(3))
        variance = divide(_deviations(squares, total, n), n - 1)
        return divide(divide(total, n), np.sqrt(divide(variance, n)))

    def _pairs(self, part: int) -> Floats:
        size = self.groups * (self.groups - 1) // 2
        start = 3 * self.groups + part * size
        return self.sums[..., start : start + size]


def mean_abs(t: Floats) -> Floats:
    """The mean of the absolute values over pairs that are defined, NaN if none is: ``[..., pairs]`` to ``[...]``."""
    known: Bools = ~np.isnan(t)
    return divide(np.where(known, np.abs(t), 0.0).sum(axis=-1), known.sum(axis=-1).astype(np.float64))


def _deviations(squares: Floats, total: Floats, count: Floats) -> Floats:
    """Sums of squared deviations from the mean; what rounding leaves of 0 is 0."""
    return unless_rounding(squares - np.where(count > 0, total, 0.0) ** 2 / np.maximum(count, 1.0), squares)


def unless_rounding(deviations: Floats, squares: Floats) -> Floats:
    """Sums of squared deviations, and 0 in place of what rounding of the sums of squares leaves."""
    return np.where(deviations > _ZERO * squares, deviations, 0.0)
