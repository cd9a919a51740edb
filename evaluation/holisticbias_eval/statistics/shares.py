"""Shares of significant tests, and summaries of known values; ``None`` if there is no value."""

from __future__ import annotations

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import SIGNIFICANCE


def share_of(p: Floats) -> float | None:
    """The share of known p-values below 0.05."""
    known = p[~np.isnan(p)]
    return float((known < SIGNIFICANCE).mean()) if len(known) else None


def share_of_counts(counts: Ints | int) -> float | None:
    """The number that differs by the number tested: ``counts`` has shape ``[2]``."""
    significant, tested = np.asarray(counts).tolist()
    return significant / tested if tested else None


def counts_of(p: Floats) -> Ints:
    """Count the p-values below 0.05 and the known ones: shape ``[2]``."""
    return np.array([(p < SIGNIFICANCE).sum(), (~np.isnan(p)).sum()])


def ratios(counts: Ints | int) -> Floats:
    """The first row divided by the second, NaN if that is zero: shape ``[columns]`` from ``[2, columns]``."""
    significant, tested = np.asarray(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = significant / tested
    return found


def median_of(values: Floats) -> float | None:
    """The median of the known values."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None
