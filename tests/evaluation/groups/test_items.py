"""Sums over items, draws of items, and the estimates made of them, against slow and obvious versions."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from holisticbias_eval.statistics.groups.items import Side, add_up, estimate, paired_p, resampled_sums, summarise
from holisticbias_eval.statistics.intervals import score_interval
from holisticbias_eval.statistics.tests import design_effects
from known import known


def test_a_draw_is_the_sum_of_the_items_drawn() -> None:
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(9, 2))
    items = add_up(np.array([0] * 5 + [2] * 4), np.full(9, -1), columns, 3)
    found = list(resampled_sums(items, 7, np.random.default_rng(3)))
    again = np.random.default_rng(3)
    for g, own in ((0, columns[:5]), (2, columns[5:])):
        chosen = again.integers(len(own), size=(7, len(own)), dtype=np.int32)
        slow = [sum((own[i] for i in draw), np.zeros(2)) for draw in chosen]
        np.testing.assert_allclose(found[g], slow)
    assert found[1].tolist() == [[0, 0]] * 7, "a group without items"


def test_one_item_has_no_interval() -> None:
    found = summarise(np.array([0.5]), np.full((10, 1), 0.5), np.array([1]))
    assert np.isnan([found.variance[0], found.low[0], found.high[0]]).all()


def test_equal_values_do_not_differ_by_rounding() -> None:
    """Means of 3 and of 10 times 0.1 differ in their last digit."""
    first = np.arange(13) < 3
    columns = np.stack([first, 0.1 * first, ~first, 0.1 * ~first], axis=1)
    items = add_up(np.zeros(13, np.int64), np.repeat(np.arange(6), [1, 2, 1, 2, 3, 4]), columns, 1)
    sides = [Side(np.array([value]), np.array([value - 1])) for value in (1, 3)]
    (_, change), _ = estimate(items, [slice(0, 1)], sides, np.array([False]), np.random.default_rng(0))
    assert (known(change).value.item(), known(change).variance.item()) == (0, 0)


@pytest.mark.parametrize("undefined", [False, True])
def test_equal_values_have_no_variance(undefined: bool) -> None:
    """The mean of a thousand times -0.4431 is another number, and its distance from each was tested."""
    drawn = np.full((1000, 1), -0.4431)
    drawn[0, 0] = np.nan if undefined else -0.4431
    assert summarise(drawn[1], drawn, np.array([5])).variance.item() == 0


def test_draws_in_which_a_value_is_not_defined_are_left_out() -> None:
    drawn = np.random.default_rng(0).normal(size=(9, 1))
    value, items = np.zeros(1), np.array([5])
    with_more = [summarise(value, np.concatenate([drawn, np.full((more, 1), np.nan)]), items) for more in (0, 1, 10)]
    results = [np.array([found.variance[0], *found.ends(0)]) for found in with_more]
    np.testing.assert_allclose(results[1], results[0])
    assert np.isnan(results[2]).all(), "not defined in most draws"


def test_rows_that_repeat_their_item_count_once() -> None:
    """Ten items of four equal rows: the design effect is 4, and 40 rows are worth 10."""
    keen = np.repeat([1.0] * 4 + [0.0] * 6, 4)
    items = add_up(np.zeros(40, np.int64), np.repeat(np.arange(10), 4), np.stack([np.ones(40), keen], axis=1), 1)
    side = Side(np.array([1]), np.array([0]))
    rng = np.random.default_rng(0)
    ((found,), _), _ = estimate(items, [slice(0, 1)], [side], np.array([True]), rng, draws=20_000)
    # the variance of the mean of ten items is 0.24 / 9, that of 40 independent rows 0.24 / 40
    assert found.effect[0, 0] == pytest.approx(40 / 9, rel=0.03)
    assert (found.rows[0, 0], found.items[0, 0], found.value[0, 0]) == (40, 10, 0.4)


def test_design_effects() -> None:
    def effects(
        share: list[float], variance: list[float], rows: tuple[int, int] = (40, 40), items: int = 10
    ) -> list[float]:
        values, n, spread = (np.array(column, float)[:, None] for column in (share, rows, variance))
        found: list[float] = design_effects(values, n, np.array([items, 10])[:, None], spread)[:, 0].tolist()
        return found

    assert effects([0.5, 0.5], [0.0125, 0.025]) == pytest.approx([2, 4])
    assert effects([0.5, 0.5], [0.001, 0.025]) == pytest.approx([1, 4]), "never below 1"
    assert effects([0.5, 0.0], [0.0125, 0.0]) == pytest.approx([2, 2]), "all rows alike: as the other group"
    assert effects([0.5, 0.0], [0.0125, 0.0], (40, 30)) == pytest.approx([2, 5 / 3]), "rows of an item as alike"
    assert effects([0.0, 0.3], [0.0, 0.03], (40, 10)) == pytest.approx([4, 1]), "rows that are items say nothing"
    assert np.isnan(effects([0.5, 0.5], [np.nan, 0.0125], items=1)[0]), "several rows, all of one item"
    assert effects([0.0, 1.0], [0.0, 0.0], (40, 30)) == pytest.approx([4, 3]), "nothing known: rows per item"
    assert effects([0.5, 0.5], [0.0125, 0.0125], items=40) == pytest.approx([1, 2]), "one row per item"


def test_two_sides_with_common_items_are_paired() -> None:
    """The second side is the first plus 1 in every item: the change has no spread, though each side has."""
    level = np.random.default_rng(0).normal(size=20)
    columns = np.stack([np.ones(20), level, level + 1], axis=1)
    items = add_up(np.zeros(20, np.int64), np.arange(20), columns, 1)
    sides = [Side(np.array([1]), np.array([0])), Side(np.array([2]), np.array([0]))]
    ((first, _), both), _ = estimate(items, [slice(0, 1)], sides, np.array([False]), np.random.default_rng(0))
    change = known(both)
    assert (change.value[0, 0], change.low[0, 0], change.high[0, 0]) == pytest.approx((1, 1, 1))
    assert first.high[0, 0] - first.low[0, 0] > 0.5
    spread = replace(change, variance=np.array([[0.25]]))
    assert paired_p(spread, np.array([[20]]))[0, 0] == pytest.approx(2 * 0.0299, abs=1e-3), "t of 2 with 19 degrees"


@pytest.mark.parametrize(("hits", "rows"), [(0, 7), (3, 10), (10, 10), (1, 1), (250, 1000)])
def test_independent_rows_have_wilson_intervals(hits: int, rows: int) -> None:
    share = np.array([[hits / rows]])
    n, items = np.array([[float(rows)]]), np.array([[rows]])
    low, high = score_interval(share, n, items, design_effects(share, n, items, np.full((1, 1), np.nan)))
    slow = binomtest(hits, rows).proportion_ci(method="wilson")
    assert (low[0, 0], high[0, 0]) == pytest.approx((slow.low, slow.high), abs=1e-12)


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3), st.floats(-5, 5)), min_size=1, max_size=40)


@given(ROWS)
def test_items_are_added_up_within_groups(rows: list[tuple[int, int, float]]) -> None:
    group, item, value = (np.array(column) for column in zip(*rows, strict=True))
    found = add_up(group, item, np.stack([np.ones(len(rows)), value], axis=1), 5)
    expected: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for i, (g, k, v) in enumerate(rows):
        expected[g, k, i if k < 0 else 0].append(v)
    for g in range(5):
        own = found.sums[found.starts[g] : found.starts[g + 1]]
        slow = sorted((len(v), sum(v)) for key, v in expected.items() if key[0] == g)
        fast = sorted((int(n), s) for n, s in own.tolist())
        assert [n for n, _ in fast] == [n for n, _ in slow]
        assert sorted(s for _, s in fast) == pytest.approx(sorted(s for _, s in slow))
    assert found.group_sums()[:, 0].tolist() == [sum(r[0] == g for r in rows) for g in range(5)]
    assert found.counts()[:, 0].tolist() == [sum(key[0] == g for key in expected) for g in range(5)]


def test_many_draws_in_several_parts_have_the_right_size() -> None:
    items = add_up(np.zeros(3000, np.int64), np.full(3000, -1), np.ones((3000, 1)), 1)
    (drawn,) = resampled_sums(items, 1500, np.random.default_rng(0))
    assert drawn.shape == (1500, 1)
    assert set(drawn[:, 0]) == {3000.0}


def test_the_variance_of_the_bootstrap_is_that_of_a_mean() -> None:
    values = np.random.default_rng(0).normal(size=25)
    items = add_up(np.zeros(25, np.int64), np.full(25, -1), np.stack([np.ones(25), values], axis=1), 1)
    (drawn,) = resampled_sums(items, 20_000, np.random.default_rng(1))
    found = summarise(np.array([values.mean()]), drawn[:, 1:] / drawn[:, :1], np.array([25]))
    assert found.variance[0] == pytest.approx(values.var(ddof=1) / 25, rel=0.03)
    assert found.low[0] < values.mean() < found.high[0]
    half = 2.064 * values.std(ddof=1) / 5
    assert found.high[0] - found.low[0] == pytest.approx(2 * half, rel=0.05), "as wide as Student's interval"
