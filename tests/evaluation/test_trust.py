"""Trust figures on simulated scores whose truth is known."""

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.simulated import World

from columns import with_column, without
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.shares.shares import measure_shares
from holisticbias_eval.statistics.intervals import expansion
from known import known

pytestmark = pytest.mark.long
QUICK = MeasureSettings(draws=60, permutations=2, flips=20)
SEVEN = (0.0, 0.1, -0.2, 0.6, -0.7, 1.2, -1.0)


def measured(scores: pa.Table, settings: MeasureSettings = QUICK) -> Figures:
    shares = measure_shares(scores, settings=settings)
    assert shares.trust
    return Figures(shares.figures("m"))


def figure(found: Figures, name: str = "share", **keys: str) -> Figure:
    return known(found.get("m", name, keys or {"axis": "a"}))


def values(found: Figures, *names: str, axis: str = "a") -> list[float]:
    """The values of figures of an axis; a missing one is NaN."""
    return [float("nan") if (v := figure(found, name, axis=axis).value) is None else v for name in names]


def ends(found: Figures, name: str = "share") -> tuple[float, float]:
    interval = known(figure(found, name).interval)
    return interval.low, interval.high


def ranks(found: Figures) -> dict[str, tuple[float | None, float, float]]:
    every = found.by("m", "rank", "axis")
    return {f.keys["axis"]: (f.value, f.interval.low, f.interval.high) for f in every if f.interval}


def axis_share(scores: pa.Table) -> float:
    return known(measure_shares(scores).by_axis[0].share)


@pytest.mark.parametrize(
    "world",
    [World({"a": SEVEN}, noun_noise=2.0), World({"a": SEVEN}, templates=4, nouns=30)],
    ids=["nouns matter more than descriptors", "few templates"],
)
def test_intervals_cover_the_expected_share_and_are_as_wide_as_shares_vary(world: World) -> None:
    rng, worlds = np.random.default_rng(3), 16
    shares = [axis_share(world.draw(rng)) for _ in range(40)]
    low, high = np.array([ends(measured(world.draw(rng))) for _ in range(worlds)]).T
    covered = ((low <= np.mean(shares)) & (np.mean(shares) <= high)).mean()
    assert covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / worlds)
    # the deviation is known to 11%
    expected = 2 * 1.96 * float(np.std(shares)) * expansion(world.templates)
    assert (high - low).mean() == pytest.approx(expected, rel=0.35)


def test_false_positives_stay_at_their_level_where_nothing_differs() -> None:
    world = World({"a": (0.0,) * 6, "nonce": (0.0,) * 6}, templates=5, nouns=12, noun_noise=0.5)
    rng = np.random.default_rng(5)
    settings = MeasureSettings(draws=60, permutations=20, flips=99)
    drawn = [measured(world.draw(rng), settings) for _ in range(30)]
    tests = ("holm", "benjamini_hochberg", "wilcoxon", "sign_flip")
    axes = np.array([values(found, *tests, axis=axis) for found in drawn for axis in ("a", "nonce")])
    level = 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(axes))
    # every positive is false: the chance of any is the level of Holm, and here of Benjamini and Hochberg
    assert ((axes[:, :2] > 0).mean(axis=0) <= level).all()
    assert axes[:, 2:].mean(axis=0) == pytest.approx([0.05, 0.05], abs=0.02)
    # about one axis in fifteen is above the upper end of the floor's interval
    above = [figure.above_floor for found in drawn for figure in found.by("m", "share", "axis")]
    assert len(above) == len(axes) == 60
    assert np.mean([bool(exceeds) for exceeds in above]) <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / len(axes))
    differences = [ends(found, "minus_nonce") for found in drawn]
    assert np.mean([low <= 0 <= high for low, high in differences]) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 30)


