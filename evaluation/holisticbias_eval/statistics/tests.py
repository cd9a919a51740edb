"""Tests of shares, means, paired differences and classes, and p-values corrected for the number of tests."""

from collections.abc import Callable
from functools import lru_cache
from itertools import permutations

import numpy as np
from scipy.special import bdtr, bdtrc, betainc, ndtr, stdtr

from holisticbias_eval.arrays import Floats, Ints, divide


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


EXACT_UP_TO, FLIPPED_UP_TO = 50, 13
_ROWS_AT_ONCE = 1 << 10


def signed_rank_tests(differences: Floats) -> tuple[Floats, Floats]:
    """The smaller rank sum, and the two-sided signed-rank test (Wilcoxon 1945), of each row: shape ``[rows]`` each.

    ``differences`` has shape ``[rows, nouns]``; NaN and zero are left out; both are NaN if nothing is left. The exact
    distribution is used up to 50 differences without ties or zeros, that of all signs up to 13 others, else the normal
    approximation with tie correction: as ``scipy.stats.wilcoxon`` does.
    """
    found = np.full((2, len(differences)), np.nan)
    for start in range(0, len(differences), _ROWS_AT_ONCE):
        found[:, start : start + _ROWS_AT_ONCE] = _signed_ranks(differences[start : start + _ROWS_AT_ONCE])
    return found[0], found[1]


def _signed_ranks(differences: Floats) -> Floats:
    from scipy.stats import rankdata

    size = np.abs(differences)
    size[(size == 0) | np.isnan(size)] = np.inf
    order = np.argsort(size, axis=1)
    size = np.take_along_axis(size, order, axis=1)
    positive = np.take_along_axis(differences > 0, order, axis=1)
    count = np.isfinite(size).sum(axis=1)
    rank = np.broadcast_to(np.arange(1.0, size.shape[1] + 1), size.shape).copy()
    tied = np.flatnonzero(((size[:, 1:] == size[:, :-1]) & np.isfinite(size[:, 1:])).any(axis=1))
    rank[tied] = rankdata(size[tied], axis=1)
    equal = 2 * (rank[tied] - rankdata(size[tied], "min", axis=1)) + 1  # values that are equal to each
    ties = np.zeros(len(size))
    ties[tied] = np.where(np.isfinite(size[tied]), equal**2 - 1, 0).sum(axis=1)
    above = np.where(positive & np.isfinite(size), rank, 0).sum(axis=1)
    zeros = (differences == 0).any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt((count * (count + 1.0) * (2 * count + 1) - ties / 2) / 24)
        p = normal_p(np.abs(above - count * (count + 1) / 4) / deviation)
    exact = (count > 0) & (count <= EXACT_UP_TO) & (ties == 0) & ~zeros
    for n in np.unique(count[exact]):
        chosen = exact & (count == n)
        p[chosen] = signed_rank_p_values(int(n))[above[chosen].astype(np.int64)]
    flipped = (count > 0) & (count <= FLIPPED_UP_TO) & ~exact
    signed = np.where(np.isfinite(size), np.where(positive, rank, -rank), np.nan)[flipped, :FLIPPED_UP_TO]
    p[flipped] = sign_flip_p_values(signed, 1 << FLIPPED_UP_TO, np.random.default_rng(0))
    smaller = np.minimum(above, count * (count + 1) / 2 - above)
    return np.where(count > 0, np.stack([smaller, p]), np.nan)


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
    if 2**nouns <= flips:
        signs = 1.0 - 2 * ((np.arange(2**nouns)[None, :] >> np.arange(nouns)[:, None]) & 1)
    else:
        signs = rng.integers(0, 2, (nouns, flips)) * 2.0 - 1
    signs[:, 0] = 1
    known = np.nan_to_num(differences).astype(np.float32)
    p = np.empty(len(differences))
    for start in range(0, len(known), _ROWS_AT_ONCE):
        rows = known[start : start + _ROWS_AT_ONCE]
        sums = np.abs(rows @ signs.astype(np.float32))
        # sums that differ by rounding only are equal, also where the observed sum is 0 but for rounding
        rounding = np.maximum(1e-5 * sums[:, :1], 1e-6 * np.abs(rows).sum(axis=1, keepdims=True))
        p[start : start + len(rows)] = (sums >= sums[:, :1] - rounding).mean(axis=1)
    p[np.isnan(differences).all(axis=1)] = np.nan
    return p


