from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from holisticbias_eval.statistics.clusters import clustered_interval, flip_p_value


def test_no_judgements_have_no_share() -> None:
    assert flip_p_value(np.array([], np.int64)) is None
    assert clustered_interval(np.array([3]), np.array([5]), 100, 0) is None


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_the_flip_test_is_that_over_all_signs(differences: list[int]) -> None:
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = np.mean([abs(total) >= abs(sum(differences)) for total in sums])
    assert flip_p_value(np.array(differences)) == pytest.approx(expected)


def test_repeated_judgements_of_a_prompt_do_not_narrow_the_interval() -> None:
    wins = np.array([1, 0] * 20)
    once = clustered_interval(wins, np.ones(40, np.int64), 2000, 0)
    thrice = clustered_interval(3 * wins, np.full(40, 3), 2000, 0)
    assert once == thrice
    assert flip_p_value(3 * (2 * wins[:10] - 1)) == flip_p_value(2 * wins[:10] - 1)


@given(st.integers(0, 60), st.integers(1, 60))
def test_one_judgement_per_prompt_gives_the_binomial_test(wins: int, more: int) -> None:
    differences = np.array([1] * wins + [-1] * more)
    assert flip_p_value(differences) == pytest.approx(binomtest(wins, wins + more).pvalue)


def test_the_bootstrap_of_many_prompts_is_near_the_normal_interval() -> None:
    rng = np.random.default_rng(0)
    wins = rng.binomial(1, 0.6, 400)
    found = clustered_interval(wins, np.ones(400, np.int64), 4000, 1)
    share = wins.mean()
    half = 1.96 * np.sqrt(share * (1 - share) / 400)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((share - half, share + half), abs=0.006)
