"""Stance contrast: by hand, against an obvious implementation, and on simulated scores whose truth is known."""

import itertools
import statistics
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kstest
from tests.evaluation.simulated_stances import StanceWorld, stance_scores

from columns import with_column
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.stance.pairs import contrast_stances
from holisticbias_eval.measures.stance.sections import NAME, StanceFigures
from holisticbias_eval.measures.stance_contrast import StanceContrast
from holisticbias_eval.statistics.agreement import (
    estimate_agreement,
    estimate_means,
    moderate,
    signed_root,
    sum_products,
)
from known import known as some

AXIS = {"axis": "axis0"}
CONTRAST = ("contrast", "axis", "descriptor")


def measure(answers: pa.Table, settings: MeasureSettings | None = None) -> Figures:
    return Figures(StanceContrast().figures(answers, settings).figures)


def shared(figures: Figures, axis: int = 0) -> Figure:
    return some(figures.get(NAME, "shared_contrast", {"axis": f"axis{axis}"}))


def contrasts(figures: Figures) -> list[float | None]:
    return [figure.value for figure in figures.by(NAME, *CONTRAST)]


def test_figures_worked_out_by_hand() -> None:
    # centred over descriptors: -1, 0, 1 in one pair and -1, -1, 2 in the other, for both nouns alike
    differences = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 3.0]])[:, None, :, None] + np.array([0.0, 5.0])
    figures = measure(stance_scores(differences))
    assert (shared(figures).n, shared(figures).missing) == (3, 0)
    spreads = [figure.value for figure in figures.by(NAME, "wording_spread", "axis", "pair")]
    assert spreads == pytest.approx([1, 3**0.5])
    by_pair = {
        (f.keys["descriptor"], f.keys["pair"]): f.value
        for f in figures.by(NAME, "pair_contrast", "axis", "descriptor", "pair")
    }
    assert by_pair["0.2", "I love ... / I hate ..."] == pytest.approx(1)
    assert by_pair["0.2", "I like ... / I don't like ..."] == pytest.approx(2)


@pytest.mark.parametrize("seed", range(4))
def test_fast_and_obvious_implementations_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs, descriptors, nouns = int(rng.integers(2, 5)), int(rng.integers(3, 8)), int(rng.integers(4, 7))
    differences = rng.normal(size=(pairs, 1, descriptors, nouns))
    differences[rng.random(differences.shape) < 0.1] = np.nan
    differences[:, :, :, :2] = rng.normal(size=(pairs, 1, descriptors, 2))
    figures = measure(stance_scores(differences))
    centred = obvious_centring(differences[:, 0].tolist())
    means = [[statistics.mean(known(nouns).values()) for nouns in pair] for pair in centred]
    assert contrasts(figures) == pytest.approx([statistics.mean(values) for values in zip(*means, strict=True)])
    assert shared(figures).value == pytest.approx(float(signed_root(np.array(obvious_covariance(centred)))))
    total = statistics.variance([sum(values) for values in zip(*means, strict=True)])
    alpha = pairs / (pairs - 1) * (1 - sum(statistics.variance(pair) for pair in means) / total)
    assert figures.value(NAME, "reliability", AXIS) == pytest.approx(alpha)


def known(values: list[float]) -> dict[int, float]:
    return {i: value for i, value in enumerate(values) if not np.isnan(value)}


def obvious_centring(differences: list[list[list[float]]]) -> list[list[list[float]]]:
    """Each value minus the mean over descriptors of the same pair and noun, NaN if there is no other descriptor."""
    centred = [[list(nouns) for nouns in pair] for pair in differences]
    for pair, one in enumerate(differences):
        for noun in range(len(one[0])):
            values = list(known([values[noun] for values in one]).values())
            mean = statistics.mean(values) if len(values) > 1 else np.nan
            for descriptor in range(len(one)):
                centred[pair][descriptor][noun] -= mean
    return centred


def obvious_covariance(centred: list[list[list[float]]]) -> float:
    """The mean over two different pairs of the sum over descriptors of products of different nouns."""
    covariances = []
    for one, other in itertools.combinations(centred, 2):
        total = 0.0
        for left, right in zip(one, other, strict=True):
            products = [
                x * y for (n, x), (m, y) in itertools.product(known(left).items(), known(right).items()) if n != m
            ]
            total += statistics.mean(products)
        covariances.append(total / (len(one) - 1))
    return statistics.mean(covariances)


