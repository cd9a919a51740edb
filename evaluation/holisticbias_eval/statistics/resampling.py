"""The number of pairs that differ if nouns are resampled or left out, or descriptors' labels permuted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.statistics.mannwhitney import EXACT_UP_TO, p_values, pairs_of, pairs_of_rows
from holisticbias_eval.statistics.shares import counts_of

CRITICAL_Z = 1.959963984540054
_BYTES_AT_ONCE = 1 << 25


def noun_draws(nouns: int, draws: int, rng: np.random.Generator) -> Ints:
    """Draw as many nouns as there are with replacement, and count each: shape ``[draws, nouns]``."""
    return rng.multinomial(nouns, np.full(nouns, 1 / nouns), size=draws).astype(np.int64)


def expansion(clusters: int) -> float:
    """The factor that widens draws of this many clusters so that intervals have their nominal coverage.

    ``sqrt(n / (n - 1))`` times the 97.5 % quantile of Student's t with n - 1
    degrees of freedom divided by the normal's: the expanded percentile interval
    (Hesterberg 2015). The factor of one cluster is 1: nothing is known of how clusters vary.
    """
    if clusters < 2:
        return 1.0
    return float(np.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, 0.975) / CRITICAL_Z)


def significant_when_weighted(values: Floats, weights: Ints) -> tuple[Ints, Ints]:
    """Count the pairs with p < 0.05, and the testable pairs, with weighted nouns.

    ``values`` has shape ``[descriptors, nouns]``, NaN if there is no value;
    ``weights`` has shape ``[draws, nouns]``; the results have shape
    ``[draws]``. The test is that of ``mann_whitney_pairs`` on the samples with
    their values repeated.

    A U statistic under weights is a quadratic form: ``w' G w`` with ``G`` of
    shape ``[nouns, nouns]`` saying which value of the first descriptor is above
    which of the second. One matrix product gives it for all pairs and draws.
    """
    nouns = values.shape[1]
    first, second = pairs_of(len(values))
    products = (weights[:, :, None] * weights[:, None, :]).reshape(len(weights), -1).T.astype(np.float32)
    present = (~np.isnan(values)).T.astype(np.int64)
    counts, repeated = weights @ present, (weights**3 - weights) @ present
    significant, tested = np.zeros(len(weights), np.int64), np.zeros(len(weights), np.int64)
    step = max(1, _BYTES_AT_ONCE // (4 * nouns**2))
    for start in range(0, len(first), step):
        one, other = first[start : start + step], second[start : start + step]
        # without a missing sentence all samples have one size: one column then represents all
        sized = (one, other) if not present.all() else (one[:1], other[:1])
        above = _above(values[one], values[other])
        u = above.reshape(len(one), -1) @ products
        ties = _ties_of_values(values[one], values[other])
        n1, n2 = (counts[:, side].T for side in sized)
        again = repeated[:, sized[0]].T + repeated[:, sized[1]].T
        differs, known = _differs(u, n1, n2, again, ties)
        significant += differs.sum(axis=0)
        tested += np.broadcast_to(known, u.shape).sum(axis=0)
    return significant, tested


def _above(one: Floats, other: Floats) -> npt.NDArray[np.float32]:
    left, right = one[:, :, None], other[:, None, :]
    above: npt.NDArray[np.float32] = (left > right).astype(np.float32)
    equal = left == right
    if equal.any():
        above += 0.5 * equal
    return above


def _ties_of_values(one: Floats, other: Floats) -> Floats:
    """The sum of t^3 - t over groups of equal values in each pair's pooled sample: shape ``[pairs]``."""
    pooled = np.sort(np.concatenate([one, other], axis=1), axis=1)
    ties = np.zeros(len(pooled))
    for row in np.flatnonzero((pooled[:, 1:] == pooled[:, :-1]).any(axis=1)):
        _, runs = np.unique(pooled[row][~np.isnan(pooled[row])], return_counts=True)
        ties[row] = (runs.astype(float) ** 3 - runs).sum()
    return ties


def _differs(u: npt.NDArray[np.float32], n1: Ints, n2: Ints, repeated: Ints, ties: Floats) -> tuple[Bools, Bools]:
    """Whether each pair differs, and whether it could be tested: shape ``[pairs, draws]`` each.

    If a value is both repeated and tied with another, its ties are added up as
    if they were separate.
    """
    n = n1 + n2
    known = (n1 > 0) & (n2 > 0)
    all_ties = repeated + ties[:, None]
    if (n1 <= EXACT_UP_TO).any() or (n2 <= EXACT_UP_TO).any():
        p = p_values(*np.broadcast_arrays(u.astype(np.float64), n1, n2, all_ties))
        return p < SIGNIFICANCE, known
    variance = n1 * n2 / 12 * ((n + 1) - all_ties / (n * (n - 1.0)))
    margin = CRITICAL_Z * np.sqrt(np.maximum(variance, 0)) + 0.5
    return (np.abs(u - n1 * n2 / 2) > margin) & known, known


def significant_when_permuted(values: Floats, permutations: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Count the pairs with p < 0.05, and the testable pairs, with permuted labels: ``[permutations]`` each.

    The descriptors' labels are permuted among the sentences of each noun, so
    that differences between nouns remain and all others are due to chance.
    """
    significant, tested = np.stack([_counts(rng.permuted(values, axis=0)) for _ in range(permutations)], axis=1)
    return significant, tested


def significant_without_each_noun(values: Floats) -> tuple[Ints, Ints]:
    """Count the pairs with p < 0.05, and the testable pairs, without each noun: ``[nouns]`` each."""
    nouns = values.shape[1]
    significant, tested = np.stack([_counts(np.delete(values, n, axis=1)) for n in range(nouns)], axis=1)
    return significant, tested


def stacked_p(values: Floats) -> Floats:
    """P-values of all pairs of descriptors, tested in one call; ``values`` has shape ``[descriptors, nouns]``."""
    return pairs_of_rows(values).stacked


def _counts(values: Floats) -> Ints:
    return counts_of(stacked_p(values))
