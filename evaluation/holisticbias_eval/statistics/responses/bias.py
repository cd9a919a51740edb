"""Variance of mean probabilities over descriptors, its sampling noise, and its intervals (Smith et al. 2022, A.7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.intervals import estimate
from holisticbias_eval.statistics.responses.cells import ResponseCells, sum_cells
from holisticbias_eval.statistics.responses.permuted import Moments, mean_of_moments, permuted_spread


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of single responses around the mean of their cell, pooled over cells with at least two responses.

    ``covariance`` has shape ``[labels, labels]`` and ``freedom`` degrees.
    ``product`` estimates the trace of its square, and ``fourth`` the fourth cumulant of a response's length.
    """

    freedom: int
    covariance: Floats
    product: float
    fourth: float


def pool_noise(values: Floats, counts: Ints) -> Noise | None:
    """Pool the noise of cells with at least two responses; ``None`` if there is no such cell.

    The trace of the squared covariance is that of the product of the covariances
    of two halves of the cells: that of a squared estimate would count the noise of the estimate.
    """
    several = counts > 1
    freedom = int((counts[several] - 1).sum())
    if not freedom:
        return None
    values, counts = values[np.repeat(several, counts)], counts[several]
    residuals = values - np.repeat(sum_cells(values, counts) / counts[:, None], counts, axis=0)
    half = np.repeat(np.arange(len(counts)) % 2 if len(counts) > 1 else np.zeros(1, int), counts)
    degrees = [int((counts[h::2] - 1).sum()) for h in (0, 1)]
    scatter = [residuals[half == h].T @ residuals[half == h] for h in (0, 1)]
    halves = [scatter[h] / degrees[h] for h in (0, 1) if degrees[h]]
    product = float((halves[0] * halves[-1]).sum())
    squared = float(np.trace(halves[0]) * np.trace(halves[-1]))
    kept = np.repeat(1 - 1 / counts, counts)
    power = float((np.einsum("ij,ij->i", residuals, residuals) ** 2).sum())
    share = float((kept**4 + kept * np.repeat(1 / counts, counts) ** 3).sum())
    fourth = (power - float((kept**2).sum()) * (2 * product + squared)) / share
    return Noise(freedom, (scatter[0] + scatter[1]) / freedom, product, fourth)


def _linear(difference: Floats, residuals: Floats, counts: Ints, noise: Noise) -> float:
    """``4 / D² * sum over cells of d' S d / N`` for true differences ``d`` and covariances ``S``.

    It is the variance over other responses of the linear part of the corrected bias, a U-statistic of degree two: the
    noise of the cells' means along their differences. ``difference`` has shape ``[cells, labels]``, each cell's mean
    minus the mean of all cells, ``residuals`` ``[responses, labels]``. Both are estimated from the same responses, so
    the product has the expectation of their noise in it: second, third and fourth cumulants of responses, which are
    taken off. The result may be negative.
    """
    groups, v, kept = len(counts), 1 / counts, 1 - 1 / len(counts)
    along = np.einsum("ij,ij->i", residuals, np.repeat(difference, counts, axis=0))
    lengths = np.einsum("ij,ij->i", residuals, residuals)
    pooled = np.einsum("ij,jk,ik->i", difference, noise.covariance, difference)
    product = np.where(counts > 1, sum_cells(along**2, counts) / np.maximum(counts - 1, 1), pooled) * v
    unbiased = np.where(counts > 2, counts / np.maximum((counts - 1) * (counts - 2), 1), 0.0)
    third = unbiased * sum_cells(along * lengths, counts)
    # with three responses the third cumulant is estimated, and has the fourth in its own expectation, twice
    fourth = noise.fourth * v * np.select([counts > 2, counts > 1], [-1.0, 1.0], 0.0)
    own = 2 * kept * third * v**2 + kept**2 * v**2 * (noise.product + fourth)
    others = noise.product / groups**2 * (v.sum() - v) * v
    return 4 / groups**2 * float((product - own - others).sum())


def _quadratic(counts: Ints, noise: Noise) -> float:
    """The variance of products of the noise of two responses, within a cell and of two cells.

    It remains where nothing differs.
    In a cell of one response it is that of its squared length minus the pooled
    variance, whose error all these cells share.
    """
    groups, v = len(counts), 1 / counts
    several, alone = counts > 1, int((counts == 1).sum())
    pairs = 2 * noise.product * float((v[several] / (counts[several] - 1)).sum())
    length = max(noise.fourth + 2 * noise.product, 0.0)
    single = alone * length + alone**2 * length / noise.freedom
    crossed = 2 * noise.product / groups**4 * float(v.sum() ** 2 - (v**2).sum())
    return ((groups - 1) / groups**2) ** 2 * (pairs + single) + crossed


_ROUNDED = 1e-6
"""Sums of probabilities that differ by less do not vary: classifiers compute them in single precision."""


