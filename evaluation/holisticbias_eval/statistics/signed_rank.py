"""Paired tests: both samples share their nouns."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from holisticbias_eval.arrays import Floats, Ints

EXACT_UP_TO = 50
_ROWS_AT_ONCE = 1 << 10


def wilcoxon_p_values(differences: Floats) -> Floats:
    """Two-sided signed-rank tests (Wilcoxon 1945) of each row: shape ``[rows]``.

    ``differences`` has shape ``[rows, nouns]``; NaN and zero are left out; the
    p-value of a row with nothing left is NaN. The exact distribution is used
    up to 50 differences without ties or zeros, else the normal approximation
    with tie correction: equal to ``scipy.stats.wilcoxon`` with ``method``
    "exact" and "asymptotic".
    """
    found = np.full(len(differences), np.nan)
    for start in range(0, len(differences), _ROWS_AT_ONCE):
        found[start : start + _ROWS_AT_ONCE] = _wilcoxon(differences[start : start + _ROWS_AT_ONCE])
    return found


def _wilcoxon(differences: Floats) -> Floats:
    size = np.abs(differences)
    size[(size == 0) | np.isnan(size)] = np.inf
    order = np.argsort(size, axis=1)
    size = np.take_along_axis(size, order, axis=1)
    positive = np.take_along_axis(differences > 0, order, axis=1)
    count = np.isfinite(size).sum(axis=1)
    rank = np.broadcast_to(np.arange(1.0, size.shape[1] + 1), size.shape).copy()
    tied_rows = np.flatnonzero(((size[:, 1:] == size[:, :-1]) & np.isfinite(size[:, 1:])).any(axis=1))
    ties = np.zeros(len(size))
    for row in tied_rows:
        _, inverse, runs = np.unique(size[row], return_inverse=True, return_counts=True)
        ends = np.cumsum(runs)
        rank[row] = (ends - (runs - 1) / 2)[inverse]
        runs = np.bincount(inverse[np.isfinite(size[row])])
        ties[row] = (runs.astype(float) ** 3 - runs).sum()
    above = np.where(positive & np.isfinite(size), rank, 0).sum(axis=1)
    zeros = (differences == 0).any(axis=1)
    p = _asymptotic_p(above, count, ties)
    exact = (count > 0) & (count <= EXACT_UP_TO) & (ties == 0) & ~zeros
    for n in np.unique(count[exact]):
        chosen = exact & (count == n)
        p[chosen] = signed_rank_p_values(int(n))[above[chosen].astype(np.int64)]
    p[count == 0] = np.nan
    return p


def _asymptotic_p(above: Floats, count: Ints, ties: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt((count * (count + 1.0) * (2 * count + 1) - ties / 2) / 24)
        z = np.abs(above - count * (count + 1) / 4) / deviation
    p: Floats = np.minimum(2 * ndtr(-z), 1)
    return p


@lru_cache(maxsize=64)
def signed_rank_p_values(n: int) -> Floats:
    """Two-sided p-values of every sum of positive ranks from 0 to n(n+1)/2, without ties."""
    ways = np.zeros(n * (n + 1) // 2 + 1, object)
    ways[0] = 1
    for rank in range(1, n + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    at_most = np.cumsum(ways)
    lower = np.minimum(np.arange(len(ways)), len(ways) - 1 - np.arange(len(ways)))
    return np.array([min(1.0, 2 * int(at_most[u]) / 2**n) for u in lower])


def sign_flip_p_values(differences: Floats, flips: int, rng: np.random.Generator) -> Floats:
    """Two-sided permutation tests of the mean difference of each row, by flipping signs: shape ``[rows]``.

    With up to ``log2(flips)`` nouns every flip is tried; otherwise ``flips`` random
    ones including the observed one, so that p is never 0 (Fisher 1935;
    Phipson and Smyth 2010). NaN is left out.
    """
    nouns = differences.shape[1]
    signs = _all_signs(nouns) if 2**nouns <= flips else rng.integers(0, 2, (nouns, flips)) * 2.0 - 1
    signs[:, 0] = 1
    known = np.nan_to_num(differences).astype(np.float32)
    p = np.empty(len(differences))
    for start in range(0, len(known), _ROWS_AT_ONCE):
        rows = known[start : start + _ROWS_AT_ONCE]
        sums = np.abs(rows @ signs.astype(np.float32))
        # sums that differ by rounding only are equal
        p[start : start + len(rows)] = (sums >= sums[:, :1] * (1 - 1e-5)).mean(axis=1)
    p[np.isnan(differences).all(axis=1)] = np.nan
    return p


def _all_signs(nouns: int) -> Floats:
    bits = (np.arange(2**nouns)[None, :] >> np.arange(nouns)[:, None]) & 1
    return (1 - 2 * bits).astype(np.float64)
