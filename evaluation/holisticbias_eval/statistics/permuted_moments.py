"""Floors without simulation: how statistics of responses are distributed if labels are permuted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc, gammaincinv, ndtr, ndtri

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Interval

_NEARLY_SYMMETRIC = 1e-4
_CONSTANT = 1e-12


@dataclass(frozen=True, slots=True)
class Moments:
    """The mean, the variance and the third central moment of a statistic."""

    mean: float
    variance: float
    third: float

    def p_value(self, value: float) -> float:
        """The probability of a value at least as large; NaN if the statistic does not vary."""
        if not self.varies:
            return np.nan
        z = (value - self.mean) / np.sqrt(self.variance)
        return float(upper_tail(np.array([z]), np.array([self._skew]))[0])

    @property
    def varies(self) -> bool:
        """Whether the statistic varies, beyond rounding."""
        return self.variance > _CONSTANT * max(self.mean**2, np.finfo(float).tiny)

    @property
    def middle(self) -> Interval | None:
        """The middle 95% of the distribution; ``None`` if the statistic does not vary."""
        if not self.varies:
            return None
        low, high = (self.mean + np.sqrt(self.variance) * _quantile(q, self._skew) for q in (0.025, 0.975))
        return Interval(low=float(low), high=float(high))

    @property
    def _skew(self) -> float:
        return float(self.third / self.variance**1.5)


def mean_of_moments(parts: list[Moments]) -> Moments:
    """The moments of the mean of independent statistics."""
    n = len(parts)
    return Moments(
        sum(m.mean for m in parts) / n, sum(m.variance for m in parts) / n**2, sum(m.third for m in parts) / n**3
    )


def permuted_spread(values: Floats, counts: Ints) -> Moments:
    """The moments of the variance between the means of groups if responses are permuted among the groups.

    ``values`` has shape ``[responses, labels]``, and the groups have ``counts``
    responses each, at least two groups. The statistic is the variance (ddof 0) over
    groups of the mean response, summed over labels.

    Mean and variance are exact over all permutations (Kazi-Aoual et al. 1995,
    for two double-centred matrices: the products of responses, and the weights
    of pairs of responses in the statistic). The third moment is that of normal responses.
    """
    centred = values - values.mean(axis=0)
    n, groups = len(values), len(counts)
    squares = np.einsum("ij,ij->i", centred, centred)
    products = centred.T @ centred
    own = (
        float(squares.sum()),
        float((products**2).sum()),
        float(((products @ products) * products).sum()),
        float((squares**2).sum()),
    )
    v = 1 / counts
    first, second, third = (float((v**power).sum()) for power in (1, 2, 3))
    weights = (
        (groups - 1) / groups**2 * first,
        (second - 2 * second / groups + first**2 / groups**2) / groups**2,
        (third - 3 * third / groups + 3 * first * second / groups**2 - first**3 / groups**3) / groups**3,
        ((groups - 1) / groups**2) ** 2 * third,
    )
    return _matched(own, weights, n)


def _matched(own: tuple[float, float, float, float], other: tuple[float, float, float, float], n: int) -> Moments:
    """Moments of the sum of products of two double-centred matrices, one of them permuted.

    Of each matrix: the trace, the traces of its square and cube, and the sum of squares of its diagonal.
    """
    mean = own[0] * other[0] / (n - 1)
    if n < 3:
        return Moments(mean, 0.0, 0.0)
    spread = [(n - 1) * m[1] - m[0] ** 2 for m in (own, other)]
    variance = 2 * spread[0] * spread[1] / ((n - 1) ** 2 * (n + 1) * (n - 2))
    if n > 3:
        unequal = [n * (n + 1) * m[3] - (n - 1) * (m[0] ** 2 + 2 * m[1]) for m in (own, other)]
        variance += unequal[0] * unequal[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    return Moments(mean, max(variance, 0.0), 8 * own[2] * other[2] / (n - 1) ** 3)


def upper_tail(z: Floats, skew: Floats) -> Floats:
    """The probability of exceeding ``z`` standard deviations, with a skewness: Pearson's type III distribution."""
    with np.errstate(divide="ignore", over="ignore"):
        shape = np.where(np.abs(skew) > _NEARLY_SYMMETRIC, 4 / skew**2, 1.0)
    right = gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0))
    left = gammainc(shape, np.maximum(shape - z * np.sqrt(shape), 0))
    skewed = np.where(skew > 0, right, left)
    found: Floats = np.where(np.abs(skew) > _NEARLY_SYMMETRIC, skewed, ndtr(-z))
    return found


def _quantile(q: float, skew: float) -> float:
    """The quantile of a distribution with mean 0, variance 1 and this skewness, which is not negative."""
    if skew < _NEARLY_SYMMETRIC:
        return float(ndtri(q))
    shape = 4 / skew**2
    return float((gammaincinv(shape, q) - shape) / np.sqrt(shape))
