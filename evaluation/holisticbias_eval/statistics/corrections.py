"""P-values corrected for the number of tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from holisticbias_eval.arrays import Floats


def holm(p: Floats) -> Floats:
    """P-values adjusted to keep the chance of any false positive at the level (Holm 1979); NaN stays NaN.

    The k-th smallest of m becomes the largest of ``(m - i + 1) p_i`` for i up to k, at most 1.
    """
    return _adjusted(p, lambda ordered: np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1)))


def benjamini_hochberg(p: Floats, tests: int | None = None) -> Floats:
    """P-values adjusted to keep the share of false positives among positives at the level; NaN stays NaN.

    The k-th smallest of m becomes the smallest of ``m p_i / i`` for i from k on
    (Benjamini and Hochberg 1995). ``tests`` is m if ``p`` leaves some tests out;
    the adjusted p-values are then at least as large as with all of them.
    """

    def adjust(ordered: Floats) -> Floats:
        scaled = ordered * (tests or len(ordered)) / np.arange(1, len(ordered) + 1)
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _adjusted(p, adjust)


def _adjusted(p: Floats, adjust: Callable[[Floats], Floats]) -> Floats:
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(adjust(p[order]), 1)
    return adjusted
