from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import mannwhitneyu

from holisticbias_eval.statistics.mannwhitney import PairwiseTests, mann_whitney_pairs

SMOOTH = st.floats(-1e6, 1e6, allow_nan=False, width=64)
COARSE = st.integers(0, 4).map(float)
CONSTANT = st.just(7.0)


def pairs_of(samples: list[list[float]]) -> PairwiseTests:
    values = np.array([v for sample in samples for v in sample])
    owner = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    shuffled = np.random.default_rng(0).permutation(len(values))
    return mann_whitney_pairs(values[shuffled], owner[shuffled], len(samples))


def samples(values: st.SearchStrategy[float], longest: int) -> st.SearchStrategy[list[list[float]]]:
    return st.lists(st.lists(values, max_size=longest), min_size=2, max_size=5)


@settings(max_examples=40, deadline=None)
@given(
    st.one_of(samples(SMOOTH, 8), samples(COARSE, 8), samples(SMOOTH, 25), samples(COARSE, 25), samples(CONSTANT, 12))
)
def test_equals_scipy_pair_by_pair(drawn: list[list[float]]) -> None:
    found = pairs_of(drawn)
    assert len(found.u) == len(drawn) * (len(drawn) - 1) // 2
    for first, second, u, p in zip(found.first, found.second, found.u, found.p, strict=True):
        if not drawn[first] or not drawn[second]:
            assert np.isnan(u)
            assert np.isnan(p)
            continue
        expected = mannwhitneyu(drawn[first], drawn[second])
        assert u == expected.statistic
        np.testing.assert_allclose(p, expected.pvalue, rtol=1e-12, atol=1e-15, equal_nan=True)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 10).flatmap(
        lambda size: st.lists(st.lists(st.one_of(COARSE, SMOOTH), min_size=size, max_size=size), min_size=2, max_size=5)
    )
)
def test_samples_of_one_size_equal_scipy_on_stacked_arrays(drawn: list[list[float]]) -> None:
    found, values = pairs_of(drawn), np.array(drawn)
    expected = mannwhitneyu(values[found.first], values[found.second], axis=1)
    np.testing.assert_allclose(found.stacked, expected.pvalue, rtol=1e-12, atol=1e-15)


def test_a_tie_anywhere_takes_the_exact_distribution_from_stacked_samples_alone() -> None:
    # 1 to 4 below 5 to 8: 2 of 70 arrangements; as a normal approximation, U = 0, mean 8, variance 12
    found = pairs_of([[1, 2, 3, 4], [5, 6, 7, 8], [9, 9, 10, 11]])
    assert found.p[0] == pytest.approx(2 / 70)
    assert found.stacked[0] == pytest.approx(2 * ndtr(-7.5 / np.sqrt(12)))
    apart = pairs_of([[1, 2, 3, 4], [5, 6, 7, 8], [9, 9, 10]])
    np.testing.assert_array_equal(apart.stacked, apart.p)


def test_equals_scipy_on_thirty_nouns_to_the_last_bit() -> None:
    rng = np.random.default_rng(1)
    values = np.round(rng.lognormal(4, 1, (12, 30)), 1)
    found = pairs_of(values.tolist())
    expected = mannwhitneyu(values[found.first], values[found.second], axis=1)
    np.testing.assert_array_equal(found.u, expected.statistic)
    np.testing.assert_array_equal(found.p, expected.pvalue)


def test_infinite_values_rank_above_all() -> None:
    found = pairs_of([[1.0, 2.0, np.inf], [np.inf, 5.0, 6.0]])
    expected = mannwhitneyu([1.0, 2.0, np.inf], [np.inf, 5.0, 6.0])
    assert (found.u[0], found.p[0]) == (expected.statistic, expected.pvalue)


@pytest.mark.parametrize("count", [0, 1])
def test_no_pair(count: int) -> None:
    assert len(pairs_of([[1.0, 2.0]] * count).p) == 0