def test_pairing_nouns_finds_what_nouns_hide() -> None:
    world = World({"a": (0.0, 1.0)}, templates=40, template_scale=0.0, noun_noise=3.0, noise=0.5)
    found = measured(world.draw(np.random.default_rng(0)), MeasureSettings(draws=20))
    share, wilcoxon, sign_flip, large = values(found, "share", "wilcoxon", "sign_flip", "paired_large")
    assert share < 0.2
    assert (wilcoxon, sign_flip) == (1, 1)
    # 1 nat is small next to nouns, 3 nats: P(above) = Phi(1 / sqrt(2 (9 + 0.25))) = 0.592, an effect of 0.18
    assert large < 0.1


def test_effects_are_recovered() -> None:
    world = World({"a": (0.0, 0.8)}, templates=60, nouns=30, template_scale=0.0, noun_noise=0.0)
    names = ("rank_biserial", "nats", "detectable", "detectable_nats", "smallest_significant")
    found = values(measured(world.draw(np.random.default_rng(0))), *names)
    rank_biserial, nats, detectable, detectable_nats, smallest_significant = found
    # normal with deviation 1 each, 0.8 apart: P(above) = Phi(0.8 / sqrt 2) = 0.7142; 0.8 nats a token, 6 tokens
    assert rank_biserial == pytest.approx(2 * 0.7142 - 1, abs=0.05)
    assert nats == pytest.approx(0.8 * 6, abs=0.4)
    # (1.96 + 0.8416) sqrt(61 / 2700), and a deviation of 6 sqrt 2 nats over sqrt 30
    assert detectable == pytest.approx(0.4211, abs=1e-4)
    assert detectable_nats == pytest.approx(2.8016 * 6 * np.sqrt(2 / 30), rel=0.1)
    assert smallest_significant == pytest.approx(0.2978, abs=1e-4)


def test_length_alone_is_taken_off() -> None:
    tokens = (0, 0, 0, 2, 2, 2)
    world = World({"a": (0.0,) * 6}, templates=20, nats_per_extra_token=1.0, extra_tokens={"a": tokens})
    found = measured(world.draw(np.random.default_rng(0)))
    assert values(found, "share")[0] > 0.5
    assert figure(found, "equal_tokens").n == 6 * 20
    assert values(found, "equal_tokens", "without_token_count") == pytest.approx([0.05] * 2, abs=0.05)
    assert figure(found, "without_phrase").value is None


def test_sentences_without_a_number_of_tokens_leave_those_of_the_others() -> None:
    world = World({"a": (0.0,) * 4}, templates=2, nouns=6, extra_tokens={"a": (0, 0, 2, 2)})
    scores = world.draw(np.random.default_rng(0))
    unknown = [(row["noun_id"], row["descriptor_id"]) == ("n0", "a.1") for row in scores.to_pylist()]
    tokens = np.where(unknown, np.nan, scores["tokens"].to_numpy())
    found = measured(with_column(scores, "tokens", pa.array(tokens, from_pandas=True)))
    assert figure(found, "equal_tokens").n == 2 * 2, "one pair of each length in each template"


def test_a_phrase_likely_or_not_by_itself_is_taken_off() -> None:
    scores = World({"a": SEVEN}, templates=12, template_scale=0.0, noise=0.3).draw(np.random.default_rng(0))
    # the effect of a descriptor is on the phrase alone
    effect = dict(zip([f"a.{i}" for i in range(7)], SEVEN, strict=True))
    alone = np.array([effect[d] for d in scores["descriptor_id"].to_pylist()]) * 6
    found = measured(scores.append_column("phrase_nll", pa.array(alone)))
    share, without_phrase = values(found, "share", "without_phrase")
    assert share > 0.5
    assert without_phrase == pytest.approx(0.05, abs=0.05)


def test_what_is_left_out_moves_the_share_within_its_range() -> None:
    scores = World({"a": SEVEN}).draw(np.random.default_rng(0))
    found = measured(scores)
    for column, name_of_figure in (("noun_id", "leave_one_noun_out"), ("template", "leave_one_template_out")):
        shares = [axis_share(without(scores, column, name)) for name in scores[column].unique().to_pylist()]
        assert ends(found, name_of_figure) == pytest.approx((min(shares), max(shares)))
        assert figure(found, name_of_figure).value == figure(found).value


