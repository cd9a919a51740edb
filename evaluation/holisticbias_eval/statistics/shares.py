"""Shares of tests that call a pair different, and what is said of many of them; missing where there is nothing."""

from __future__ import annotations

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Interval

SIGNIFICANCE = 0.05


def share_of(p: Floats) -> float | None:
    """The share of p-values below 0.05 among those that are known."""
    known = p[~np.isnan(p)]
    return float((known < SIGNIFICANCE).mean()) if len(known) else None


def counts_of(p: Floats) -> Ints:
    """How many p-values are below 0.05, and how many are known: shape ``[2]``."""
    return np.array([(p < SIGNIFICANCE).sum(), (~np.isnan(p)).sum()])


def ratios(counts: Ints | int) -> Floats:
    """The first row by the second, NaN where that is zero: shape ``[columns]`` of ``[2, columns]``."""
    significant, tested = np.asarray(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = significant / tested
    return found


def median_of(values: Floats) -> float | None:
    """The median of what is known."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def middle_of(values: Floats) -> Interval | None:
    """The middle 95 % of what is known."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.quantile(known, [0.025, 0.975])
    return Interval(low=float(low), high=float(high))


def range_of(values: Floats) -> Interval | None:
    """From the smallest to the largest of what is known, where there are two."""
    known = values[~np.isnan(values)]
    return Interval(low=float(known.min()), high=float(known.max())) if len(known) > 1 else None
