"""Compared pairs of descriptors: which they are, how many of them differ, and by how much."""

from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from holisticbias_eval.arrays import Bools, Floats, Ints, divide
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.statistics import mannwhitney as mw
from holisticbias_eval.statistics.intervals import CRITICAL_Z

ALL_PAIRS_UP_TO = 200
PAIRS = 12_000
SMALLEST_GROUP = 64
_SEED = 0


@lru_cache(maxsize=64)
def groups_of_rows(rows: int) -> tuple[Ints, ...]:
    """The rows of each group, sorted; one group of all rows if there are at most 200.

    More rows are divided at random, with a fixed seed, into groups of nearly one size: as large as 12,000 pairs in all
    allow, but of about 64 rows at least. Every row is in the same number of pairs, give or take one, so that the pairs
    within groups estimate a share of all pairs with no more variance than as many pairs drawn at random (Lee 1990,
    U-Statistics, 4.3: balanced incomplete designs).
    """
    if rows <= ALL_PAIRS_UP_TO:
        return (np.arange(rows),)
    size = max(SMALLEST_GROUP, 1 + 2 * PAIRS // rows)
    order = np.random.default_rng(_SEED).permutation(rows)
    return tuple(np.sort(group) for group in np.array_split(order, -(-rows // size)))


@lru_cache(maxsize=64)
def compared_pairs(rows: int) -> tuple[Ints, Ints]:
    """All compared pairs ``first[k] < second[k]``, group by group: shape ``[pairs]`` each."""
    pairs = [
        (group[first], group[second]) for group in groups_of_rows(rows) for first, second in [mw.pairs_of(len(group))]
    ]
    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    for indices in (first, second):
        indices.flags.writeable = False
    return first, second


def pairwise_tests(values: Floats) -> mw.PairwiseTests:
    """Two-sided tests between the compared pairs of rows; see ``pairs_of_rows``."""
    groups = groups_of_rows(len(values))
    if len(groups) == 1:
        return mw.pairs_of_rows(values)
    tests = [mw.pairs_of_rows(values[group]) for group in groups]
    u, p, stacked = (np.concatenate([getattr(t, name) for t in tests]) for name in ("u", "p", "stacked"))
    return mw.PairwiseTests(*compared_pairs(len(values)), u, p, stacked)


def count_different(values: Floats) -> Ints:
    """Count the compared pairs of rows with p < 0.05, and the tested ones: shape ``[2]``."""
    return np.sum([mw.count_different_rows(values[group]) for group in groups_of_rows(len(values))], axis=0)


def share_of_counts(counts: Ints | tuple[int, int] | int) -> float | None:
    """The number that differs by the number tested: ``counts`` has shape ``[2]``."""
    significant, tested = np.asarray(counts).tolist()
    return significant / tested if tested else None


def counts_of(p: Floats, among: Bools | bool = True) -> Ints:
    """Count the p-values below 0.05, of those ``among`` which they are looked for, and all known: shape ``[2]``."""
    return mw.count_known(mw.differs(p) * among)


def ratios(counts: Ints | int) -> Floats:
    """The first row divided by the second, NaN if that is zero: shape ``[columns]`` from ``[2, columns]``."""
    return divide(*np.asarray(counts))


def median_of(values: Floats) -> float | None:
    """The median of the known values."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


LARGE = 0.43
_FOUR_IN_FIVE = CRITICAL_Z + ndtri(0.8)


def rank_biserial(u: Floats, n1: Ints, n2: Ints) -> Floats:
    """How much more often the first sample's values are above than below the second's, between -1 and 1.

    ``2 U / (n1 n2) - 1`` (Cureton 1956; Kerby 2014), NaN if a sample is
    empty. An effect of 0.43 or more is called large (Vargha and Delaney 2000, who
    write it as 0.71 of the pairs of values).
    """
    return divide(2 * u, n1 * n2) - 1


def detectable_rank_biserial(n1: Ints, n2: Ints) -> Floats:
    """The effect that a test at level 0.05 finds four times in five, by Noether's approximation (1987), at most 1."""
    with np.errstate(divide="ignore"):
        effect: Floats = _FOUR_IN_FIVE * np.sqrt((n1 + n2 + 1) / (3.0 * n1 * n2))
    return np.where(effect <= 1, effect, np.nan)


def smallest_significant_rank_biserial(n1: int, n2: int) -> float | None:
    """The smallest effect that is significant in two samples of these sizes without ties; ``None`` if no effect is."""
    u = np.arange((n1 * n2 + 1) // 2, n1 * n2 + 1).astype(np.float64)
    sizes = np.full(len(u), n1), np.full(len(u), n2)
    significant = np.flatnonzero(mw.p_values(u, *sizes, np.zeros(len(u))) < SIGNIFICANCE)
    return float(rank_biserial(u, *sizes)[significant[0]]) if len(significant) else None


def detectable_difference(differences: Floats) -> Floats:
    """The mean difference over nouns that a paired test finds four times in five: shape ``[pairs]``.

    ``differences`` has shape ``[pairs, nouns]``; NaN with fewer than two.
    """
    count = (~np.isnan(differences)).sum(axis=1)
    centred = differences - mean_difference(differences)[:, None]
    deviation = np.sqrt(divide(np.nansum(centred**2, axis=1), count - 1))
    return divide(_FOUR_IN_FIVE * deviation, np.sqrt(count))


def mean_difference(differences: Floats) -> Floats:
    """The mean over the nouns that both descriptors have, NaN without any: shape ``[pairs]``."""
    return divide(np.nansum(differences, axis=1), (~np.isnan(differences)).sum(axis=1))
