"""Moments over all permutations, the tail of a skewed distribution, and agreement of annotators."""

import itertools

import numpy as np
import pytest
from scipy.stats import gamma, norm

from holisticbias_eval.arrays import Floats
from holisticbias_eval.statistics.labels import cohens_kappa, fleiss_kappa, krippendorffs_alpha, raw_agreement
from holisticbias_eval.statistics.responses.permuted import (
    _difference_moments,
    mean_of_moments,
    permuted_spread,
    upper_tail,
)
from known import known


def group_means(values: Floats, counts: tuple[int, ...]) -> Floats:
    return np.array([part.mean(axis=0) for part in np.split(values, np.cumsum(counts)[:-1])])


@pytest.mark.parametrize(
    "counts", [(1, 1), (2, 1), (1, 1, 1), (2, 2), (3, 1), (2, 1, 1), (3, 2, 1), (2, 2, 1, 1), (3, 3)]
)
def test_moments_are_exact(counts: tuple[int, ...]) -> None:
    values = np.random.default_rng(sum(counts)).random((sum(counts), 2))
    orders = itertools.permutations(range(len(values)))
    means = [group_means(values[list(order)], counts) for order in orders]
    spreads = np.array([found.var(axis=0).sum() for found in means])
    moments = permuted_spread(values, np.array(counts))
    assert moments.mean == pytest.approx(spreads.mean())
    assert moments.variance == pytest.approx(spreads.var(), abs=1e-12)
    assert moments.varies == (spreads.std() > 1e-9)
    assert moments.share == pytest.approx(np.isclose(spreads, spreads[0]).mean())
    reached = moments.p_value(float(spreads.max()))
    assert np.isnan(reached) or reached >= np.isclose(spreads, spreads.max()).mean() * (1 - 1e-9)
    if len(values) > 5:
        assert moments.third == pytest.approx(((spreads - spreads.mean()) ** 3).mean())


def test_rare_labels_are_not_significant_by_chance() -> None:
    """About four responses of 1,920 have the label: two in one cell are not enough for p < 0.002."""
    rng, counts = np.random.default_rng(0), np.full(40, 8)
    found = []
    for _ in range(1500):
        templates = [(rng.random((320, 1)) < 0.002).astype(float) for _ in range(6)]
        moments = mean_of_moments([permuted_spread(values, counts) for values in templates])
        raw = np.mean([values.reshape(40, 8).mean(axis=1).var() for values in templates])
        found.append(moments.p_value(float(raw)))
    p = np.array(found)
    assert (p[~np.isnan(p)] < 0.002).mean() < 0.004


@pytest.mark.parametrize("counts", [(2, 2), (3, 1), (3, 2, 1), (1, 2, 2)])
def test_moments_of_differences_are_exact(counts: tuple[int, ...]) -> None:
    values = np.random.default_rng(1).random((sum(counts), 2))
    orders = itertools.permutations(range(len(values)))
    means = np.array([group_means(values[list(order)], counts) for order in orders])
    differences = means - means.mean(axis=1, keepdims=True)
    second, third = _difference_moments(values, np.array(counts))
    assert differences.mean(axis=0) == pytest.approx(np.zeros_like(second), abs=1e-12)
    assert second == pytest.approx((differences**2).mean(axis=0))
    assert third == pytest.approx((differences**3).mean(axis=0))


def test_tails() -> None:
    z = np.array([-3.0, -0.5, 0.0, 1.0, 4.0])
    assert upper_tail(z, np.zeros(5)) == pytest.approx(norm.sf(z))
    for skew in (0.01, 0.5, 2.0):
        shape = 4 / skew**2
        expected = gamma.sf(shape + z * np.sqrt(shape), shape)
        assert upper_tail(z, np.full(5, skew)) == pytest.approx(expected)
        assert upper_tail(-z, np.full(5, -skew)) == pytest.approx(1 - expected)


