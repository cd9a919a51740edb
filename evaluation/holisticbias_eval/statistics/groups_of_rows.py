"""Divide the rows of a large array into groups, so that the number of compared pairs grows with the rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.statistics.mannwhitney import PairwiseTests, count_different_rows, pairs_of, pairs_of_rows

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
        (group[first], group[second]) for group in groups_of_rows(rows) for first, second in [pairs_of(len(group))]
    ]
    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    for indices in (first, second):
        indices.flags.writeable = False
    return first, second


def pairwise_tests(values: Floats) -> PairwiseTests:
    """Two-sided tests between the compared pairs of rows; see ``pairs_of_rows``."""
    groups = groups_of_rows(len(values))
    if len(groups) == 1:
        return pairs_of_rows(values)
    tests = [pairs_of_rows(values[group]) for group in groups]
    u, p, stacked = (np.concatenate([getattr(t, name) for t in tests]) for name in ("u", "p", "stacked"))
    return PairwiseTests(*compared_pairs(len(values)), u, p, stacked)


def count_different(values: Floats) -> Ints:
    """Count the compared pairs of rows with p < 0.05, and the tested ones: shape ``[2]``."""
    found: Ints = np.sum([count_different_rows(values[group]) for group in groups_of_rows(len(values))], axis=0)
    return found
