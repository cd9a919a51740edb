"""Fast counts against slow ones, and axes with too many descriptors to compare all of them."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import ndtri

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.shares.shares import measure_shares
from holisticbias_eval.statistics import resampling
from holisticbias_eval.statistics.mannwhitney import count_different_rows, pairs_of, pairs_of_rows
from holisticbias_eval.statistics.pairs import compared_pairs, count_different, counts_of, groups_of_rows
from holisticbias_eval.statistics.resampling import noun_draws, significant_when_weighted
from known import known

QUICK = MeasureSettings(draws=20, permutations=2, flips=20)


def random_values(rng: np.random.Generator, decimals: int | None, missing: float) -> Floats:
    rows, nouns = rng.integers(2, 30), rng.integers(1, 35)
    values: Floats = rng.normal(size=(rows, nouns)) + rng.normal(size=(rows, 1)) * rng.choice([0, 0.5, 3])
    values = values if decimals is None else np.round(values, decimals)
    values[rng.random(values.shape) < missing] = np.nan
    return values


CASES = [(None, 0.0), (None, 0.15), (3, 0.0), (1, 0.0), (0, 0.0), (1, 0.15)]


@pytest.mark.parametrize(("decimals", "missing"), CASES)
def test_counts_are_those_of_the_p_values(decimals: int | None, missing: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = random_values(rng, decimals, missing)
        assert count_different_rows(values).tolist() == counts_of(pairs_of_rows(values).stacked).tolist()


@pytest.mark.parametrize(("decimals", "missing"), CASES)
def test_draws_in_one_product_are_those_of_each_pair(decimals: int | None, missing: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        values = random_values(rng, decimals, missing)
        draws = noun_draws(values.shape[1], 25, rng)
        found = significant_when_weighted(values, draws)
        slow = resampling._when_weighted_one_by_one(values, draws, *pairs_of(len(values)))
        assert [counts.tolist() for counts in found] == [counts.tolist() for counts in slow]


def test_some_pairs_estimate_the_share_of_all() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(400, 12)) + rng.normal(size=(400, 1))
    (some, compared), (differ, every) = count_different(values), count_different_rows(values)
    assert every == 400 * 399 // 2
    assert compared < every / 5
    assert some / compared == pytest.approx(differ / every, abs=3 * np.sqrt(0.25 / compared))


def scores(descriptors: int, nouns: int = 6) -> pa.Table:
    rng = np.random.default_rng(6)
    rows = [
        {"axis": "many", "template": t, "template_id": t, "descriptor_id": f"d{d}", "noun_id": f"n{n}",
         "perplexity": float(np.exp(d / descriptors + rng.normal(0, 0.3)))}
        for t in ("one", "two") for d in range(descriptors) for n in range(nouns)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows)


@pytest.mark.parametrize(("descriptors", "drawn"), [(20, False), (230, True)])
def test_an_axis_with_many_descriptors_says_that_pairs_are_drawn(descriptors: int, drawn: bool) -> None:
    found = measure_shares(scores(descriptors), settings=QUICK)
    compared = len(compared_pairs(descriptors)[0])
    assert found.tests.num_rows == 2 * compared
    assert found.pairs.num_rows == compared
    figures = Figures(found.figures("m"))
    share = known(figures.get("m", "share", {"axis": "many"}))
    value = known(share.value)
    assert share.n == 2 * compared
    every = figures.get("m", "all_pairs", {"axis": "many"})
    assert (every is not None) == drawn
    if every is not None and every.interval is not None:
        assert every.n == descriptors * (descriptors - 1)
        assert every.interval.low < value < every.interval.high
        # 1.96 standard errors of a proportion among the drawn pairs
        error = np.sqrt(value * (1 - value) / compared * (1 - compared / every.n))
        assert every.interval.high - every.interval.low == pytest.approx(2 * ndtri(0.975) * error)
    view = View(Figures(found.figures("likelihood_bias")), scores(descriptors))
    (missing,) = (s for s in MEASURES["likelihood_bias"].sections(view) if s.title == "Missing pairs")
    assert ("too many pairs to compare them all" in str(missing.blocks)) == drawn


def test_figures_of_drawn_pairs_are_the_same_each_time() -> None:
    one, other = (measure_shares(scores(230), settings=QUICK) for _ in range(2))
    assert [*one.figures("m")] == [*other.figures("m")]
    assert one.tests.equals(other.tests)


@pytest.mark.parametrize("rows", [0, 1, 2, 152, 200, 201, 300, 788, 2432])
def test_every_row_is_in_one_group(rows: int) -> None:
    groups = groups_of_rows(rows)
    assert sorted(np.concatenate(groups).tolist()) == list(range(rows))
    first, second = compared_pairs(rows)
    assert (first < second).all()
    every = rows * (rows - 1) // 2
    assert len(first) == every if rows <= 200 else len(first) <= max(12_500, 40 * rows)
    if rows > 200:
        counts = np.bincount(np.concatenate([first, second]), minlength=rows)
        assert counts.max() - counts.min() <= 1
        assert counts.min() >= 58