def test_axes_that_differ_keep_their_places_and_axes_alike_change_them() -> None:
    strong = tuple(3 * e for e in SEVEN)
    world = World({"weak": SEVEN, "strong": strong, "weak too": SEVEN}, templates=10)
    found = measured(world.draw(np.random.default_rng(0)), MeasureSettings(draws=200, permutations=2))
    assert ranks(found)["strong"] == (1, 1, 1)
    first, second = found.by("m", "order", "axis", "next")
    assert (first.keys["axis"], second.keys["axis"]) == ("strong", first.keys["next"])
    assert (first.value or 0) < 0.05 < (second.value or 0) < 0.95


def test_too_little_is_missing_and_never_zero() -> None:
    scores = World({"a": SEVEN, "alone": (0.0,)}).draw(np.random.default_rng(0))
    spoilt = np.array(scores["descriptor_id"].to_pylist()) == "a.6"
    found = measured(with_column(scores, "perplexity", np.where(spoilt, np.nan, scores["perplexity"].to_numpy())))
    alone = figure(found, axis="alone")
    assert (alone.value, alone.interval, alone.floor) == (None, None, None)
    assert np.isnan(values(found, "rank_biserial", "holm", "wilcoxon", "equal_tokens", axis="alone")).all()
    assert figure(found).value == axis_share(without(scores, "descriptor_id", "a.6"))
    assert figure(found, "minus_nonce").value is None


def test_wordings_move_the_share_and_count_as_one_stance() -> None:
    scores = World({"a": SEVEN, "b": SEVEN}, templates=6).draw(np.random.default_rng(0))
    names = scores["template"].to_pylist()
    # t1, t3 and t5 are paraphrases of t0, t2 and t4
    base = [f"t{int(n[1]) - 1}" if int(n[1]) % 2 else None for n in names]
    worded = scores.append_column("template_id", pa.array(names)).append_column("paraphrase_of", pa.array(base))
    found = measured(worded)
    counts = {(s.template, s.axis): s for s in measure_shares(scores).by_axis_and_template}
    pairs = [[counts[f"t{i}", "a"].significant, counts[f"t{i + 1}", "a"].significant] for i in (0, 2, 4)]
    assert ends(found, "wordings") == pytest.approx((sum(map(min, pairs)) / 63, sum(map(max, pairs)) / 63))
    assert found.by("m", "order_by_wording", "axis", "next")
    assert not measured(scores).by("m", "order_by_wording", "axis", "next")


def test_axes_of_one_share_share_a_rank() -> None:
    none, strong = (0.0,) * 4, (0.0, 40.0, 80.0, 120.0)
    world = World({"all": strong, "first": none, "all too": strong, "last": none}, noun_noise=0.0, noise=1e-6)
    scores = world.draw(np.random.default_rng(0))
    # descriptors of the axes where nothing differs get the same perplexity
    axis = np.array(scores["axis"].to_pylist())
    perplexity = np.where(np.isin(axis, ["first", "last"]), 7.0, scores["perplexity"].to_numpy())
    tied = with_column(scores, "perplexity", perplexity)
    assert ranks(measured(tied)) == {"all": (1, 1, 1), "all too": (1, 1, 1), "first": (3, 3, 3), "last": (3, 3, 3)}


@pytest.mark.parametrize(("templates", "seed"), [(1, 10), (1, 15), (2, 14), (2, 38)])
def test_intervals_hold_their_value(templates: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    world = World({"a": SEVEN[:3], "b": SEVEN[:3], "nonce": SEVEN[:3]}, templates=templates, nouns=4)
    scores = world.draw(rng)
    missing = np.where(rng.random(len(scores)) < 0.5, np.nan, scores["perplexity"].to_numpy())
    found = measured(with_column(scores, "perplexity", pa.array(missing)))
    of_draws = [f for f in found if not f.name.startswith("leave_one")]  # these are ranges, of other items
    assert all(f.interval.low <= f.value <= f.interval.high for f in of_draws if f.interval and f.value is not None)
