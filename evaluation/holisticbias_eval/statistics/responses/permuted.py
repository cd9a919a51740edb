"""Permuted labels without simulation: moments of statistics of responses, and tests of descriptors' differences."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from scipy.special import gammainc, gammaincc, gammaincinv, gammaln, ndtr, ndtri

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.intervals import MIDDLE
from holisticbias_eval.statistics.responses.cells import ResponseCells

_NEARLY_SYMMETRIC = 1e-4
_MOST_LABELS = 32
"""The third moment takes time with the third power of the number of labels."""
_CONSTANT = 1e-12


@dataclass(frozen=True, slots=True)
class Moments:
    """The mean, the variance and the third central moment of a statistic over permutations.

    ``share`` is that of the permutations that have the same value as the observed order, whatever the responses are.
    """

    mean: float
    variance: float
    third: float
    share: float = 0.0

    def p_value(self, value: float) -> float:
        """The probability of a value at least as large; NaN if the statistic does not vary.

        It is at least ``share``: few responses have few different permutations, of which the observed one is one.
        """
        if not self.varies:
            return np.nan
        z = (value - self.mean) / np.sqrt(self.variance)
        return max(float(upper_tail(np.array([z]), np.array([self._skew]))[0]), self.share)

    @property
    def varies(self) -> bool:
        """Whether the statistic varies, beyond rounding."""
        return self.variance > _CONSTANT * max(self.mean**2, np.finfo(float).tiny)

    @property
    def middle(self) -> Interval | None:
        """The middle 95% of the distribution; ``None`` if the statistic does not vary."""
        if not self.varies:
            return None
        low, high = (self.mean + np.sqrt(self.variance) * _quantile(q, self._skew) for q in MIDDLE)
        return Interval(low=float(low), high=float(high))

    @property
    def _skew(self) -> float:
        """The skewness, at least 0: with a negative one the type III distribution ends, and values above have p = 0."""
        return max(float(self.third / self.variance**1.5), 0.0)


def mean_of_moments(parts: list[Moments]) -> Moments:
    """The moments of the mean of independent statistics."""
    n = len(parts)
    mean, variance, third = (sum(getattr(m, name) for m in parts) for name in ("mean", "variance", "third"))
    return Moments(mean / n, variance / n**2, third / n**3, prod(m.share for m in parts))


def permuted_spread(values: Floats, counts: Ints) -> Moments:
    """The moments of the variance between the means of groups if responses are permuted among the groups.

    ``values`` has shape ``[responses, labels]``, and the groups have ``counts``
    responses each, at least two groups. The statistic is the variance (ddof 0) over
    groups of the mean response, summed over labels.

    They are exact over all permutations (Kazi-Aoual et al. 1995, for two double-centred matrices: the products of
    responses, and the weights of pairs of responses in the statistic). With more than 32 labels, or fewer than 6
    responses, the third moment is that of normal responses.
    """
    centred = values - values.mean(axis=0)
    products = centred.T @ centred
    own = _Matrix(
        ones=np.ones(len(values)),
        diagonal=np.einsum("ij,ij->i", centred, centred),
        squared=np.einsum("ij,ij->i", centred @ products, centred),
        square=float((products**2).sum()),
        cube=float(((products @ products) * products).sum()),
        along=lambda weights: float(((weights @ centred) ** 2).sum()),
        cubes=_sum_of_cubes(centred) if centred.shape[1] <= _MOST_LABELS else None,
    )
    return replace(_matched(own, _weights(counts), len(values)), share=_same_groups(counts))


def _same_groups(counts: Ints) -> float:
    """The share of permutations that keep the responses of each group together, in it or in a group of its size."""
    _, alike = np.unique(counts, return_counts=True)
    ways = gammaln(counts + 1.0).sum() + gammaln(alike + 1.0).sum()
    return float(np.exp(ways - gammaln(counts.sum() + 1.0)))


def _sum_of_cubes(centred: Floats) -> float:
    """The sum of the cubes of the products of every two responses."""
    return sum(float((((centred.T * column) @ centred) ** 2).sum()) for column in centred.T)


def _weights(counts: Ints) -> "_Matrix":
    """The weights of pairs of responses in the variance of means of groups: ``v / G - v w / G^2`` within a group.

    ``v`` and ``w`` are 1 by the number of responses of their groups, of which there are G; of two groups the weight is
    ``-v w / G^2``.
    """
    v, groups = 1 / counts, len(counts)
    own, crossed = (groups - 1) / groups**2, 1 / groups**2
    first, second, third, fourth = (float((v**power).sum()) for power in (1, 2, 3, 4))
    return _Matrix(
        ones=counts.astype(float),
        diagonal=own * v**2,
        squared=own**2 * v**3 + crossed**2 * v**2 * (first - v),
        square=(second - 2 * second / groups + first**2 / groups**2) / groups**2,
        cube=(third - 3 * third / groups + 3 * first * second / groups**2 - first**3 / groups**3) / groups**3,
        along=lambda w: (
            float((w**2 * v**2 * counts**2).sum()) / groups - float((w * v * counts).sum()) ** 2 / groups**2
        ),
        cubes=own**3 * fourth - crossed**3 * (second**2 - fourth),
    )


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A double-centred matrix M whose rows are alike within a group; ``ones`` are the numbers of rows: ``[groups]``.

    ``diagonal`` and ``squared`` are the diagonals of M and M^2: ``[groups]``. ``square`` and ``cube`` are the traces of
    M^2 and M^3, and ``cubes`` is the sum of the cubes of all elements, ``None`` if it takes too long. ``along`` gives
    ``w' M w`` for weights w of groups.
    """

    ones: Floats
    diagonal: Floats
    squared: Floats
    square: float
    cube: float
    along: Callable[[Floats], float]
    cubes: float | None

    @property
    def trace(self) -> float:
        """The trace of M."""
        return float(self.ones @ self.diagonal)

    def cubic(self) -> Floats:
        """The third-order sums of M without its mean eigenvalue, so that its trace is 0: shape ``[5]``.

        The trace of the cube, the sums of cubes of the diagonal and of all elements, the product of the diagonals of M
        and M^2, and the quadratic form of the diagonal.
        """
        n = self.ones.sum()
        mean, d = self.trace / (n - 1), self.diagonal - self.trace / n
        moved = self.diagonal + mean / n
        cubes = (self.cubes or 0.0) + 3 * mean * self.square / n + mean**3 / n
        return np.array([
            self.cube - 3 * mean * self.square + 3 * mean**2 * self.trace - mean**3 * (n - 1),
            self.ones @ d**3,
            cubes + self.ones @ ((moved - mean) ** 3 - moved**3),
            self.ones @ (d * (self.squared - 2 * mean * self.diagonal)),
            self.along(d) - mean * (self.ones @ d**2),
        ])  # fmt: skip