@pytest.mark.parametrize("kind", ["rare", "styles", "soft"])
def test_p_values_are_those_of_permutations(kind: str) -> None:
    rng = np.random.default_rng(0)
    counts = (15,) * 8
    kinds: dict[str, Floats] = {
        "rare": np.asarray(rng.random((120, 1)) < 0.1, np.float64),
        "styles": np.eye(3)[rng.choice(3, 120, p=[0.7, 0.2, 0.1])],
        "soft": rng.beta(0.5, 2, (120, 1)),
    }
    values = kinds[kind]
    moments = permuted_spread(values, np.array(counts))
    orders = rng.permuted(np.tile(np.arange(120), (10_000, 1)), axis=1)
    spreads = values[orders].reshape(10_000, 8, 15, -1).mean(axis=2).var(axis=1).sum(axis=1)
    for level, factor in ((0.2, 1.3), (0.05, 1.3), (0.01, 1.6)):
        assert level / factor < moments.p_value(float(np.quantile(spreads, 1 - level))) < level * factor
    middle = known(moments.middle)
    low, high = np.quantile(spreads, [0.025, 0.975])
    assert middle.high == pytest.approx(high, rel=0.1)
    assert middle.low == pytest.approx(low, abs=0.1 * high)


NAN = np.nan


def near(value: float, n: int) -> object:
    """A figure up to rounding, and its number of examples."""
    return (pytest.approx(value), n)


PARTLY = np.array([[1, 1, NAN], [0, 0, 0], [1, 0, NAN], [1, NAN, NAN], [NAN, NAN, NAN]])
THREE = np.array([[1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1], [1, NAN, 1]])


def test_cohen() -> None:
    """Both yes 20, both no 15, 5 and 10 apart: observed 0.7, expected 0.5."""
    first = np.repeat([1.0, 1.0, 0.0, 0.0, 1.0], [20, 5, 10, 15, 3])
    second = np.repeat([1.0, 0.0, 1.0, 0.0, NAN], [20, 5, 10, 15, 3])
    assert cohens_kappa(first, second) == near(0.4, 50)


def test_krippendorff_of_two_without_missing_labels() -> None:
    """Krippendorff 2011, section B: 0.095."""
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    labels = np.column_stack([first, second]).astype(float)
    assert krippendorffs_alpha(labels) == near(1 - 19 * 4 / (14 * 6), 10)


def test_missing_labels() -> None:
    """By hand: coincidences 11: 2, 00: 3, 01 and 10: 1 each; 4 of 5 pairs are equal."""
    assert krippendorffs_alpha(PARTLY) == near(1 - 6 * 1 / (4 * 3), 3)
    assert raw_agreement(PARTLY) == near(4 / 5, 3)
    assert fleiss_kappa(PARTLY) == near(-1 / 3, 2)  # of two labels: agreement 1 and 0, expected 5/8


def test_fleiss_of_raters_in_turns() -> None:
    """Two of three raters label each example: as if they were the same two."""
    turns = np.array([[1, 1, NAN], [NAN, 0, 0], [1, NAN, 0], [0, 0, NAN]])
    pairs = np.array([[1, 1], [0, 0], [1, 0], [0, 0]])
    assert fleiss_kappa(turns) == fleiss_kappa(pairs.astype(float)) == near((3 / 4 - 34 / 64) / (30 / 64), 4)


@pytest.mark.parametrize("labels", [np.ones((4, 2)), np.zeros((4, 2)), np.full((4, 2), NAN), np.ones((0, 2))])
def test_undefined(labels: Floats) -> None:
    n = 4 if labels.size and not np.isnan(labels).all() else 0
    assert krippendorffs_alpha(labels) == (None, n)
    assert fleiss_kappa(labels) == (None, n)
    assert cohens_kappa(labels[:, 0], labels[:, 1]) == (None, n)
    assert raw_agreement(labels) == (1.0 if n else None, n)


def test_no_agreement_beyond_chance_is_a_number() -> None:
    """One rater says 1 always: kappa is 0, not undefined."""
    assert cohens_kappa(np.ones(4), np.array([1.0, 0, 1, 0])) == near(0.0, 4)


def test_fleiss() -> None:
    """Agreement by example 1, 1, 1/3, 1/3; expected 1/2. The fifth example lacks a label."""
    assert fleiss_kappa(THREE) == near(1 / 3, 4)
