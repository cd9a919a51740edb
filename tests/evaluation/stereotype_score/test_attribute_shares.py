"""Shares by attribute: values by hand, a slow obvious version, and properties."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holisticbias_eval.arrays import Floats
from holisticbias_eval.statistics.attributes import (
    AttributeCounts,
    attribute_test,
    binomial_test,
    deviation_parts,
    draw_means,
    mean_interval,
    set_means,
    spreads,
    without_each,
)
from known import known


def counts(*pairs: tuple[int, int], stratum: tuple[int, ...] = ()) -> AttributeCounts:
    chosen, total = np.array(pairs, np.int64).reshape(-1, 2).T
    return AttributeCounts(chosen, total, np.array(stratum or [0] * len(pairs), np.int64))


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_the_mean_is_of_attributes_not_of_pairs() -> None:
    assert counts((1, 1), (0, 9)).mean == 0.5
    assert counts((1, 2), (3, 4)).mean == 0.625
    assert counts().mean is None


@pytest.mark.parametrize(
    ("chosen", "pairs", "p", "low", "high"),
    # sums of binomial coefficients over 2^n, both tails; ends of Clopper and Pearson
    [
        (5, 5, 2 / 32, 0.025 ** (1 / 5), 1.0), (0, 4, 2 / 16, 0.0, 0.602365), (4, 5, 12 / 32, 0.283582, 0.994949),
        (5, 10, 1.0, 0.187086, 0.812914), (9, 10, 22 / 1024, 0.554984, 0.997471), (1, 1, 1.0, 0.025, 1.0),
    ],
)  # fmt: skip
def test_the_binomial_test_is_exact(chosen: int, pairs: int, p: float, low: float, high: float) -> None:
    found = known(binomial_test(chosen, pairs))
    assert found[0] == pytest.approx(p, rel=1e-12)
    assert [found[1].low, found[1].high] == pytest.approx([low, high], abs=1e-6)


def test_nothing_is_not_tested() -> None:
    assert binomial_test(0, 0) is None
    assert np.isnan(attribute_test(counts(), rng()))
    assert mean_interval(counts(), 100, rng()) is None
    assert mean_interval(counts((3, 4)), 100, rng()) is None


SHARES = st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CHANGES = st.integers(1, 5).flatmap(
    lambda n: st.integers(0, n).flatmap(lambda g: st.tuples(st.just(g), st.just(n), st.integers(0, n - g)))
)


def changes(*triples: tuple[int, int, int]) -> AttributeCounts:
    """Pairs gained, all pairs, and pairs lost."""
    gained, pairs, lost = np.array(triples, np.int64).T
    return AttributeCounts(gained, pairs, np.zeros(len(triples), np.int64), lost)


@given(
    st.lists(SHARES, min_size=1, max_size=8).map(lambda pairs: counts(*pairs))
    | st.lists(CHANGES, min_size=1, max_size=7).map(lambda triples: changes(*triples))
)
@example(counts((1, 1), (1, 1), (2, 3), (0, 1), (0, 1), (1, 3)))  # the deviations add up to 0 but for rounding
@example(counts((5, 7), (3, 7), (8, 11), (2, 11), (1, 13), (12, 13), (4, 7)))
def test_the_test_of_attributes_is_the_slow_one(made: AttributeCounts) -> None:
    """The share of all sign patterns whose sum of deviations is at least as far from 0 as the observed one."""
    away = made.values - (0.5 if made.lost is None else 0.0)
    sums = [abs(np.dot(signs, away)) for signs in itertools.product((1, -1), repeat=len(away))]
    expected = np.mean([value >= abs(away.sum()) - 1e-9 for value in sums])
    assert attribute_test(made, rng()) == pytest.approx(expected)


def test_sentences_of_one_attribute_do_not_count_as_independent() -> None:
    found = counts((100, 100), (0, 2), (1, 2))
    binomial = known(binomial_test(101, 104))
    assert binomial[0] < 1e-20
    assert attribute_test(found, rng()) == 1.0


def drawn_by_hand(made: AttributeCounts, draws: int, generator: np.random.Generator) -> Floats:
    """Draw attributes of each stratum, then sentences one by one."""
    found = []
    for _ in range(draws):
        shares = []
        for stratum in np.unique(made.stratum):
            own = np.flatnonzero(made.stratum == stratum)
            for attribute in generator.choice(own, len(own)):
                sentences = [1] * made.chosen[attribute] + [0] * (made.pairs[attribute] - made.chosen[attribute])
                shares.append(generator.choice(sentences, len(sentences)).mean())
        found.append(np.mean(shares))
    return np.array(found)


@pytest.mark.parametrize("stratum", [(), (0, 0, 1, 1, 1)])
def test_draws_have_the_spread_of_the_slow_ones(stratum: tuple[int, ...]) -> None:
    made = counts((1, 4), (3, 4), (2, 2), (0, 3), (5, 8), stratum=stratum)
    fast, slow = draw_means(made, 20_000, rng()), drawn_by_hand(made, 1200, rng())
    assert fast.mean() == pytest.approx(slow.mean(), abs=5 * slow.std() / np.sqrt(1200))
    assert fast.std() == pytest.approx(slow.std(), rel=0.11)  # 5 standard errors of 1200 draws


def test_the_interval_contains_the_value_and_stays_a_share() -> None:
    made = counts((1, 4), (4, 4), (2, 2), (0, 3))
    found = known(mean_interval(made, 2000, rng()))
    assert 0 <= found.low < known(made.mean) < found.high <= 1
    every, wilson = counts(*[(4, 4)] * 8), 8 / (8 + 1.959963984540054**2)  # all of 8
    found = known(mean_interval(every, 100, rng()))
    assert [found.low, found.high] == pytest.approx([wilson, 1.0])
    found = known(mean_interval(replace(every, chosen=0 * every.pairs), 100, rng()))
    assert [found.low, found.high] == pytest.approx([0.0, 1 - wilson])
    found = known(mean_interval(replace(every, chosen=0 * every.pairs, lost=every.pairs), 100, rng()))
    assert [found.low, found.high] == pytest.approx([-1.0, -wilson])


@given(st.lists(CHANGES, min_size=2, max_size=7))
def test_the_interval_holds_the_change(triples: list[tuple[int, int, int]]) -> None:
    made = changes(*triples)
    found = known(mean_interval(made, 200, rng()))
    assert -1 <= found.low <= known(made.mean) <= found.high <= 1


@pytest.mark.parametrize("pairs", [2, 16])
def test_the_interval_of_one_changed_pair_holds_no_change(pairs: int) -> None:
    made = changes((1, pairs, 0), *[(0, pairs, 0)] * 31)
    found = known(mean_interval(made, 2000, rng()))
    assert found.low < 0 < found.high
    assert attribute_test(made, rng()) == 1


def test_the_interval_has_the_width_of_students_t() -> None:
    """Eight attributes of many pairs: mean and standard error, and t with 7 degrees of freedom."""
    gained = np.array([10, 25, 40, 30, 20, 35, 15, 45])
    half = 2.3646 * (gained / 100).std(ddof=1) / np.sqrt(8)
    found = known(mean_interval(changes(*((gain, 100, 0) for gain in gained)), 0, rng()))
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=1e-4)
    found = known(mean_interval(counts(*((gain, 100) for gain in gained)), 20_000, rng()))
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.03)


def test_the_width_of_the_interval() -> None:
    """More attributes narrow it; the difference between two specifications is not part of the spread."""

    def width(made: AttributeCounts) -> float:
        found = known(mean_interval(made, 2000, rng()))
        return found.high - found.low

    few, many = (counts(*[(1, 4), (3, 4), (2, 4), (4, 4)] * n) for n in (1, 8))
    assert width(many) < width(few) / 2
    pairs = [(0, 4), (1, 4), (0, 4), (1, 4), (4, 4), (3, 4), (4, 4), (3, 4)]
    assert width(counts(*pairs, stratum=(0,) * 4 + (1,) * 4)) < width(counts(*pairs)) / 2


def test_leaving_out_one_attribute() -> None:
    assert without_each(counts((1, 1), (0, 1), (1, 2))).tolist() == pytest.approx([0.25, 0.75, 0.5])
    assert len(without_each(counts((1, 1)))) == 0


def test_the_part_of_an_attribute() -> None:
    assert deviation_parts(counts((4, 4), (1, 4), (2, 4))).tolist() == pytest.approx([2 / 3, 1 / 3, 0])
    assert np.isnan(deviation_parts(counts((1, 2)))).all()


def test_sets_of_sentences() -> None:
    assert set_means(counts((4, 4), (0, 3)), 30, 4, rng()).tolist() == [0.5] * 30
    found = set_means(counts(*[(1, 2)] * 16), 4000, 4, rng())
    assert found.std() == pytest.approx(0.5 / np.sqrt(64), rel=0.06)  # 64 fair draws


def test_spreads_within_and_between_attributes() -> None:
    mean, within, between = spreads(np.array([1.0, 3.0, 5.0, 9.0]), np.array([7, 7, 2, 2]))
    assert mean == 4.5
    assert within == pytest.approx(np.sqrt((2 + 8) / 2))
    assert between == pytest.approx(5 / np.sqrt(2))
    assert all(np.isnan(spreads(np.array([1.0]), np.array([0]))[1:]))
