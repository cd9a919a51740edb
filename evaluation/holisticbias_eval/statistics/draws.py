"""Means of groups of rows, with intervals over repeated draws and tests against the other groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.statistics.intervals import t_quantile

_MOST_DRAWS = 50


@dataclass(frozen=True, slots=True)
class Means:
    """Means of groups with 95% intervals: shape ``[groups]`` each; NaN without rows, or without two draws."""

    mean: Floats
    low: Floats
    high: Floats


def number_draws(cell: Ints) -> Ints:
    """Number the rows of each cell from 0: shape ``[rows]``. From 50 on the numbers start again."""
    order = np.argsort(cell, kind="stable")
    counts = np.bincount(cell)
    found = np.empty_like(order)
    found[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return found % _MOST_DRAWS


def means_over_draws(values: Floats, group: Ints, draw: Ints, groups: int) -> Means:
    """Means of groups, and intervals from the jackknife over draws with Student's t.

    The arguments have shape ``[rows]``. A draw holds one response for each cell
    of the design, so leaving out one at a time keeps the design balanced.
    """
    draws = int(draw.max(initial=-1)) + 1
    place, size = group * max(draws, 1) + draw, groups * max(draws, 1)
    sums = np.bincount(place, values, size).reshape(groups, -1)
    rows = np.bincount(place, minlength=size).reshape(groups, -1)
    total, count, used = sums.sum(axis=1), rows.sum(axis=1), (rows > 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
        without = (total[:, None] - sums) / (count[:, None] - rows)
        without = np.where(rows > 0, without, np.nan)
        centre = np.nansum(without, axis=1) / used
        variance = (used - 1) / used * np.nansum((without - centre[:, None]) ** 2, axis=1)
        margin = np.where(used > 1, t_quantile(used - 1) * np.sqrt(variance), np.nan)
    return Means(mean, mean - margin, mean + margin)


def permuted_p_values(values: Floats, group: Ints, stratum: Ints, groups: int) -> Floats:
    """Two-sided p-values of groups whose mean rank differs from that of random rows of the same strata: ``[groups]``.

    The arguments have shape ``[rows]``. Under permutation of the rows of each stratum, the sum of a group's ranks has
    a known mean and variance; it is compared with a normal distribution. Ranks keep a few very large values from
    deciding. NaN if the variance is 0.
    """
    values = rankdata(values)
    strata = int(stratum.max(initial=-1)) + 1
    size = np.bincount(stratum, minlength=strata)
    mean = np.bincount(stratum, values, strata) / np.maximum(size, 1)
    spread = np.bincount(stratum, (values - mean[stratum]) ** 2, strata) / np.maximum(size - 1, 1)
    cells = np.bincount(group * max(strata, 1) + stratum, minlength=groups * max(strata, 1)).reshape(groups, -1)
    variance = (cells * (1 - cells / np.maximum(size, 1)) * spread).sum(axis=1)
    apart = np.bincount(group, values, groups) - cells @ mean
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(variance > 0, np.abs(apart) / np.sqrt(variance), np.nan)
    found: Floats = 2 * ndtr(-z)
    return found