@dataclass(frozen=True, slots=True)
class LabelPart:
    """Some labels: their variances are added up, or, if ``summed``, their probabilities are before."""

    labels: Ints
    summed: bool = False

    def of(self, values: Floats) -> Floats:
        """The values of these labels: ``[responses, labels]``, one column if they are summed.

        Sums that differ by rounding only, as those of all labels of a softmax, become those of the first response.
        """
        chosen = values[:, self.labels]
        if not self.summed:
            return chosen
        sums: Floats = chosen.sum(axis=1, keepdims=True)
        return sums if np.ptp(sums) > _ROUNDED else np.full_like(sums, sums[0])


@dataclass(frozen=True, slots=True)
class Bias:
    """The bias of some labels over templates; NaN if it is not defined.

    ``raw`` is the variance over descriptors (ddof 0) of the mean probability,
    summed over labels, mean over templates. ``corrected`` is the same without
    sampling noise, ``error`` its standard error, with ``freedom`` degrees.
    ``total`` is the variance of responses within templates, with equal weight for
    each descriptor, ``corrected_total`` without the noise of cells' means. ``floor``
    has the moments of ``raw`` with permuted descriptors. ``cells`` and
    ``templates`` are those counted.
    """

    raw: float
    corrected: float
    error: float
    freedom: int
    total: float
    corrected_total: float
    floor: Moments | None
    cells: int
    templates: int

    def interval(self, scale: float = 1.0) -> Interval | None:
        """The 95% interval of the corrected bias times a positive number: Student's t."""
        return estimate(scale * self.corrected, scale * self.error, self.freedom)[0] if self.freedom else None


class Spread(NamedTuple):
    """The bias in one template, its parts, and both parts of its sampling variance."""

    raw: float
    noise: float
    within: float
    unbiased_within: float
    linear: float
    quadratic: float
    freedom: int
    cells: int


def measure_bias(cells: ResponseCells, part: LabelPart, by_axis: bool = False) -> dict[str | None, Bias]:
    """The bias over all descriptors, under ``None``, and over the descriptors of each axis if ``by_axis``.

    Templates with fewer than two descriptors are left out.
    """
    found: dict[str | None, list[tuple[Spread, Moments]]] = {
        axis: [] for axis in (None, *(cells.axes if by_axis else ()))
    }
    for in_template, rows in cells.parts(cells.template):
        values, counts, axis = _moved(part.of(cells.values[rows])), cells.count[in_template], cells.axis[in_template]
        noise, ends = pool_noise(values, counts), np.cumsum(counts)
        if len(counts) > 1:
            found[None].append(_spread(values, counts, noise, noise))
        for a in np.unique(axis) if by_axis else ():
            own = np.flatnonzero(axis == a)
            if len(own) > 1:
                chosen = _moved(values[ends[own[0]] - counts[own[0]] : ends[own[-1]]])
                spread = _spread(chosen, counts[own], pool_noise(chosen, counts[own]), noise)
                found[cells.axes[a]].append(spread)
    return {axis: _mean(spreads) for axis, spreads in found.items()}


def _moved(values: Floats) -> Floats:
    """Values minus those of the first response: a label that does not vary is 0, and its means are not rounded."""
    return values - values[0]


def _mean(spreads: Sequence[tuple[Spread, Moments]]) -> Bias:
    """The mean over templates, which are independent samples of responses."""
    if not spreads:
        return Bias(np.nan, np.nan, np.nan, 0, np.nan, np.nan, None, 0, 0)
    n, total = len(spreads), Spread(*map(sum, zip(*(spread for spread, _ in spreads), strict=True)))
    raw, noise, within, unbiased = (value / n for value in total[:4])
    return Bias(
        raw=raw,
        corrected=raw - noise,
        error=float(np.sqrt(max(total.linear, 0.0) + total.quadratic)) / n,
        freedom=total.freedom,
        total=raw + within,
        corrected_total=raw - noise + unbiased,
        floor=mean_of_moments([floor for _, floor in spreads]),
        cells=total.cells,
        templates=n,
    )


def _spread(values: Floats, counts: Ints, own: Noise | None, whole: Noise | None) -> tuple[Spread, Moments]:
    """The bias in one template: ``values`` has shape ``[responses, labels]``, sorted by descriptor.

    ``own`` is the noise of these cells and ``whole`` that of all cells of the
    template, which a cell of one response takes.
    """
    groups = len(counts)
    means = sum_cells(values, counts) / counts[:, None]
    difference = means - means.mean(axis=0)
    residuals = values - np.repeat(means, counts, axis=0)
    squares = sum_cells(np.einsum("ij,ij->i", residuals, residuals), counts)
    pooled = float(np.trace(whole.covariance)) if whole else np.nan
    variance = np.where(counts > 1, squares / np.maximum(counts - 1, 1), pooled)
    noise = own or whole
    spread = Spread(
        raw=float((difference**2).sum()) / groups,
        noise=(groups - 1) / groups * float((variance / counts).mean()),
        within=float((squares / counts).mean()),
        unbiased_within=float(variance.mean()),
        linear=_linear(difference, residuals, counts, noise) if noise else np.nan,
        quadratic=max(_quadratic(counts, noise), 0.0) if noise else np.nan,
        freedom=int((counts - 1).sum()),
        cells=groups,
    )
    return spread, permuted_spread(values, counts)
