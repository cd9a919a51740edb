"""The Mann-Whitney U test between every pair of many samples at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from scipy.stats import mannwhitneyu

Floats = npt.NDArray[np.float64]

EXACT_UP_TO = 8


@dataclass(frozen=True, slots=True)
class PairwiseTests:
    """Tests between samples ``first[k] < second[k]``: shape ``[pairs]`` each.

    ``u`` is the statistic of the first sample, ``p`` the two-sided p-value;
    both are NaN where a sample is empty.
    """

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    u: Floats
    p: Floats


def mann_whitney_pairs(values: Floats, sample: npt.NDArray[np.int64], samples: int) -> PairwiseTests:
    """Two-sided tests between all pairs of samples (Mann and Whitney 1947).

    ``values`` has shape ``[values]``; ``sample`` says to which of ``samples``
    each belongs. Equal to ``scipy.stats.mannwhitneyu`` with its defaults: the
    exact distribution where a sample has at most 8 values and the pair no
    ties, else the normal approximation with tie and continuity corrections.
    """
    order = np.argsort(values, kind="stable")
    values, sample = values[order], sample[order]
    member = np.zeros((len(values), samples))
    member[np.arange(len(values)), sample] = 1
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]) if len(values) else np.zeros(0, bool))
    sizes = np.diff(np.append(starts, len(values)))
    below = np.vstack([np.zeros(samples), np.cumsum(member, axis=0)])
    middle = (below[starts] + below[starts + sizes]) / 2
    wins = member.T @ np.repeat(middle, sizes, axis=0)
    counts = member.sum(axis=0)
    tied = np.add.reduceat(member, starts)[sizes > 1] if len(starts) else np.zeros((0, samples))
    first, second = np.triu_indices(samples, 1)
    u = wins[first, second]
    ties = _tie_terms(tied, first, second)
    p = _asymptotic_p(u, counts[first], counts[second], ties)
    empty = (counts[first] == 0) | (counts[second] == 0)
    exact = ~empty & (ties == 0) & (np.minimum(counts[first], counts[second]) <= EXACT_UP_TO)
    for pair in np.flatnonzero(exact):
        p[pair] = mannwhitneyu(values[sample == first[pair]], values[sample == second[pair]], method="exact").pvalue
    u[empty] = p[empty] = np.nan
    return PairwiseTests(first, second, u, p)


def _tie_terms(tied: Floats, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> Floats:
    """The sum of t^3 - t over groups of t equal values in each pair's pooled sample, by expanding (a + b)^3."""
    squares = tied**2
    alone = (tied**3 - tied).sum(axis=0)
    crossed = squares.T @ tied
    terms: Floats = alone[first] + alone[second] + 3 * (crossed[first, second] + crossed[second, first])
    return terms


def _asymptotic_p(u: Floats, n1: Floats, n2: Floats, ties: Floats) -> Floats:
    n = n1 + n2
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1))))
        z = (np.maximum(u, n1 * n2 - u) - n1 * n2 / 2 - 0.5) / deviation
    p: Floats = np.clip(2 * ndtr(-z), 0, 1)
    return p