def _matched(own: _Matrix, other: _Matrix, n: int) -> Moments:
    """Moments of the sum of products of two double-centred matrices, one of them permuted."""
    mean = own.trace * other.trace / (n - 1)
    if n < 3:
        return Moments(mean, 0.0, 0.0)
    spread = [(n - 1) * m.square - m.trace**2 for m in (own, other)]
    variance = 2 * spread[0] * spread[1] / ((n - 1) ** 2 * (n + 1) * (n - 2))
    if n > 3:
        unequal = [
            n * (n + 1) * float(m.ones @ m.diagonal**2) - (n - 1) * (m.trace**2 + 2 * m.square) for m in (own, other)
        ]
        variance += unequal[0] * unequal[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    third = 8 * own.cube * other.cube / (n - 1) ** 3
    if n > 5 and own.cubes is not None:
        third = float(own.cubic() @ _third(float(n)) @ other.cubic())
    return Moments(mean, max(variance, 0.0), third)


def _third(n: float) -> Floats:
    """The coefficients of the products of both matrices' third-order sums in the third moment: shape ``[5, 5]``."""
    cube_sum, cube_form = -8 * (3 * n**2 - 15 * n + 16), -8 * (3 * n**2 - 15 * n + 24)
    diagonal = n * (n - 1)
    sums = diagonal * (n**2 - n + 4)
    found = np.array([
        [8 * (n**3 - 9 * n**2 + 26 * n - 22), 16 * diagonal * (n - 2), cube_sum, (n - 2) * cube_form, cube_form],
        [0, n**2 * (n + 1) * (n**2 + 15 * n - 4), -4 * sums, -12 * diagonal * (n - 1) * (n + 4), -6 * sums],
        [0, 0, 4 * (n**4 - 8 * n**3 + 19 * n**2 - 4 * n - 16), 24 * (n**3 - 3 * n**2 - 2 * n + 8), 24 * (n**2 - n - 4)],
        [0, 0, 0, 12 * (n**4 - n**3 - 8 * n**2 + 36 * n - 48), 24 * (n**3 - 2 * n**2 - 3 * n + 12)],
        [0, 0, 0, 0, 6 * (n**4 - 8 * n**3 + 21 * n**2 - 6 * n - 24)],
    ])  # fmt: skip
    return (found + np.triu(found, 1).T) / np.prod(n - np.arange(6))


def upper_tail(z: Floats, skew: Floats) -> Floats:
    """The probability of exceeding ``z`` standard deviations, with a skewness: Pearson's type III distribution."""
    with np.errstate(divide="ignore", over="ignore"):
        shape = np.where(np.abs(skew) > _NEARLY_SYMMETRIC, 4 / skew**2, 1.0)
    right = gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0))
    left = gammainc(shape, np.maximum(shape - z * np.sqrt(shape), 0))
    skewed = np.where(skew > 0, right, left)
    return np.where(np.abs(skew) > _NEARLY_SYMMETRIC, skewed, ndtr(-z))


