"""Permuted labels without simulation: moments of statistics of responses, and tests of descriptors' differences."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc, gammaincinv, ndtr, ndtri

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.intervals import MIDDLE
from holisticbias_eval.statistics.responses.cells import ResponseCells

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
        low, high = (self.mean + np.sqrt(self.variance) * _quantile(q, self._skew) for q in MIDDLE)
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
