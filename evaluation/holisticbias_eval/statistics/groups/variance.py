"""Tests of the values of several groups on the same sentences: F, t, Friedman, Wilcoxon, and single sentences."""

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, fdtri

from holisticbias_eval.arrays import Floats, Ints, divide
from holisticbias_eval.statistics.cells import finite, occurrences
from holisticbias_eval.statistics.groups.moments import MomentSums, centred, moments, unless_rounding
from holisticbias_eval.statistics.mannwhitney import pairs_of
from holisticbias_eval.statistics.tests import signed_rank_tests, student_p

MOST_GROUPS = 60
"""Groups up to which all pairs are compared."""


@dataclass(frozen=True, slots=True)
class GroupValues:
    """Values of sentences in groups: shape ``[sentences, groups]``, NaN if missing.

    ``paired`` says whether a row is one sentence in all groups; otherwise each column is filled from above.
    """

    values: Floats
    paired: bool

    @classmethod
    def of_rows(cls, values: Floats, group: Ints, groups: int) -> "GroupValues":
        """The values of rows by the number of their group, none of them paired; what is not finite is missing."""
        place = occurrences(group)
        columns = np.full((int(place.max(initial=-1)) + 1, groups), np.nan)
        columns[place, group] = finite(values)
        return cls(columns, paired=False)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.values.shape[1])

    @property
    def sentences(self) -> int:
        """The number of sentences with a value; if they are not paired, of the group that has fewest."""
        known = ~np.isnan(self.values)
        return int(known.any(axis=1).sum() if self.paired else known.sum(axis=0).min())

    @property
    def in_pairs(self) -> bool:
        """Whether all pairs of groups are compared."""
        return self.groups <= MOST_GROUPS

    @property
    def complete(self) -> Floats:
        """The sentences that have a value in every group; none if sentences are not paired."""
        return self.values[~np.isnan(self.values).any(axis=1) & self.paired]

    def sums(self) -> MomentSums:
        """The sums over all sentences, of centred values."""
        columns = moments(centred(self.values), pairs=self.paired and self.in_pairs)
        return MomentSums(columns.sum(axis=0), self.groups)


@dataclass(frozen=True, slots=True)
class Tested:
    """A statistic with its p-value, the number of values or sentences, and partial eta squared; NaN if undefined."""

    value: float
    p_value: float
    n: int
    eta_squared: float = np.nan


@dataclass(frozen=True, slots=True)
class PairTests:
    """A statistic of every pair of groups with p-values and numbers of values: shape ``[pairs]`` each."""

    value: Floats
    p_value: Floats
    n: Floats


def one_way(values: GroupValues) -> Tested:
    """F of a one-way analysis of variance between groups, as ``scipy.stats.f_oneway`` computes it.

    Undefined if a group has fewer than two values, or if no group varies. Eta squared is the share of the sum of
    squares that lies between groups.
    """
    sums = values.sums()
    f, n = float(sums.f()), int(sums.count.sum())
    p = float(fdtrc(max(values.groups - 1, 1), max(n - values.groups, 1), f))
    return Tested(f, p, n, float(sums.eta_squared()) if not np.isnan(f) else np.nan)


def f_point(values: GroupValues, share: float) -> float:
    """The value that F of normal, independent values exceeds with the probability 1 - ``share`` if groups are equal.

    It is NaN without two groups, or with no more values than groups.
    """
    between, within = values.groups - 1, int(values.sums().count.sum()) - values.groups
    return float(fdtri(between, within, share)) if between > 0 and within > 0 else np.nan


def within_sentences(values: GroupValues) -> Tested:
    """F of groups with sentences as blocks (repeated measures), on sentences that have a value in every group.

    The error is the interaction of groups and sentences, with ``(k - 1)(n - 1)`` degrees of freedom. Partial eta
    squared is the sum of squares of groups divided by the same plus the error.
    """
    known = centred(values.complete)
    n, k = known.shape
    if n < 2 or k < 2:
        return Tested(np.nan, np.nan, n)
    by_group, by_sentence = known.mean(axis=0), known.mean(axis=1, keepdims=True)
    groups = n * ((by_group - known.mean()) ** 2).sum()
    left = known - by_sentence - by_group + known.mean()
    error = float(unless_rounding((left**2).sum(), (known**2).sum()))
    if not error:
        return Tested(np.nan, np.nan, n)
    f = float(groups / (k - 1) / (error / ((k - 1) * (n - 1))))
    return Tested(f, float(fdtrc(k - 1, (k - 1) * (n - 1), f)), n, float(groups / (groups + error)))


def pairwise_t(values: GroupValues, *, paired: bool) -> PairTests:
    """Student's t of every pair, two-sided, as ``scipy.stats.ttest_rel`` or ``ttest_ind`` computes it."""
    sums = values.sums()
    first, second = pairs_of(values.groups)
    unpaired_n = sums.count[first] + sums.count[second]
    if not paired:
        t = sums.unpaired_t()
        return PairTests(t, student_p(t, unpaired_n - 2), unpaired_n)
    t = sums.paired_t()
    n = sums.pair_count if sums.paired else np.zeros(len(first))
    return PairTests(t, student_p(t, n - 1), n)


def friedman(values: GroupValues) -> Tested:
    """Friedman's chi-square of the ranks of groups within sentences; needs three groups and two sentences."""
    from scipy.stats import friedmanchisquare

    known = values.complete
    n, k = known.shape
    if n < 2 or k < 3 or not (known != known[:, :1]).any():
        return Tested(np.nan, np.nan, n)
    found = friedmanchisquare(*known.T)
    return Tested(float(found.statistic), float(found.pvalue), n)


def signed_ranks(values: GroupValues) -> PairTests:
    """Wilcoxon's signed-rank test of every pair; undefined with fewer than two sentences, or without a difference."""
    first, second = pairs_of(values.groups)
    found = np.full((3, len(first)), np.nan)
    found[2] = 0
    for i, (one, other) in enumerate(zip(first, second, strict=True)):
        difference = values.values[:, one] - values.values[:, other]
        difference = difference[~np.isnan(difference)] if values.paired else difference[:0]
        found[2, i] = len(difference)
        if len(difference) > 1:
            found[:2, i] = np.concatenate(signed_rank_tests(difference[None]))
    return PairTests(*found)


def without_each(values: GroupValues) -> Floats:
    """F without each sentence, or without each value if sentences are not paired; NaN if undefined."""
    rows = centred(values.values)
    if not values.paired:  # a row for each value
        row, column = np.nonzero(~np.isnan(rows))
        alone = np.full((len(row), values.groups), np.nan)
        alone[np.arange(len(row)), column] = rows[row, column]
        rows = alone
    columns = moments(rows, pairs=False)
    before, after = np.zeros_like(columns), np.zeros_like(columns)
    before[1:] = np.cumsum(columns, axis=0)[:-1]
    after[:-1] = np.cumsum(columns[::-1], axis=0)[::-1][1:]
    return MomentSums(before + after, values.groups).f()


def variance_shares(values: GroupValues) -> Floats:
    """The share of each sentence in the sum of squares around the grand mean: shape ``[sentences]``.

    Each value counts by itself if sentences are not paired: its place is then ``row * groups + column``, and missing
    values have a share of 0. NaN if nothing varies.
    """
    moved = centred(values.values)
    known = ~np.isnan(moved)
    if not known.any():
        return np.full(len(moved), np.nan)
    squares = np.where(known, (moved - moved[known].mean()) ** 2, 0.0)
    total = unless_rounding(squares.sum(), np.array(np.nansum(moved**2)))
    return divide(squares.sum(axis=1) if values.paired else squares.ravel(), total)
