"""Tests between many samples, corrections and resampling, against scipy, values by hand and slow versions."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import false_discovery_control, mannwhitneyu, permutation_test, spearmanr, wilcoxon

from holisticbias_eval.arrays import Floats
from holisticbias_eval.statistics import mannwhitney, resampling
from holisticbias_eval.statistics.intervals import expansion
from holisticbias_eval.statistics.mannwhitney import PairwiseTests, mann_whitney_pairs, pairs_of_rows
from holisticbias_eval.statistics.resampling import (
    function_without_each_column,
    noun_draws,
    significant_when_permuted,
    significant_when_weighted,
    significant_without_each_noun,
)
from holisticbias_eval.statistics.tests import (
    benjamini_hochberg,
    holm,
    rank_correlation,
    sign_flip_p_values,
    signed_rank_tests,
)


def test_holm_worked_by_hand() -> None:
    # ordered 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.5 x 1, never decreasing
    found = holm(np.array([0.03, 0.01, np.nan, 0.5, 0.02]))
    np.testing.assert_allclose(found, [0.06, 0.04, np.nan, 0.5, 0.06])
    assert len(holm(np.array([]))) == len(benjamini_hochberg(np.array([]))) == 0


def test_benjamini_hochberg_equals_scipy() -> None:
    p = np.random.default_rng(0).uniform(0, 1, 200) ** 2
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p), rtol=1e-12)
    assert np.isnan(benjamini_hochberg(np.array([0.1, np.nan]))[1])


@pytest.mark.parametrize("nouns", [1, 5, 13, 30, 60])
@pytest.mark.parametrize("ties", [False, True])
def test_signed_ranks_equal_those_of_scipy(nouns: int, ties: bool) -> None:
    rows = 4 if ties and nouns == 13 else 20  # scipy takes seconds for the most ties that it computes exactly
    differences = np.random.default_rng(nouns).normal(0.2, 1, (rows, nouns))
    if ties:
        differences = np.round(differences) + np.where(differences > 0, 1, -1)
    for row, *found in zip(differences, *signed_rank_tests(differences), strict=True):
        expected = wilcoxon(row)
        assert found == pytest.approx([expected.statistic, expected.pvalue], rel=1e-10)


def test_signed_ranks_leave_out_zeros_and_what_is_missing() -> None:
    row = np.array([0.5, -1.0, np.nan, 2.0, 3.0, 0.0])
    _, found = signed_rank_tests(np.stack([row, np.full(6, np.nan), np.zeros(6)]))
    assert found[0] == pytest.approx(wilcoxon(row[row**2 > 0]).pvalue)
    assert np.isnan(found[1:]).all()


def test_sign_flips_of_few_nouns_are_all_tried() -> None:
    differences = np.random.default_rng(0).normal(0.5, 1, (6, 8))
    found = sign_flip_p_values(differences, 256, np.random.default_rng(0))
    for row, p in zip(differences, found, strict=True):
        expected = permutation_test((row,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
        assert p == pytest.approx(expected, abs=1e-12)


def test_sign_flips_are_never_zero_and_close_to_all_of_them() -> None:
    differences = np.random.default_rng(1).normal([[0.0], [0.4], [5.0]], 1, (3, 16))
    exact = sign_flip_p_values(differences, 1 << 16, np.random.default_rng(0))
    drawn = sign_flip_p_values(differences, 2000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn, exact, atol=0.04)
    assert (drawn > 0).all()


def test_few_clusters_are_spread_by_students_t() -> None:
    # t of 4 degrees of freedom at 97.5% is 2.776, the normal 1.960
    assert expansion(5) == pytest.approx(np.sqrt(5 / 4) * 2.7764451 / 1.9599640)
    assert expansion(1) == 1
    assert 1 < expansion(1000) < 1.002


@pytest.mark.parametrize("coarse", [False, True])
def test_leaving_a_noun_out_is_measuring_without_it(coarse: bool) -> None:
    perplexity = np.random.default_rng(0).lognormal([[0.0], [0.5], [1.0], [1.0], [2.0]], 1, (5, 9))
    if coarse:
        perplexity = np.round(perplexity)
    significant, tested = significant_without_each_noun(perplexity)
    for noun in range(9):
        kept = np.delete(perplexity, noun, axis=1)
        first, second = np.triu_indices(5, 1)
        p = mannwhitneyu(kept[first], kept[second], axis=1).pvalue
        assert (significant[noun], tested[noun]) == ((p < 0.05).sum(), 10)


@pytest.mark.parametrize(("nouns", "missing"), [(6, False), (20, False), (20, True), (10, True)])
def test_weighted_tests_equal_tests_of_repeated_values(nouns: int, missing: bool) -> None:
    rng = np.random.default_rng(nouns)
    perplexity = np.exp(rng.normal(rng.normal(0, 0.8, (5, 1)), 1, (5, nouns)))
    if missing:
        perplexity[rng.random(perplexity.shape) < 0.2] = np.nan
    weights = noun_draws(nouns, 20, rng)
    significant, tested = significant_when_weighted(perplexity, weights)
    for k, weight in enumerate(weights):
        repeated = np.repeat(perplexity, weight, axis=1)
        present = ~np.isnan(repeated)
        p = mann_whitney_pairs(repeated[present], np.nonzero(present)[0], len(repeated)).p
        assert (significant[k], tested[k]) == ((p < 0.05).sum(), (~np.isnan(p)).sum())


def test_values_that_are_tied_count_half() -> None:
    rng = np.random.default_rng(0)
    alike = np.tile(rng.integers(0, 2, 20).astype(float), (4, 1))
    significant, tested = significant_when_weighted(alike, noun_draws(20, 10, rng))
    assert (significant.tolist(), tested.tolist()) == ([0] * 10, [6] * 10)


def test_permuting_keeps_each_nouns_values() -> None:
    rng = np.random.default_rng(0)
    # for each noun all descriptors have the same value: no permutation changes anything, and no pair differs
    alike = np.tile(rng.normal(0, 5, 12), (4, 1))
    significant, tested = significant_when_permuted(alike, 5, rng)
    assert significant.tolist() == [0] * 5
    assert tested.tolist() == [6] * 5


SMOOTH = st.floats(-1e6, 1e6, allow_nan=False, width=64)
COARSE = st.integers(0, 4).map(float)
CONSTANT = st.just(7.0)


def pairwise(samples: list[list[float]]) -> PairwiseTests:
    values = np.array([v for sample in samples for v in sample])
    owner = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    shuffled = np.random.default_rng(0).permutation(len(values))
    return mann_whitney_pairs(values[shuffled], owner[shuffled], len(samples))


def samples(values: st.SearchStrategy[float], longest: int) -> st.SearchStrategy[list[list[float]]]:
    return st.lists(st.lists(values, max_size=longest), max_size=5)


def of_scipy(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """The statistics and p-values of pairs of samples along the last axis; p is 1 if all values are equal.

    Before version 1.18 scipy says so too, from then on it has no p-value.
    """
    found = mannwhitneyu(first, second, axis=-1)
    both = np.concatenate((first, second), -1)
    return found.statistic, np.where((both == both[..., :1]).all(-1), 1.0, found.pvalue)


@settings(max_examples=40, deadline=None)
@given(
    st.one_of(samples(SMOOTH, 8), samples(COARSE, 8), samples(SMOOTH, 25), samples(COARSE, 25), samples(CONSTANT, 12))
)
@example([[1.0, 2.0, np.inf], [np.inf, 5.0, 6.0]])
@example([[0.0, 1.0] * 20, [0.0] * 5 + [1.0] * 4, [0.0] * 11 + [1.0] * 19])
@example([[1.0, 2.0]])
def test_equals_scipy_pair_by_pair(drawn: list[list[float]]) -> None:
    found = pairwise(drawn)
    assert len(found.u) == len(drawn) * (len(drawn) - 1) // 2
    for first, second, u, p in zip(found.first, found.second, found.u, found.p, strict=True):
        if not drawn[first] or not drawn[second]:
            assert np.isnan(u)
            assert np.isnan(p)
            continue
        statistic, expected = of_scipy(np.array(drawn[first]), np.array(drawn[second]))
        assert u == statistic
        np.testing.assert_allclose(p, expected, rtol=1e-12, atol=1e-15)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 10).flatmap(
        lambda size: st.lists(st.lists(st.one_of(COARSE, SMOOTH), min_size=size, max_size=size), min_size=2, max_size=5)
    )
)
def test_samples_of_one_size_equal_scipy_on_stacked_arrays(drawn: list[list[float]]) -> None:
    found, values = pairwise(drawn), np.array(drawn)
    _, expected = of_scipy(values[found.first], values[found.second])
    np.testing.assert_allclose(found.stacked, expected, rtol=1e-12, atol=1e-15)


def test_a_tie_anywhere_takes_the_exact_distribution_from_stacked_samples_alone() -> None:
    # 1 to 4 below 5 to 8: 2 of 70 arrangements; as a normal approximation, U = 0, mean 8, variance 12
    found = pairwise([[1, 2, 3, 4], [5, 6, 7, 8], [9, 9, 10, 11]])
    assert found.p[0] == pytest.approx(2 / 70)
    assert found.stacked[0] == pytest.approx(2 * ndtr(-7.5 / np.sqrt(12)))
    apart = pairwise([[1, 2, 3, 4], [5, 6, 7, 8], [9, 9, 10]])
    np.testing.assert_array_equal(apart.stacked, apart.p)


def drawn(rows: int, columns: int, missing: float = 0.0, decimals: int = 12) -> Floats:
    """Normal values, some of them missing; few decimals give ties."""
    rng = np.random.default_rng(rows * columns)
    values = np.round(rng.normal(size=(rows, columns)) + np.arange(rows)[:, None] / 3, decimals)
    values[rng.random(values.shape) < missing] = np.nan
    return values


CASES = {
    "two values each": np.array([[1.0, 4.0], [2.0, 3.0]]),
    "a column of one row": np.array([[1.0, 4.0, 5.0], [2.0, 3.0, np.nan], [0.5, 7.0, np.nan]]),
    "an empty row": np.array([[1.0, 4.0, 5.0], [np.nan, np.nan, np.nan], [0.5, 7.0, 6.0]]),
    "one row": np.array([[1.0, 2.0]]),
    "large samples": drawn(12, 30),
    "missing values": drawn(12, 30, 0.2),
    "many sizes": drawn(40, 40, 0.5),
    "ties": drawn(12, 30, 0.1, 1),
    "ties in small samples": drawn(12, 6, 0, 1),
    "ties in samples of nine": drawn(12, 9, 0, 1),
    "ties, and some samples are small": drawn(12, 12, 0.4, 1),
    "ties of infinite values": np.array([[1.0, np.inf, 3.0], [np.inf, 2.0, 5.0], [0.5, 7.0, -np.inf]]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("most", [0, resampling._MOST_COUNTS])
def test_values_are_those_of_the_other_columns(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_MOST_COUNTS", most)
    values = CASES[name]
    found = list(function_without_each_column(values, lambda p: p))
    assert len(found) == values.shape[1]
    for column, p in enumerate(found):
        np.testing.assert_array_equal(p, pairs_of_rows(np.delete(values, column, axis=1)).stacked)


def test_the_tests_of_samples_with_ties_are_not_repeated_for_each_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mannwhitney, "function_of_p", None)
    for name in ("ties", "ties, and some samples are small"):
        assert len(list(function_without_each_column(CASES[name], lambda p: p))) == CASES[name].shape[1]


def test_rank_correlations() -> None:
    rng = np.random.default_rng(0)
    for n in (3, 4, 5, 6, 9, 20):
        rows = rng.integers(0, n, (n, 2)).astype(float)
        value, p = spearmanr(*rows.T)
        if n <= 8:
            orders = [spearmanr(rows[:, 0], rows[list(order), 1]).statistic for order in permutations(range(n))]
            p = np.mean(np.abs(orders) >= abs(value) - 1e-9)
        assert rank_correlation(rows) == pytest.approx((value, p))
    assert rank_correlation(np.array([[1.0, 1], [2, 2], [3, 3]])) == (1, 1 / 3)
    rows = np.array([[1.0, 3], [2, 2], [4, 1], [3, 2]])
    for undefined in (rows[:2], np.array([[1.0, 3], [1, 2], [1, 1]])):
        assert np.isnan(rank_correlation(undefined)).all()


def test_equals_scipy_on_thirty_nouns_to_the_last_bit() -> None:
    rng = np.random.default_rng(1)
    values = np.round(rng.lognormal(4, 1, (12, 30)), 1)
    found = pairwise(values.tolist())
    expected = mannwhitneyu(values[found.first], values[found.second], axis=1)
    np.testing.assert_array_equal(found.u, expected.statistic)
    np.testing.assert_array_equal(found.p, expected.pvalue)
