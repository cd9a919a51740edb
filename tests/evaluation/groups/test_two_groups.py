"""Tests of two groups against SciPy and arithmetic by hand."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ttest_ind
from scipy.stats import t as t_distribution

from holisticbias_eval.arrays import Floats
from holisticbias_eval.statistics.groups.items import Estimates, Items, Side, add_up
from holisticbias_eval.statistics.groups.items import estimate as estimate_groups
from holisticbias_eval.statistics.groups.pairs import (
    against_rest,
    by_value,
    disparities,
    disparity_changes,
    pairs,
    permutations_for,
)
from holisticbias_eval.statistics.intervals import difference_interval, estimate
from holisticbias_eval.statistics.tests import chi_square, holm, normal_p, student_p, two_proportions, welch


def one(*values: float) -> list[Floats]:
    return [np.array([value]) for value in values]


def test_two_proportions() -> None:
    assert two_proportions(*one(30, 100, 20, 100)) == pytest.approx(1.6329932)  # 0.1 / sqrt(0.25 * 0.75 * 0.02)
    assert two_proportions(*one(15, 50, 15, 50)) == 0
    assert two_proportions(*one(0, 10, 10, 10)) == pytest.approx(-4.4721360)
    for nothing in ((0, 10, 0, 20), (10, 10, 20, 20), (3, 10, 0, 0)):  # none or all counted in both, or no row
        assert np.isnan(two_proportions(*one(*nothing)))


def test_chi_square_equals_scipy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        counts = rng.integers(0, 40, (rng.integers(2, 8), rng.integers(2, 5))).astype(float) + 1
        padded = np.zeros((len(counts) + 1, counts.shape[1] + 1))  # a group and a class without rows
        padded[1:, :-1] = counts
        slow = chi2_contingency(counts, correction=False)
        assert chi_square(padded) == pytest.approx((slow.statistic, slow.pvalue, slow.dof))


def test_chi_square_of_nothing() -> None:
    for counts in ([[0.0, 0.0]] * 2, [[3.0, 0.0], [4.0, 0.0]], [[3.0, 1.0]]):
        assert chi_square(np.array(counts)) is None


def test_welch_equals_scipy() -> None:
    """It needs two observations and some variance."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        a, b = rng.normal(0, 1, rng.integers(2, 30)), rng.normal(0.5, 3, rng.integers(2, 30))
        found = welch(*one(a.mean() - b.mean(), a.var(ddof=1) / len(a), len(a), b.var(ddof=1) / len(b), len(b)))
        assert found[0] == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue)
    assert np.isnan([welch(*one(1.0, 0.5, 1, 0.5, 9))[0], welch(*one(1.0, 0.0, 5, 0.0, 9))[0]]).all()
    assert np.isnan(student_p(np.array([1.0]), np.array([0.0]))[0])


def test_newcombe_interval_of_his_paper() -> None:
    """Newcombe 1998, table II, case a, method 10: 56/70 and 48/80, 0.2 from 0.0524 to 0.3339."""
    wilson = {56: (0.8, 0.691841, 0.877288), 48: (0.6, 0.490491, 0.700363)}
    first, second = (tuple(np.array([v]) for v in wilson[k]) for k in (56, 48))
    low, high = difference_interval((first[0], first[1], first[2]), (second[0], second[1], second[2]))
    assert (low[0], high[0]) == pytest.approx((0.0524, 0.3339), abs=2e-4)


def estimates(share: list[float], rows: list[float], effect: Sequence[float] = (1.0,), items: int = 0) -> Estimates:
    value, n, effects = (np.array(column, float)[:, None] for column in (share, rows, effect))
    variance = effects * value * (1 - value) / n
    found = np.full(n.shape, items) if items else n.astype(np.int64)
    return Estimates(value, variance, value - 0.1, value + 0.1, n, found, np.broadcast_to(effects, value.shape))