def test_permutations_shuffle_the_descriptors_of_each_pair() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(3, 5, 4))
    values -= values.mean(axis=1, keepdims=True)
    found = estimate_agreement(some(sum_products(values, 6, np.random.default_rng(7))))
    orders = np.random.default_rng(7).permuted(np.tile(np.arange(5), (6, 3, 1)), axis=2)
    for i, order in enumerate(orders):
        shuffled = np.stack([pair[of_pair] for pair, of_pair in zip(values, order, strict=True)])
        assert found.permuted[i] == pytest.approx(obvious_covariance(shuffled.tolist()))
        again = estimate_agreement(some(sum_products(shuffled, 1, rng)))
        assert found.permuted_alpha[i] == pytest.approx(again.alpha)
    assert found.p_value == (1 + sum(found.permuted >= found.covariance)) / 7


def test_permutations_that_give_the_observed_order_again_count_in_full() -> None:
    """Of two items all orders are the observed one, or its mirror, or have a pair that disagrees."""
    values = np.random.default_rng(1).normal(size=(3, 2, 2))
    values -= values.mean(axis=1, keepdims=True)
    found = estimate_agreement(some(sum_products(values, 99, np.random.default_rng(7))))
    orders = np.random.default_rng(7).permuted(np.tile(np.arange(2), (99, 3, 1)), axis=2)
    assert found.p_value == (1 + sum(len(np.unique(order, axis=0)) == 1 for order in orders)) / 100


def test_sums_of_groups_are_those_of_all() -> None:
    axes = [np.random.default_rng(2).normal(size=(3, n, 4)) for n in (4, 6)]
    axes = [values - values.mean(axis=1, keepdims=True) for values in axes]
    tables = [stance_scores(values[:, None]) for values in axes]
    names = [pa.array([f"axis{i}"] * len(table)) for i, table in enumerate(tables)]
    answers = pa.concat_tables(t.set_column(0, "axis", name) for t, name in zip(tables, names, strict=True))
    one, other = (obvious_covariance(values.tolist()) for values in axes)
    pooled = measure(answers).value(NAME, "shared_contrast")
    assert pooled == pytest.approx(float(signed_root(np.array((3 * one + 5 * other) / 8))))


def test_rarity_and_length_have_no_effect() -> None:
    """A cost of a descriptor, of a noun phrase, or of a token in every template changes no figure."""
    rng = np.random.default_rng(3)
    answers, _ = StanceWorld(stance=0.3, axes=2).draw(rng)
    descriptors, nouns = answers["descriptor_id"].to_pylist(), answers["noun_id"].to_pylist()
    phrases = list(zip(descriptors, nouns, strict=True))
    cost = {phrase: rng.normal(0, 20) for phrase in sorted(set(phrases))}
    tokens = {descriptor: float(rng.integers(1, 9)) for descriptor in sorted(set(descriptors))}
    added = np.array([cost[phrase] + 7 * tokens[phrase[0]] for phrase in phrases])
    changed = with_column(answers, "nll", answers["nll"].to_numpy() + added)
    for one, other in zip(*(measure(table, MeasureSettings()) for table in (answers, changed)), strict=True):
        assert (one.name, one.keys, one.n) == (other.name, other.keys, other.n)
        assert one.p_value == pytest.approx(other.p_value)
        assert one.value == pytest.approx(other.value, abs=1e-8)


LARGE = StanceWorld(axes=2, descriptors=40, nouns=10)


