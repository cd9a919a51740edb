"""The Mann-Whitney U test between every pair of many samples at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from holisticbias_eval.arrays import Floats, Ints

Counts = npt.NDArray[np.signedinteger]

EXACT_UP_TO = 8


@dataclass(frozen=True, slots=True)
class PairwiseTests:
    """Tests between samples ``first[k] < second[k]``: shape ``[pairs]`` each.

    ``u`` is the statistic of the first sample, ``p`` the two-sided p-value of
    the pair by itself, ``stacked`` that of all pairs tested in one call; all
    are NaN if a sample is empty.
    """

    first: Ints
    second: Ints
    u: Floats
    p: Floats
    stacked: Floats


def mann_whitney_pairs(values: Floats, sample: Ints, samples: int) -> PairwiseTests:
    """Two-sided tests between all pairs of samples (Mann and Whitney 1947).

    ``values`` has shape ``[values]``; ``sample`` says to which of ``samples``
    each belongs. Equal to ``scipy.stats.mannwhitneyu`` with its defaults: the
    exact distribution if a sample has at most 8 values and the pair no
    ties, otherwise the normal approximation with tie and continuity corrections.

    Samples of one size can be stacked, as the published procedure does; scipy
    then decides for all pairs together, and one tie anywhere means that none
    of them uses the exact distribution. If sizes differ, ``stacked`` is ``p``.
    """
    counts = np.bincount(sample, minlength=samples).astype(np.int64)
    order = np.argsort(values)
    values, sample = values[order], sample[order]
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]) if len(values) else np.zeros(0, bool))
    sizes = np.diff(np.append(starts, len(values)))
    tied = _tied_members(sample, samples, sizes)
    wins = _wins(sample, counts, starts, sizes)
    first, second = pairs_of(samples)
    u = wins[first, second]
    ties = _tie_terms(tied, first, second)
    sizes_of_pairs = counts[first], counts[second]
    p = p_values(u, *sizes_of_pairs, ties)
    together = len(tied) > 0 and (counts == counts[0]).all()
    stacked = _asymptotic_p(u, *sizes_of_pairs, ties) if together else p
    u[np.isnan(p)] = np.nan
    return PairwiseTests(first, second, u, p, stacked)


def pairs_of_rows(values: Floats) -> PairwiseTests:
    """Two-sided tests between all pairs of rows; NaN in a row is left out."""
    present = ~np.isnan(values)
    return mann_whitney_pairs(values[present], np.nonzero(present)[0], len(values))


def p_values(u: Floats, n1: Ints, n2: Ints, ties: Floats) -> Floats:
    """Two-sided p-values of statistics of samples of these sizes, NaN if one is empty; all of one shape.

    ``ties`` is the sum of t^3 - t over groups of t equal values in the pooled sample.
    """
    p = _asymptotic_p(u, n1, n2, ties)
    empty = (n1 == 0) | (n2 == 0)
    exact = ~empty & (ties == 0) & (np.minimum(n1, n2) <= EXACT_UP_TO)
    for size in {*zip(n1[exact], n2[exact], strict=True)}:
        chosen = exact & (n1 == size[0]) & (n2 == size[1])
        p[chosen] = exact_p_values(int(size[0]), int(size[1]))[u[chosen].astype(np.int64)]
    p[empty] = np.nan
    return p


@lru_cache(maxsize=64)
def pairs_of(samples: int) -> tuple[Ints, Ints]:
    """All pairs ``first[k] < second[k]`` of samples, in order: shape ``[pairs]`` each."""
    first, second = np.triu_indices(samples, 1)
    for indices in (first, second):
        indices.flags.writeable = False
    return first, second


def _wins(sample: Ints, counts: Ints, starts: Ints, sizes: Ints) -> Floats:
    """Count how often a value of each sample is above one of each other, ties as half: shape ``[samples, samples]``.

    ``sample`` is in the order of the values; ``starts`` and ``sizes`` are those of the runs of equal values.
    """
    found = np.zeros((len(counts), len(counts)))
    if not len(sample):
        return found
    # most of the time goes into sums over whole columns of small numbers
    kind = np.int16 if int(counts.max()) ** 2 <= np.iinfo(np.int16).max else np.int64
    below = np.zeros((len(sample) + 1, len(counts)), kind)
    below[np.arange(1, len(sample) + 1), sample] = 1
    np.cumsum(below, axis=0, out=below)
    by_sample = np.argsort(sample.astype(np.int32), kind="stable")
    present = np.flatnonzero(counts)
    if len(starts) == len(sample):
        found[present] = _sums_by_sample(below[by_sample], counts[present])
        return found
    lower, upper = (np.repeat(edge, sizes)[by_sample] for edge in (starts, starts + sizes))
    found[present] = _sums_by_sample(below[lower], counts[present])
    found[present] += _sums_by_sample(below[upper], counts[present])
    return found / 2


def _sums_by_sample(rows: Counts, counts: Ints) -> Counts:
    sums: Counts
    if (counts == counts[0]).all():
        sums = rows.reshape(len(counts), int(counts[0]), -1).sum(axis=1, dtype=rows.dtype)
    else:
        sums = np.add.reduceat(rows, np.cumsum(counts) - counts, axis=0)
    return sums


def _tied_members(sample: Ints, samples: int, sizes: Ints) -> Floats:
    """The number of values of each sample in each run of two or more equal values: shape ``[runs, samples]``."""
    tied = np.repeat(sizes > 1, sizes)
    run = np.repeat(np.cumsum(sizes > 1) - 1, sizes)[tied]
    members = np.zeros((int((sizes > 1).sum()), samples))
    np.add.at(members, (run, sample[tied]), 1)
    return members


@lru_cache(maxsize=256)
def exact_p_values(n1: int, n2: int) -> Floats:
    """Two-sided p-values of every U from 0 to ``n1 * n2`` without equal values: shape ``[n1 * n2 + 1]``.

    The numbers of arrangements that give each U are the coefficients of the Gaussian
    binomial, the product over i of (1 - q^(n + i)) / (1 - q^i) (Mann and
    Whitney 1947); they are computed as integers.
    """
    few, many = sorted((n1, n2))
    ways = np.zeros(n1 * n2 + 1, object)
    ways[0] = 1
    for i in range(1, few + 1):
        ways[many + i :] -= ways[: max(0, len(ways) - many - i)].copy()
        for start in range(i):
            ways[start::i] = np.cumsum(ways[start::i])
    total = int(ways.sum())
    at_least = np.cumsum(ways[::-1])[::-1]
    extreme = np.maximum(np.arange(len(ways)), n1 * n2 - np.arange(len(ways)))
    return np.array([min(1.0, 2 * int(at_least[u]) / total) for u in extreme])


def _tie_terms(tied: Floats, first: Ints, second: Ints) -> Floats:
    """The sum of t^3 - t over groups of t equal values in each pair's pooled sample, by expanding (a + b)^3."""
    squares = tied**2
    alone = (tied**3 - tied).sum(axis=0)
    crossed = squares.T @ tied
    terms: Floats = alone[first] + alone[second] + 3 * (crossed[first, second] + crossed[second, first])
    return terms


def _asymptotic_p(u: Floats, n1: Ints, n2: Ints, ties: Floats) -> Floats:
    n = n1 + n2
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1))))
        z = (np.maximum(u, n1 * n2 - u) - n1 * n2 / 2 - 0.5) / deviation
    p: Floats = np.clip(2 * ndtr(-z), 0, 1)
    return p