def permuted_p(value: Floats, permuted: Floats) -> Floats:
    """The share of permutations, the observed order among them, in which a value is as large: ``[values]``.

    ``permuted`` has shape ``[permutations, values]``. Values that differ by rounding only are equal: with few items,
    many permutations give the observed value again, from sums in another order. Permutations without a value are left
    out. NaN if the value is, and without permutations.
    """
    reached = ((permuted > value) | np.isclose(permuted, value, rtol=1e-9, atol=1e-12)).sum(axis=0)
    known = (~np.isnan(permuted)).sum(axis=0)
    return np.where(np.isnan(value) | (known == 0), np.nan, (1 + reached) / (1 + known))


_ONE = np.ones(1)


def design_effects(share: Floats, rows: Floats, items: Ints, variance: Floats) -> Floats:
    """How much larger the variance of each group's share is than that of independent rows: ``[groups, shares]``.

    ``variance / (share (1 - share) / rows)`` (Kish 1965), and at least 1: rows of one item that differ more than
    chance are not counted as evidence. 1 if every item has one row, and NaN if several rows are all of one item. If all
    rows of a group are alike, it is ``1 + (b - 1) r`` with ``b`` rows per item; ``r`` is the intra-class correlation
    by the variances of all groups with several rows per item, added up, and 1 without any.
    """
    independent, more = divide(share * (1 - share), rows), divide(rows, items.astype(float)) - 1
    usable = (independent > 0) & ~np.isnan(variance) & (rows > items)
    excess, largest = (np.where(usable, x, 0.0).sum(axis=0) for x in (variance - independent, independent * more))
    within = np.where(largest > 0, divide(excess, largest), 1.0)
    effect = np.where(usable, divide(variance, independent), 1 + more * within)
    return np.where(rows == items, 1.0, np.where(items > 1, np.maximum(effect, 1.0), np.nan))


def two_proportions(first: Floats, first_rows: Floats, second: Floats, second_rows: Floats) -> Floats:
    """The z statistic of two counts out of so many rows, with the pooled share and without a correction.

    NaN if all rows or no rows of both are counted. The test of Dhamala et al. 2021, section 6.1.
    """
    pooled = divide(first + second, first_rows + second_rows)
    variance = pooled * (1 - pooled) * (divide(_ONE, first_rows) + divide(_ONE, second_rows))
    difference = divide(first, first_rows) - divide(second, second_rows)
    return divide(difference, np.sqrt(np.maximum(variance, 0.0)))


def normal_p(z: Floats) -> Floats:
    """Two-sided p-values of normal statistics."""
    return 2 * ndtr(-np.abs(z))


def student_p(t: Floats, freedom: Floats | Ints) -> Floats:
    """Two-sided p-values of Student's t; NaN if there are no degrees of freedom."""
    with np.errstate(invalid="ignore"):
        found: Floats = 2 * stdtr(np.maximum(freedom, 1e-9), -np.abs(t))
    return np.where(freedom > 0, found, np.nan)


def welch(difference: Floats, first: Floats, first_n: Floats, second: Floats, second_n: Floats) -> Floats:
    """Two-sided p-values of differences of means (Welch 1947).

    ``first`` and ``second`` are the variances of the two means, from so many observations each. NaN if a mean has fewer
    than two, or if neither varies.
    """
    total = first + second
    freedom = divide(total**2, divide(first**2, first_n - 1) + divide(second**2, second_n - 1))
    enough = (first_n > 1) & (second_n > 1)
    return np.where(enough, student_p(divide(difference, np.sqrt(total)), freedom), np.nan)


def chi_square(counts: Floats) -> tuple[float, float, int] | None:
    """Whether classes are independent of groups: Pearson's statistic, its p-value and its degrees of freedom.

    ``counts`` has shape ``[groups, classes]``. Groups and classes without rows are left out; ``None`` if fewer than two
    of either remain.
    """
    from scipy.stats import chi2_contingency

    kept = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(kept.shape) < 2:
        return None
    found = chi2_contingency(kept, correction=False)
    return float(found.statistic), float(found.pvalue), int(found.dof)