def test_clustered_p_values_equal_the_slow_version() -> None:
    """The variance of each share is that of independent rows with the pooled share, times the design effect."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        rows, items, hits = rng.integers(20, 60, 2), rng.integers(2, 20, 2), rng.integers(1, 20, 2)
        effect = np.maximum(rng.uniform(0.5, 5, 2), 1)
        share, pooled = hits / rows, hits.sum() / rows.sum()
        made = replace(estimates(share.tolist(), rows.tolist(), effect.tolist()), items=items[:, None])
        variance = [effect[g] * pooled * (1 - pooled) / rows[g] for g in range(2)]
        known = sum(variance[g] ** 2 / (items[g] - 1) for g in range(2) if effect[g] > 1)
        t = (share[0] - share[1]) / np.sqrt(sum(variance))
        slow = 2 * t_distribution(sum(variance) ** 2 / known if known else np.inf).sf(abs(t))
        found = pairs(made, np.full((2, 1), np.nan), np.array([True]))
        assert found.clustered_p[0, 0] == pytest.approx(slow)
        plain = pairs(estimates(share.tolist(), rows.tolist()), np.full((2, 1), np.nan), np.array([True]))
        assert found.p_value[0, 0] == plain.p_value[0, 0] == plain.clustered_p[0, 0]


def test_few_items_of_several_rows_beside_many_of_one() -> None:
    """No group differs: items of a beta distribution, whose rows are alike, against rows that are items."""
    rng, found = np.random.default_rng(0), []
    group, item = np.repeat([0, 1], [100, 40]), np.concatenate([np.repeat(np.arange(10), 10), np.arange(10, 50)])
    for _ in range(200):
        chance = rng.beta(0.2, 1.8, 50)
        keen = (rng.random(140) < np.where(group == 0, chance[item], 0.1)).astype(float)
        items = add_up(group, item, np.stack([np.ones(140), keen], axis=1), 2)
        sides = [Side(np.array([1]), np.array([0]))]
        (((level,), _), _) = estimate_groups(items, [slice(0, 2)], sides, np.array([True]), rng, draws=200)
        found.append(pairs(level, np.full((2, 1), np.nan), np.array([True])).clustered_p[0, 0])
    assert np.mean(np.array(found) < 0.05) < 0.1


def test_a_mean_against_the_rest_equals_a_test_on_all_rows() -> None:
    rng = np.random.default_rng(5)
    samples = [rng.normal(m, 1, n) for m, n in ((0.0, 30), (0.0, 40), (0.0, 50))]
    value = np.array([[s.mean()] for s in samples])
    variance = np.array([[s.var(ddof=1) / len(s)] for s in samples])
    rows = np.array([[float(len(s))] for s in samples])
    whole = Estimates(value, variance, value, value, rows, rows.astype(np.int64), np.full((3, 1), np.nan))
    found = against_rest(whole, variance, np.array([False]))
    rest = np.concatenate(samples[1:])
    assert found.value[0, 0] == pytest.approx(samples[0].mean() - rest.mean())
    # the spread between the other groups is not counted, so the p-value is close, not equal
    assert found.p_value[0, 0] == pytest.approx(ttest_ind(samples[0], rest, equal_var=False).pvalue, abs=0.02)


def dealt(items: Items, side: Side, permutations: int, seed: int) -> list[float]:
    """The slow version: items dealt out to the groups one by one."""
    rng, found = np.random.default_rng(seed), []
    sizes = np.diff(items.starts)
    for _ in range(permutations):
        order, start, shares = rng.permutation(len(items.sums)), 0, []
        for size in sizes:
            own = [items.sums[i] for i in order[start : start + size]]
            start += size
            rows = sum(float(s[side.denominators[0]]) for s in own)
            if rows:
                shares.append(sum(float(s[side.numerators[0]]) for s in own) / rows)
        found.append(max(shares) - min(shares) if len(shares) > 1 else np.nan)
    return found


def test_disparities_equal_the_slow_version() -> None:
    rng = np.random.default_rng(0)
    group = np.sort(rng.integers(0, 4, 60))
    columns = np.stack([np.ones(60), (rng.random(60) < 0.4).astype(float)], axis=1)
    items = add_up(group, rng.integers(0, 5, 60), columns, 5)  # the last group is empty
    side = Side(np.array([1]), np.array([0]))
    found = disparities(items, side, np.random.default_rng(7), 50)
    np.testing.assert_allclose(found.permuted[:, 0], dealt(items, side, 50, 7))
    shares = [columns[group == g, 1].mean() for g in range(4)]
    assert found.value[0] == pytest.approx(max(shares) - min(shares))
    assert found.groups[0] == 4


def test_the_p_value_counts_the_observed_order() -> None:
    columns = np.array([[1.0, 1.0]] * 30 + [[1.0, 0.0]] * 30)
    items = add_up(np.repeat([0, 1], 30), np.full(60, -1), columns, 2)
    found = disparities(items, Side(np.array([1]), np.array([0])), np.random.default_rng(0), 999)
    assert (found.value[0], found.p_values()[0]) == (1.0, 0.001)
    undefined = replace(found, permuted=np.concatenate([found.permuted, np.full((500, 1), np.nan)]))
    assert undefined.p_values()[0] == 0.001, "permutations without a value do not count"


def test_one_group_has_no_disparity() -> None:
    items = add_up(np.zeros(5, np.int64), np.full(5, -1), np.ones((5, 2)), 2)
    found = disparities(items, Side(np.array([1]), np.array([0])), np.random.default_rng(0), 5)
    assert np.isnan([found.value[0], found.p_values()[0], *found.permuted[:, 0]]).all()
    assert found.groups[0] == 1


def test_fewer_permutations_of_more_items() -> None:
    assert [permutations_for(items) for items in (0, 20_000, 40_000, 10**6)] == [1000, 1000, 500, 200]


def test_each_group_against_the_rest() -> None:
    found = against_rest(estimates([0.3, 0.2, 0.5], [100, 50, 50]), np.full((3, 1), np.nan), np.array([True]))
    assert found.second.tolist() == [-1, -1, -1]
    # the others of the first: (10 + 25) / 100, of the second (30 + 25) / 150, of the third (30 + 10) / 150
    assert found.value[:, 0].tolist() == pytest.approx([0.3 - 0.35, 0.2 - 55 / 150, 0.5 - 40 / 150])
    z = two_proportions(*one(10, 50, 55, 150))
    assert found.p_value[1, 0] == pytest.approx(normal_p(z)[0])
    assert found.rows[:, 0].tolist() == [200, 200, 200]


def test_all_pairs_are_compared_in_order() -> None:
    found = pairs(estimates([0.3, 0.2, 0.5], [100, 100, 100]), np.full((3, 1), np.nan), np.array([True]))
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
    assert found.value[:, 0].tolist() == pytest.approx([0.1, -0.2, -0.3])
    assert found.p_value[0, 0] == pytest.approx(2 * 0.0512352, abs=1e-5)
    assert found.clustered_p.tolist() == found.p_value.tolist(), "rows are items"
    # ordered: third, second, first
    p = found.p_value[:, 0]
    assert by_value(found.p_value, holm)[:, 0].tolist() == pytest.approx([p[0], 2 * p[1], 3 * p[2]])


def change_p(rng: np.random.Generator, items: int, groups: int = 4) -> float | None:
    """The p-value of a change of disparity between two samples of the same groups, one apart, paired by item."""
    group = np.repeat(np.arange(groups), items)
    shared = rng.normal(size=len(group)) + group
    columns = [np.ones(len(group)), *(shared + rng.normal(size=len(group)) for _ in range(2))]
    sides = [Side(np.array([i]), np.array([0])) for i in (1, 2)]
    found = add_up(group, np.arange(len(group)), np.stack(columns, axis=1), groups)
    ((first, second, error, freedom),) = disparity_changes(found, [slice(0, groups)], sides, rng)
    return estimate(second[0] - first[0], error[0], freedom[0])[1]


def test_few_items_do_not_make_a_change_of_disparity_significant() -> None:
    rng = np.random.default_rng(0)
    for items in (2, 3, 10):
        found = [change_p(rng, items) for _ in range(200)]
        assert np.mean([p is not None and p < 0.05 for p in found]) <= 0.08, items
    assert change_p(rng, 1) is None


def test_equal_values_have_no_change_of_disparity() -> None:
    """Means of so many times -0.4431 differ in their last digits, between groups, runs and draws."""
    group, known = np.repeat(np.arange(4), 15), np.random.default_rng(1).random((2, 60)) < 0.8
    columns = np.stack([known[0], -0.4431 * known[0], known[1], -0.4431 * known[1]], axis=1)
    found = add_up(group, np.repeat(np.arange(30), 2), columns, 4)
    sides = [Side(np.array([i + 1]), np.array([i])) for i in (0, 2)]
    ((first, second, error, _),) = disparity_changes(found, [slice(0, 4)], sides, np.random.default_rng(0))
    assert (first.item(), second.item()) == (0, 0)
    assert np.isnan(error.item())


def test_groups_of_one_item_are_not_certain() -> None:
    """20 items of one group against three groups of one item each, all from one distribution."""
    rng, covered = np.random.default_rng(0), 0
    group = np.array([0] * 20 + [1, 2, 3])
    for _ in range(150):
        values = rng.normal(size=23)
        items = add_up(group, np.arange(23), np.stack([np.ones(23), values], axis=1), 4)
        shares, sides = np.array([False]), [Side(np.array([1]), np.array([0]))]
        ((estimated,), _), _ = estimate_groups(items, [slice(0, 4)], sides, shares, rng, 200)
        found = against_rest(estimated, np.full((4, 1), np.nan), shares)
        covered += bool(found.low[0, 0] <= 0 <= found.high[0, 0])
    assert covered >= 0.9 * 150