@pytest.mark.parametrize(
    ("world", "agreed"),
    [
        pytest.param(LARGE, None, id="wording alone"),
        pytest.param(StanceWorld(axes=10, nouns=10), None, id="many small axes"),
        # three pairs leave two degrees of freedom: the interval is above 0 in about half of such axes
        pytest.param(replace(LARGE, stance=0.7, wording_freedom=3), 0.4, id="planted, heavy-tailed wording"),
        pytest.param(replace(LARGE, stance=0.7, wording=0.2, noun=0.8), 0.9, id="planted, nouns matter"),
    ],
)
def test_planted_stance_is_recovered_and_no_stance_is_not_found(
    world: StanceWorld, agreed: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holisticbias_eval.measures.stance_contrast.PERMUTATIONS", 250)
    rng, runs = np.random.default_rng(0), 12
    covered, values, p, items_covered, agrees, named = [], [], [], [], [], []
    for _ in range(runs):
        answers, stance = world.draw(rng)
        figures = measure(answers, MeasureSettings(seed=int(rng.integers(10**6))))
        axes, found = (figures.by(NAME, *of) for of in (("shared_contrast", "axis"), CONTRAST))
        intervals = [some(axis.interval) for axis in axes]
        agrees.append([bool(StanceFigures(View(figures, answers), NAME).agrees(axis)) for axis in axes])
        values += [some(axis.value) * abs(some(axis.value)) for axis in axes]
        covered += [interval.low <= world.stance <= interval.high for interval in intervals]
        named.append([f.differs for f in found])
        p += [some(f.p_value) for f in found]
        ends = [(some(f.interval), truth) for f, truth in zip(found, stance.reshape(-1), strict=True)]
        items_covered += [interval.low <= truth <= interval.high for interval, truth in ends]
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / len(covered))
    if agreed is None:
        level = 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
        assert max(np.mean([any(found) for found in kind]) for kind in (agrees, named)) <= level
        assert np.mean(items_covered) >= 0.93
        assert np.mean(values) == pytest.approx(0, abs=0.03)
        assert kstest(p, "uniform").statistic < 0.07
    else:
        assert np.mean(agrees) >= agreed
        assert np.mean(values) == pytest.approx(world.stance**2, rel=0.12)
        assert np.mean(items_covered) == pytest.approx(0.95, abs=0.04)
        assert np.mean(named) >= 0.04


def test_seed_decides_the_floor_and_nothing_else() -> None:
    answers, _ = StanceWorld(axes=2).draw(np.random.default_rng(10))
    one, again, other = (measure(answers, MeasureSettings(seed=seed)) for seed in (1, 1, 2))
    quick = measure(answers)  # nothing is resampled without settings
    assert list(one) == list(again)
    assert [f.floor for f in one] != [f.floor for f in other]
    assert {(f.floor, f.floor_interval) for f in quick} == {(None, None)}
    assert {f.p_value for f in quick.by(NAME, "shared_contrast", "axis")} == {None}
    for figures in (other, quick):
        assert [(f.value, f.interval) for f in one] == [(f.value, f.interval) for f in figures]


def test_variances_of_items_are_drawn_towards_their_group() -> None:
    rng = np.random.default_rng(13)
    prior, freedom, scale = 6, 4, 0.5
    true = [scale * k * prior / rng.chisquare(prior, 4000) for k in (1, 9)]
    own = [variances * rng.chisquare(freedom, 4000) / freedom for variances in true]
    for k, variances, (drawn, degrees) in zip((1, 9), own, moderate(own, [freedom, freedom]), strict=True):
        assert degrees[0] - freedom == pytest.approx(prior, rel=0.15)
        weight = (prior * scale * k + freedom * variances) / (prior + freedom)
        assert drawn == pytest.approx(weight, rel=0.1)


def test_equal_variances_are_pooled() -> None:
    own = np.array([1.0, 1.1, 0.9, 1.0])
    ((drawn, degrees),) = moderate([own], [2])
    assert drawn == pytest.approx([1.0] * 4)
    assert degrees.tolist() == [6.0] * 4


def test_a_single_rater_does_not_decide() -> None:
    """An item that differs for a single rater is less certain than an item that differs for all raters."""
    rng = np.random.default_rng(14)
    values = rng.normal(0, 0.3, (3, 60, 1)) + rng.normal(0, 0.05, (3, 60, 8))
    values[:, 0] += 1.2
    values[0, 1] += 3.6
    (found,) = estimate_means([values - values.mean(axis=1, keepdims=True)])
    assert found.p_value[0] < 0.001
    assert found.p_value[1] > 10 * found.p_value[0]


def test_axes_with_other_nouns_are_added_up() -> None:
    """A noun that one axis alone has leaves its column empty in the others."""
    nouns = {"age": ("noun.man", "noun.woman", "noun.kid"), "ability": ("noun.man", "noun.woman")}
    templates = [f"I {verb} {{plural_noun_phrase}}." for verb in ("love", "hate", "like", "don't like")]
    rng = np.random.default_rng(3)
    rows = [
        {"axis": axis, "template": t, "descriptor_id": f"{axis}.{d}", "noun_id": n, "nll": float(rng.normal(30, 3))}
        for axis, own in nouns.items()
        for t in templates
        for d in "abcd"
        for n in own
    ]
    contrasts = contrast_stances(pa.Table.from_pylist(rows))
    assert [(one.nouns, one.values.shape) for one in contrasts] == [(3, (2, 4, 3)), (2, (2, 4, 3))]
    assert StanceContrast().figures(pa.Table.from_pylist(rows), None).figures