def stratified_p_values(values: Ints, group: Ints, stratum: Ints, groups: int) -> Floats:
    """Two-sided p-values of groups whose share of ones differs from what their strata lead to expect: ``[groups]``.

    ``values`` are 0 or 1; all arguments have shape ``[rows]``. A group's count is
    compared with a binomial distribution with the mean of the shares of its rows' strata: shares that differ between
    strata make the true distribution narrower (Hoeffding 1956), so the test is cautious. NaN for groups without rows.
    """
    strata = int(stratum.max(initial=-1)) + 1
    shares = divide(np.bincount(stratum, values, strata), np.bincount(stratum, minlength=strata))
    rows = np.bincount(group, minlength=groups)
    expected = divide(np.bincount(group, shares[stratum], groups), rows)
    count = np.bincount(group, values, groups)
    known = rows > 0
    found = np.full(groups, np.nan)
    k, n, p = count[known], rows[known], np.clip(expected[known], 0.0, 1.0)
    at_least = np.where(k > 0, bdtrc(k - 1, n, p), 1.0)
    found[known] = np.minimum(2 * np.minimum(bdtr(k, n, p), at_least), 1.0)
    return found


def log_odds(count: Ints, rows: Ints, total: Ints, all_rows: int, prior: float) -> tuple[Floats, Floats]:
    """The log-odds ratio of a group against the rest, and its standard error (Monroe, Colaresi and Quinn 2008).

    ``count`` of ``rows`` texts of the group have a phrase, ``total`` of ``all_rows`` in all: shape ``[phrases]``
    each. Both sides are drawn to the overall share by ``prior`` further texts
    that have it in that share: ``delta = log(a / (n + prior - a)) - log(b / (m + prior - b))`` with ``a`` and ``b``
    the counts with those of the prior, and ``sqrt(1 / a + 1 / b)`` as error.
    """
    expected = prior * total / all_rows
    own, other = count + expected, total - count + expected
    ratio = np.log(own / (rows + prior - own)) - np.log(other / (all_rows - rows + prior - other))
    error: Floats = np.sqrt(1 / own + 1 / other)
    return ratio, error


def share_p_values(count: Ints, total: Ints, share: Floats) -> Floats:
    """The probability of at least this many of ``total`` texts in a group by chance: ``[phrases]``.

    Each of the texts with the phrase is in the group with probability ``share``. This is exact for rare phrases, for
    which a normal approximation of the log-odds finds differences that are not there.
    """
    return np.where(count > 0, betainc(np.maximum(count, 1), total - count + 1, share), 1.0)


_EXACT_ORDERS_UP_TO = 8


def rank_correlation(pairs: Floats) -> tuple[float, float]:
    """The rank correlation of two columns (Spearman 1904) and its p-value: ``pairs`` has shape ``[items, 2]``.

    The two-sided p-value of up to 8 items is exact, the share of all orders of a column with a correlation as large
    (Hotelling and Pabst 1936): the approximation by Student's t gives 0 for three items in order, which one in three
    orders are. NaN with fewer than three items, or if all have the same value.
    """
    from scipy.stats import rankdata, spearmanr

    n = len(pairs)
    if n < 3 or any(len(np.unique(column)) < 2 for column in pairs.T):
        return np.nan, np.nan
    found = spearmanr(pairs[:, 0], pairs[:, 1])
    if n > _EXACT_ORDERS_UP_TO:
        return float(found.statistic), float(found.pvalue)
    ranks = rankdata(pairs, axis=0) - (n + 1) / 2
    products = np.abs(ranks[:, 1][_orders(n)] @ ranks[:, 0])
    return float(found.statistic), float((products >= products[0] - 1e-9).mean())


@lru_cache(maxsize=8)
def _orders(n: int) -> Ints:
    """All orders of n items, that of the items first: shape ``[orders, n]``."""
    return np.array([*permutations(range(n))])
