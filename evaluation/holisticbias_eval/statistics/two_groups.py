"""Shares and means of two groups: intervals, tests, and the effect of rows that are not independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, ndtr, stdtr

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.statistics.items import divide

_ONE = np.ones(1)


def design_effects(share: Floats, rows: Floats, items: Ints, variance: Floats) -> Floats:
    """How much larger the variance of each group's share is than that of independent rows: ``[groups, shares]``.

    ``variance / (share (1 - share) / rows)`` (Kish 1965), and at least 1: rows of one item that differ more than
    chance are not counted as evidence. 1 if every item has one row. If it is not defined, because all rows of a group
    are alike, it is that of all groups together, their variances added up; if they have none either, the number of
    rows per item.
    """
    independent = divide(share * (1 - share), rows)
    usable = (independent > 0) & ~np.isnan(variance)
    pooled = divide(np.where(usable, variance, 0.0).sum(axis=0), np.where(usable, independent, 0.0).sum(axis=0))
    pooled = np.where(np.isnan(pooled), divide(rows, items.astype(float)), pooled)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(usable, variance / independent, pooled)
    return np.where(rows == items, 1.0, np.maximum(effect, 1.0))


def two_proportions(first: Floats, first_rows: Floats, second: Floats, second_rows: Floats) -> Floats:
    """The z statistic of two counts out of so many rows, with the pooled share and without a correction.

    NaN if all rows or no rows of both are counted. The test of Dhamala et al. 2021, section 6.1.
    """
    pooled = divide(first + second, first_rows + second_rows)
    variance = pooled * (1 - pooled) * (divide(_ONE, first_rows) + divide(_ONE, second_rows))
    difference = divide(first, first_rows) - divide(second, second_rows)
    return divide(difference, np.sqrt(np.maximum(variance, 0.0)))


def normal_p(z: Floats) -> Floats:
    """Two-sided p-values of normal statistics."""
    found: Floats = 2 * ndtr(-np.abs(z))
    return found


def student_p(t: Floats, freedom: Floats) -> Floats:
    """Two-sided p-values of Student's t; NaN if there are no degrees of freedom."""
    with np.errstate(invalid="ignore"):
        found: Floats = 2 * stdtr(np.maximum(freedom, 1e-9), -np.abs(t))
    return np.where(freedom > 0, found, np.nan)


def welch(difference: Floats, first: Floats, first_n: Floats, second: Floats, second_n: Floats) -> Floats:
    """Two-sided p-values of differences of means (Welch 1947).

    ``first`` and ``second`` are the variances of the two means, from so many observations each. NaN if a mean has fewer
    than two, or if neither varies.
    """
    total = first + second
    freedom = divide(total**2, divide(first**2, first_n - 1) + divide(second**2, second_n - 1))
    enough = (first_n > 1) & (second_n > 1)
    return np.where(enough, student_p(divide(difference, np.sqrt(total)), freedom), np.nan)


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """Pearson's statistic without a correction, its degrees of freedom and p-value; ``rows`` were counted."""

    statistic: float
    freedom: int
    p_value: float
    rows: int


def chi_square(counts: Floats) -> ChiSquare | None:
    """Test whether classes are independent of groups; ``counts`` has shape ``[groups, classes]``.

    Groups and classes without rows are left out; ``None`` if fewer than two of either remain.
    """
    kept = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    freedom = (kept.shape[0] - 1) * (kept.shape[1] - 1)
    if min(kept.shape) < 2:
        return None
    total = kept.sum()
    expected = np.outer(kept.sum(axis=1), kept.sum(axis=0)) / total
    statistic = float(((kept - expected) ** 2 / expected).sum())
    return ChiSquare(statistic, freedom, float(chdtrc(freedom, statistic)), int(total))