def _quantile(q: float, skew: float) -> float:
    """The quantile of a distribution with mean 0, variance 1 and this skewness, which is not negative."""
    if skew < _NEARLY_SYMMETRIC:
        return float(ndtri(q))
    shape = 4 / skew**2
    return float((gammaincinv(shape, q) - shape) / np.sqrt(shape))


_NO_VARIANCE = 1e-12


def compare_descriptors(cells: ResponseCells, values: Floats) -> tuple[Floats, Floats, Floats, Ints, Ints]:
    """Compare each descriptor with all descriptors in the same templates, each template with equal weight.

    ``values`` has shape ``[responses, labels]``, in the order of ``cells``. The results are arrays of shape
    ``[descriptors, labels]``: the mean probability over the templates in which the descriptor has responses, the mean
    over templates of its difference from the mean of all descriptors there, and the p-value of that, NaN if it is not
    defined; then the numbers of templates and of responses of each descriptor.

    The p-value is two-sided, for descriptors permuted among the responses of each
    template: exact first three moments, Pearson's type III distribution or a normal
    distribution, whichever gives the larger p-value. Rare labels have skewed means,
    for which a normal distribution alone names descriptors by chance.
    A template with one descriptor is left out of differences and tests.
    """
    means = cells.sums(values) / cells.count[:, None]
    centred, second, third = (np.zeros_like(means) for _ in range(3))
    compared = np.zeros(len(means))
    for part, rows in cells.parts(cells.template):
        counts = cells.count[part]
        if len(counts) > 1:
            centred[part] = means[part] - means[part].mean(axis=0)
            second[part], third[part] = _difference_moments(values[rows], counts)
            compared[part] = 1
    size = len(cells.descriptors)
    templates = _by_descriptor(cells, compared[:, None], size)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = _by_descriptor(cells, means, size) / np.bincount(cells.descriptor, minlength=size)[:, None]
        difference = _by_descriptor(cells, centred, size) / templates
        variance = _by_descriptor(cells, second, size) / templates**2
        skew = _by_descriptor(cells, third, size) / templates**3 / variance**1.5
        z = difference / np.sqrt(variance)
    p_value = np.where(variance > _NO_VARIANCE**2, _two_sided(z, np.nan_to_num(skew)), np.nan)
    responses = np.bincount(cells.descriptor, weights=cells.count, minlength=size).astype(np.int64)
    return mean, difference, p_value, templates[:, 0].astype(np.int64), responses


def _two_sided(z: Floats, skew: Floats) -> Floats:
    """P-values of differences of ``z`` standard deviations.

    On its short side a type III distribution ends, and a sum of unequal weights does not: the tail of a normal
    distribution, which is longer there, is used if it is larger.
    """
    skewed = np.minimum(upper_tail(z, skew), upper_tail(-z, -skew))
    return np.minimum(2 * np.maximum(skewed, ndtr(-np.abs(z))), 1)


def _difference_moments(values: Floats, counts: Ints) -> tuple[Floats, Floats]:
    """Second and third moments of each cell's difference from the mean of all cells: ``[cells, labels]`` each.

    The difference is a sum of responses with fixed weights, which permutations reassign.
    """
    n, groups, v = len(values), len(counts), 1 / counts
    centred = values - values.mean(axis=0)
    own, other = 1 - 1 / groups, 1 / groups
    weight2 = own**2 * v + other**2 * (v.sum() - v)
    weight3 = own**3 * v**2 - other**3 * ((v**2).sum() - v**2)
    second = np.outer(weight2, (centred**2).sum(axis=0)) / (n - 1)
    third = np.outer(weight3, (centred**3).sum(axis=0)) * n / ((n - 1) * (n - 2)) if n > 2 else np.zeros_like(second)
    return second, third


def _by_descriptor(cells: ResponseCells, values: Floats, size: int) -> Floats:
    """Sum rows of cells by descriptor: ``[descriptors, columns]``."""
    found = np.zeros((size, values.shape[1]))
    np.add.at(found, cells.descriptor, values)
    return found
