"""Noise of single responses, and what it does to the variance of their means over descriptors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats, Ints


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

    @property
    def variance(self) -> float:
        """The variance of a response around its mean, summed over labels."""
        return float(np.trace(self.covariance))


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


def sampling_variance(difference: Floats, residuals: Floats, counts: Ints, noise: Noise) -> tuple[float, float]:
    """The variance of the corrected bias of one template over other responses, in two parts.

    ``difference`` has shape ``[cells, labels]``: each cell's mean minus the mean of
    all cells; ``residuals`` has shape ``[responses, labels]``. The estimate is a
    U-statistic of degree two: its linear part is the noise of the cells' means
    along their differences, its quadratic part the products of the noise of two
    responses, which remain where nothing differs. The first may be negative.
    """
    return _linear(difference, residuals, counts, noise), max(_quadratic(counts, noise), 0.0)


def _linear(difference: Floats, residuals: Floats, counts: Ints, noise: Noise) -> float:
    """``4 / D² * sum over cells of d' S d / N`` for true differences ``d`` and covariances ``S``.

    Both are estimated from the same responses, so the product has the expectation of
    their noise in it: second, third and fourth cumulants of responses, which are taken off.
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


def sum_cells(values: Floats, counts: Ints) -> Floats:
    """Sum rows by cell; the rows of a cell follow each other, ``counts`` of them."""
    found: Floats = np.add.reduceat(values, np.cumsum(counts) - counts, axis=0)
    return found
