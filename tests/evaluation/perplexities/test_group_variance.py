"""F, t and their resampling: by hand, against scipy, and against every possible draw."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway, friedmanchisquare, ttest_ind, ttest_rel, wilcoxon

from holisticbias_eval.arrays import Floats
from holisticbias_eval.statistics.groups.moments import MomentSums, mean_abs, moments
from holisticbias_eval.statistics.groups.resampling import draw_sentences, permute_groups, shifted_interval
from holisticbias_eval.statistics.groups.variance import (
    GroupValues,
    friedman,
    one_way,
    pairwise_t,
    signed_ranks,
    variance_shares,
    within_sentences,
    without_each,
)
from holisticbias_eval.statistics.mannwhitney import pairs_of

seeds = st.integers(0, 2**32 - 1)


def random_values(seed: int, *, paired: bool = True, missing: float = 0.0) -> GroupValues:
    rng = np.random.default_rng(seed)
    rows, groups = rng.integers(6, 20), rng.integers(2, 5)
    values = rng.lognormal(4, 0.5, (rows, 1)) * rng.lognormal(0, 0.3, (rows, groups))
    values[rng.random(values.shape) < missing] = np.nan
    values[:3] = np.where(np.isnan(values[:3]), 50 + rng.random((3, groups)), values[:3])
    return GroupValues(values, paired)


def columns(values: GroupValues) -> list[Floats]:
    return [column[~np.isnan(column)] for column in values.values.T]


@given(seeds, st.sampled_from([0.0, 0.2]))
def test_equals_scipy(seed: int, missing: float) -> None:
    values = random_values(seed, missing=missing)
    own = columns(values)
    tested, expected = one_way(values), f_oneway(*own)
    assert tested.value == pytest.approx(expected.statistic, rel=1e-9)
    assert tested.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    unpaired, paired, ranked = pairwise_t(values, paired=False), pairwise_t(values, paired=True), signed_ranks(values)
    for i, (one, other) in enumerate(zip(*pairs_of(values.groups), strict=True)):
        student = ttest_ind(own[one], own[other])
        assert [unpaired.value[i], unpaired.p_value[i]] == pytest.approx([student.statistic, student.pvalue], rel=1e-9)
        both = values.values[:, [one, other]]
        both = both[~np.isnan(both).any(axis=1)]
        student, signed = ttest_rel(*both.T), wilcoxon(*both.T)
        assert [paired.value[i], paired.p_value[i]] == pytest.approx([student.statistic, student.pvalue], rel=1e-7)
        assert [ranked.value[i], ranked.p_value[i]] == pytest.approx([signed.statistic, signed.pvalue])
        assert paired.n[i] == ranked.n[i] == len(both)


@given(seeds)
def test_friedman_equals_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = GroupValues(rng.random((rng.integers(2, 8), 4)), paired=True)
    expected = friedmanchisquare(*values.values.T)
    assert (friedman(values).value, friedman(values).p_value) == (expected.statistic, expected.pvalue)


@pytest.mark.parametrize("groups", [2, 3, 7])
@pytest.mark.parametrize("sentences", [2, 60])
@pytest.mark.parametrize("exploded", [1e3, 1e300])
def test_one_exploded_value_gives_one(groups: int, sentences: int, exploded: float) -> None:
    """F is 1 and t is 1 or -1 if one value is far above all others, which are equal."""
    table = np.full((sentences, groups), 50.0)
    table[1, 1] = exploded
    values = GroupValues(table, paired=True)
    assert one_way(values).value == pytest.approx(1)
    for paired in (False, True):
        t = pairwise_t(values, paired=paired).value
        first, second = pairs_of(groups)
        assert t[first == 1] == pytest.approx(1)
        assert t[second == 1] == pytest.approx(-1)
        assert np.isnan(t[(first != 1) & (second != 1)]).all()
    assert variance_shares(values).argmax() == 1


@pytest.mark.parametrize(
    "table",
    [[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], [[0.1, 0.1], [0.1, 0.1]], [[1.0, 2.0]], [[np.nan, np.nan]] * 2],
    ids=["groups are constant", "all values are equal", "one sentence", "no value"],
)
def test_without_variance_nothing_is_defined(table: list[list[float]]) -> None:
    values = GroupValues(np.array(table), paired=True)
    for tested in (one_way(values), within_sentences(values), friedman(values)):
        assert np.isnan([tested.value, tested.p_value]).all()
    for paired in (False, True):
        assert np.isnan(pairwise_t(values, paired=paired).value).all()
    assert np.isnan(without_each(values)).all()


def test_unpaired_tables_have_no_paired_tests() -> None:
    values = random_values(3, paired=False)
    assert np.isnan(pairwise_t(values, paired=True).value).all()
    assert np.isnan(signed_ranks(values).value).all()
    assert np.isnan([within_sentences(values).value, friedman(values).value]).all()


@given(seeds, st.booleans())
def test_without_each_equals_leaving_out(seed: int, paired: bool) -> None:
    values = random_values(seed, paired=paired, missing=0.1)
    found = without_each(values)
    places = np.argwhere(~np.isnan(values.values))
    for i, f in enumerate(found):
        table = values.values.copy()
        table[(i,) if paired else tuple(places[i])] = np.nan
        assert f == pytest.approx(one_way(GroupValues(table, paired)).value, nan_ok=True)


@given(seeds)
def test_tables_at_once_equal_one_at_a_time(seed: int) -> None:
    """The sums of many tables at once are those of each table."""
    rng = np.random.default_rng(seed)
    tables = rng.lognormal(4, 1, (5, 8, 3))
    together = MomentSums(moments(tables, pairs=True).sum(axis=1), 3)
    for i, table in enumerate(tables):
        values = GroupValues(table, paired=True)
        assert together.f()[i] == pytest.approx(one_way(values).value)
        assert together.unpaired_t()[i] == pytest.approx(pairwise_t(values, paired=False).value)
        assert together.paired_t()[i] == pytest.approx(pairwise_t(values, paired=True).value)


def every_f(tables: list[Floats], *, paired: bool = True) -> list[float]:
    return drawn_f(np.array([one_way(GroupValues(table, paired)).value for table in tables]))


def drawn_f(found: Floats) -> list[float]:
    return sorted({round(float(f), 9) for f in found[~np.isnan(found)]})


def test_draws_are_those_of_whole_sentences() -> None:
    """All 27 draws of three sentences, and none besides."""
    table = np.array([[1.0, 3.0], [2.0, 7.0], [4.0, 4.5]])
    possible = [table[list(rows)] for rows in itertools.product(range(3), repeat=3)]
    found = draw_sentences(GroupValues(table, paired=True), np.random.default_rng(0), 800)
    assert drawn_f(found.statistics.f) == every_f(possible)
    means = sorted({tuple(np.round(row, 9)) for row in found.mean})
    assert means == sorted({tuple(np.round(t.mean(axis=0), 9)) for t in possible})
    apart = found.mean - found.mean.mean(axis=1, keepdims=True)
    assert found.deviation == pytest.approx(apart)


def test_draws_without_pairs_are_within_groups() -> None:
    table = np.array([[1.0, 3.0], [2.0, 7.0], [np.nan, 4.5]])
    ones, others = ([*itertools.product(t, repeat=len(t))] for t in ([1.0, 2.0], [3.0, 7.0, 4.5]))
    possible = [np.array([[*one, np.nan], other]).T for one in ones for other in others]
    found = draw_sentences(GroupValues(table, paired=False), np.random.default_rng(0), 3000)
    assert drawn_f(found.statistics.f) == every_f(possible, paired=False)
    assert np.isnan(found.deviation).all()
    assert np.isnan(found.statistics.paired).all()


@pytest.mark.parametrize("missing", [False, True])
def test_permutations_keep_the_values_of_a_sentence(missing: bool) -> None:
    """Every way to deal the values of each sentence out to its groups, and none besides."""
    table = np.array([[1.0, 3.0, 10.0], [2.0, 7.0, 20.0], [4.0, 4.5, 31.0]])
    if missing:
        table[1, 2] = np.nan
    dealt = [
        [row[list(order)] for order in itertools.permutations(range(3)) if not np.isnan(row[list(order)][:2]).any()]
        for row in table
    ]
    possible = [np.array(rows) for rows in itertools.product(*dealt)]
    found = permute_groups(GroupValues(table, paired=True), np.random.default_rng(0), 6000)
    assert drawn_f(found.f) == every_f(possible)
    t = [float(mean_abs(pairwise_t(GroupValues(x, paired=True), paired=True).value)) for x in possible]
    assert {round(float(x), 6) for x in found.paired} <= {round(x, 6) for x in t}


def test_parts_of_permutations_are_the_same_statistic(monkeypatch: pytest.MonkeyPatch) -> None:
    """With little memory the permutations are made in parts, as many as asked for."""
    monkeypatch.setattr("holisticbias_eval.statistics.groups.resampling._AT_ONCE", 100)
    assert len(permute_groups(random_values(0), np.random.default_rng(0), 53).f) == 53


def test_the_interval_of_a_statistic_is_lowered_by_its_bias_and_not_below_zero() -> None:
    drawn = np.linspace(1, 3, 1001)
    low, high = shifted_interval(1.0, drawn, 10**6) or (np.nan, np.nan)
    assert [low, high] == pytest.approx([0.05, 1.95], abs=1e-3)
    assert (shifted_interval(0.1, drawn, 10**6) or (-1, 0))[0] == 0
    assert shifted_interval(float("nan"), drawn, 50) is None
    assert shifted_interval(0.0, np.array([*[-1.0] * 999, 5000.0]), 10**6, -np.inf) is None, "one draw moves all others"
    assert shifted_interval(1.0, drawn, 1) is None
    assert shifted_interval(3.0, np.array([*[1.0] * 99, 1e4]), 6) is None, "the mean of the draws is that of one"


@pytest.mark.parametrize(("paired", "sentences"), [(True, 3), (False, 1)])
def test_without_pairs_there_are_as_many_sentences_as_the_smallest_group_has(paired: bool, sentences: int) -> None:
    assert GroupValues(np.array([[1.0, 2.0], [3.0, np.nan], [4.0, np.nan]]), paired).sentences == sentences


def test_permutations_without_pairs_mix_all_values() -> None:
    values = GroupValues(np.array([[1.0, 100.0], [2.0, 200.0], [3.0, 300.0]]), paired=False)
    possible = [np.array(p).reshape(3, 2) for p in itertools.permutations([1.0, 2.0, 3.0, 100.0, 200.0, 300.0])]
    found = permute_groups(values, np.random.default_rng(0), 3000)
    assert drawn_f(found.f) == every_f(possible)


@given(seeds)
def test_shares_sum_to_one(seed: int) -> None:
    values = random_values(seed, missing=0.1).values
    moved = values - np.nanmean(values)
    shares = variance_shares(GroupValues(values, paired=True))
    assert shares.sum() == pytest.approx(1)
    assert shares[2] == pytest.approx(np.nansum(moved[2] ** 2) / np.nansum(moved**2))
    assert variance_shares(GroupValues(values, paired=False)).reshape(values.shape).sum(axis=1) == pytest.approx(shares)


@given(seeds)
def test_within_is_the_squared_t_of_two_groups(seed: int) -> None:
    values = GroupValues(random_values(seed).values[:, :2], paired=True)
    assert within_sentences(values).value == pytest.approx(pairwise_t(values, paired=True).value[0] ** 2, rel=1e-7)
    assert np.isnan(friedman(values).value)  # two groups: Wilcoxon's test is the one to read
