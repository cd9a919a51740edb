"""Trust figures on simulated scores whose truth is known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.simulated import World

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.shares.figures import ShareTrust, Trust, share_figures
from holisticbias_eval.measures.shares.shares import Shares, measure_shares
from holisticbias_eval.measures.shares.trust import drawn_shares, measure_cell
from holisticbias_eval.statistics.cells import cross
from holisticbias_eval.statistics.mannwhitney import pairs_of_rows
from holisticbias_eval.statistics.pairs import share_of
from holisticbias_eval.statistics.resampling import noun_draws

pytestmark = pytest.mark.long
QUICK = MeasureSettings(draws=60, permutations=2, flips=20)
SEVEN = (0.0, 0.1, -0.2, 0.6, -0.7, 1.2, -1.0)


def measure_trust(scores: pa.Table, settings: MeasureSettings = QUICK) -> Trust:
    trust = measure_shares(scores, settings=settings).trust
    assert trust is not None
    return trust


def figures(shares: Shares) -> Figures:
    scopes = shares.by_axis, shares.by_template, shares.by_axis_and_template
    return Figures(share_figures("m", *scopes, shares.trust))


def axis_share(scores: pa.Table) -> float:
    share = measure_shares(scores).by_axis[0].share
    assert share is not None
    return share


def by_axis(trust: Trust) -> dict[str, ShareTrust]:
    return {t.axis: t for t in trust.by_axis if t.axis}


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(World({"a": SEVEN}), id="effects"),
        pytest.param(World({"a": SEVEN}, noun_noise=2.0), id="nouns matter more than descriptors"),
        pytest.param(World({"a": SEVEN}, template_scale=0.0, noun_noise=0.0), id="templates alike"),
        pytest.param(World({"a": SEVEN}, templates=4, nouns=30), id="few templates"),
    ],
)
def test_intervals_cover_the_expected_share(world: World) -> None:
    rng = np.random.default_rng(3)
    truth = np.mean([axis_share(world.draw(rng)) for _ in range(150)])
    worlds = 80
    covered: float = 0
    for _ in range(worlds):
        interval = measure_trust(world.draw(rng), QUICK).by_axis[0].interval
        assert interval is not None
        covered += interval.low <= truth <= interval.high
    monte_carlo_error = np.sqrt(0.95 * 0.05 / worlds)
    assert covered / worlds >= 0.95 - 3 * monte_carlo_error


def test_intervals_of_a_releases_size_are_as_wide_as_shares_vary() -> None:
    world = World({"a": SEVEN}, templates=26, nouns=30)
    rng = np.random.default_rng(3)
    varies = np.std([axis_share(world.draw(rng)) for _ in range(120)])
    settings = MeasureSettings(draws=100, permutations=1, flips=20)
    widths = []
    for _ in range(15):
        interval = measure_trust(world.draw(rng), settings).by_axis[0].interval
        assert interval is not None
        widths.append(interval.high - interval.low)
    # 2 x 1.96 deviations, 7 % more by Student's t of 26 templates; the deviation itself is known to 7 %
    assert np.mean(widths) == pytest.approx(2 * 1.96 * varies, rel=0.3)


def test_false_positives_stay_at_their_level_where_nothing_differs() -> None:
    world = World({"a": (0.0,) * 6, "nonce": (0.0,) * 6}, templates=5, nouns=12, noun_noise=0.5)
    rng = np.random.default_rng(5)
    settings = MeasureSettings(draws=60, permutations=20, flips=20)
    drawn = [measure_shares(world.draw(rng), settings=settings) for _ in range(60)]
    trusts = [shares.trust for shares in drawn if shares.trust]
    axes = [axis for trust in trusts for axis in trust.by_axis]
    level = 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(axes))
    # every positive is false: the chance of any is the level of Holm, and here of Benjamini and Hochberg
    assert np.mean([bool(axis.corrected.holm) for axis in axes]) <= level
    assert np.mean([bool(axis.corrected.benjamini_hochberg) for axis in axes]) <= level
    assert np.mean([axis.paired.wilcoxon or 0 for axis in axes]) == pytest.approx(0.05, abs=0.015)
    # about one axis in fifteen is above the upper end of the floor's interval
    above = [figure.above_floor for shares in drawn for figure in figures(shares).by("m", "share", "axis")]
    assert len(above) == len(axes) == 120
    assert np.mean([bool(exceeds) for exceeds in above]) <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / len(axes))
    differences = [by_axis(trust)["a"].confounds.minus_nonce_interval for trust in trusts]
    assert np.mean([d is not None and d.low <= 0 <= d.high for d in differences]) >= 0.95 - 3 * np.sqrt(
        0.05 * 0.95 / 60
    )


def test_draws_lie_around_the_share_observed() -> None:
    """Nouns drawn twice let more pairs differ, and must not move the interval upwards."""
    (cell, *_) = cross(World({"a": (0.0,) * 12}, nouns=20).draw(np.random.default_rng(0))).cells
    nouns = noun_draws(20, 100, np.random.default_rng(0))
    measured = measure_cell(cell, pairs_of_rows(cell.values), 0, nouns, QUICK, np.random.SeedSequence(0))
    significant, tested = measured.drawn.sum(axis=1)
    observed = share_of(measured.tests.stacked)
    assert observed is not None
    assert significant / tested > observed + 0.03
    assert drawn_shares([measured], None).mean() == pytest.approx(observed)


def test_where_nothing_differs_every_share_stays_at_its_level() -> None:
    world = World({"a": (0.0,) * 12, "nonce": (0.0,) * 12}, templates=8, nouns=20, noun_noise=0.0)
    trust = measure_trust(world.draw(np.random.default_rng(0)), MeasureSettings(draws=20, permutations=10, flips=400))
    for axis in trust.by_axis:
        # 528 tests of which each descriptor is in 11: the share varies by about 0.02
        for share in (axis.share, axis.floor, axis.paired.wilcoxon, axis.paired.sign_flip):
            assert share == pytest.approx(0.05, abs=0.035)
        assert axis.corrected.holm == 0
        assert axis.corrected.benjamini_hochberg is not None
        assert axis.corrected.benjamini_hochberg <= 0.01
    difference = by_axis(trust)["a"].confounds.minus_nonce_interval
    assert difference is not None
    assert difference.low < 0 < difference.high


def test_the_floor_forgets_what_descriptors_do_and_keeps_what_nouns_do() -> None:
    world = World({"a": SEVEN}, noun_noise=2.0, nouns=24)
    trust = measure_trust(world.draw(np.random.default_rng(0)), MeasureSettings(draws=20, permutations=30)).by_axis[0]
    assert trust.share is not None
    assert trust.floor is not None
    # if nouns differ a lot, the unpaired test is conservative: its rate is below its level
    assert trust.floor < 0.05 < trust.share


def test_pairing_nouns_finds_what_nouns_hide() -> None:
    world = World({"a": (0.0, 1.0)}, templates=40, template_scale=0.0, noun_noise=3.0, noise=0.5)
    paired = measure_trust(world.draw(np.random.default_rng(0)), MeasureSettings(draws=20)).by_axis[0]
    assert paired.share is not None
    assert paired.share < 0.2
    assert paired.paired.wilcoxon == 1
    # 1 nat is small next to nouns, 3 nats: P(above) = Phi(1 / sqrt(2 (9 + 0.25))) = 0.592, an effect of 0.18
    assert paired.paired.large is not None
    assert paired.paired.large < 0.1
    assert paired.paired.sign_flip == 1


def test_effects_are_recovered() -> None:
    world = World({"a": (0.0, 0.8)}, templates=60, nouns=30, template_scale=0.0, noun_noise=0.0)
    effects = measure_trust(world.draw(np.random.default_rng(0)), QUICK).by_axis[0].effects
    # normal with deviation 1 each, 0.8 apart: P(above) = Phi(0.8 / sqrt 2) = 0.7142; 0.8 nats a token, 6 tokens
    assert effects.rank_biserial == pytest.approx(2 * 0.7142 - 1, abs=0.05)
    assert effects.nats == pytest.approx(0.8 * 6, abs=0.4)
    # (1.96 + 0.8416) sqrt(61 / 2700), and a deviation of 6 sqrt 2 nats over sqrt 30
    assert effects.detectable == pytest.approx(0.4211, abs=1e-4)
    assert effects.detectable_nats == pytest.approx(2.8016 * 6 * np.sqrt(2 / 30), rel=0.1)
    assert effects.smallest_significant == pytest.approx(0.2978, abs=1e-4)


def test_the_detectable_effect_is_found_four_times_in_five() -> None:
    # P(above) = (1 + 0.4211) / 2 = 0.71055 at a distance of sqrt 2 x 0.5551
    world = World({"a": (0.0, np.sqrt(2) * 0.5551)}, templates=400, nouns=30, template_scale=0.0, noun_noise=0.0)
    # the approximation is conservative if values are normal
    assert 0.78 <= axis_share(world.draw(np.random.default_rng(0))) <= 0.9


def test_length_alone_is_taken_off() -> None:
    tokens = (0, 0, 0, 2, 2, 2)
    world = World({"a": (0.0,) * 6}, templates=20, nats_per_extra_token=1.0, extra_tokens={"a": tokens})
    trust = measure_trust(world.draw(np.random.default_rng(0)), QUICK).by_axis[0]
    assert trust.share is not None
    assert trust.share > 0.5
    assert trust.confounds.equal_token_pairs == 6 * 20
    assert trust.confounds.equal_tokens == pytest.approx(0.05, abs=0.05)
    assert trust.confounds.without_token_count == pytest.approx(0.05, abs=0.05)
    assert trust.confounds.without_phrase is None


def test_a_phrase_likely_or_not_by_itself_is_taken_off() -> None:
    scores = World({"a": SEVEN}, templates=12, template_scale=0.0, noise=0.3).draw(np.random.default_rng(0))
    # the effect of a descriptor is on the phrase alone
    effect = dict(zip([f"a.{i}" for i in range(7)], SEVEN, strict=True))
    alone = np.array([effect[d] for d in scores["descriptor_id"].to_pylist()]) * 6
    trust = measure_trust(scores.append_column("phrase_nll", pa.array(alone)), QUICK).by_axis[0]
    assert trust.share is not None
    assert trust.share > 0.5
    assert trust.confounds.without_phrase == pytest.approx(0.05, abs=0.05)


def test_what_is_left_out_moves_the_share_within_its_range() -> None:
    scores = World({"a": SEVEN}).draw(np.random.default_rng(0))
    robustness = measure_trust(scores, QUICK).by_axis[0].robustness
    assert robustness is not None
    for column, found in (("noun_id", robustness.leave_one_noun_out), ("template", robustness.leave_one_template_out)):
        names = scores[column].unique().to_pylist()
        kept = [scores.filter(pa.array([n != name for n in scores[column].to_pylist()])) for name in names]
        shares = [axis_share(table) for table in kept]
        assert found is not None
        assert (found.low, found.high) == pytest.approx((min(shares), max(shares)))


def test_axes_that_differ_keep_their_places_and_axes_alike_change_them() -> None:
    strong = tuple(3 * e for e in SEVEN)
    world = World({"weak": SEVEN, "strong": strong, "weak too": SEVEN}, templates=10)
    trust = measure_trust(world.draw(np.random.default_rng(0)), MeasureSettings(draws=200, permutations=2))
    assert [(r.axis, r.low, r.high) for r in trust.axis_ranks[:1]] == [("strong", 1, 1)]
    first, second = trust.rank_flips
    assert first.probability < 0.05
    assert 0.05 < second.probability < 0.95


def test_too_little_is_missing_and_never_zero() -> None:
    scores = World({"a": SEVEN, "alone": (0.0,)}).draw(np.random.default_rng(0))
    perplexity = scores["perplexity"].to_numpy().copy()
    perplexity[np.array(scores["descriptor_id"].to_pylist()) == "a.6"] = np.nan
    spoilt = scores.set_column(scores.column_names.index("perplexity"), "perplexity", pa.array(perplexity))
    trusted = by_axis(measure_trust(spoilt, QUICK))
    alone = trusted["alone"]
    assert (alone.share, alone.interval, alone.floor, alone.effects.rank_biserial) == (None, None, None, None)
    assert (alone.corrected.holm, alone.paired.wilcoxon, alone.confounds.equal_tokens) == (None, None, None)
    without = scores.filter(pa.array([d != "a.6" for d in scores["descriptor_id"].to_pylist()]))
    assert trusted["a"].share == axis_share(without)
    assert trusted["a"].confounds.minus_nonce is None


def test_the_same_seed_gives_the_same_figures() -> None:
    scores = World({"a": SEVEN, "b": SEVEN}).draw(np.random.default_rng(0))
    assert measure_trust(scores, QUICK) == measure_trust(scores, QUICK)
    assert measure_trust(scores, QUICK) != measure_trust(scores, MeasureSettings(**{**QUICK.model_dump(), "seed": 1}))


def test_wordings_move_the_share_and_count_as_one_stance() -> None:
    scores = World({"a": SEVEN, "b": SEVEN}, templates=6).draw(np.random.default_rng(0))
    names = scores["template"].to_pylist()
    # t1, t3 and t5 are paraphrases of t0, t2 and t4
    base = [f"t{int(n[1]) - 1}" if int(n[1]) % 2 else None for n in names]
    worded = scores.append_column("template_id", pa.array(names)).append_column("paraphrase_of", pa.array(base))
    trust = measure_trust(worded)
    counts = {(s.template, s.axis): s for s in measure_shares(scores).by_axis_and_template}
    pairs = [[counts[f"t{i}", "a"].significant, counts[f"t{i + 1}", "a"].significant] for i in (0, 2, 4)]
    wordings = by_axis(trust)["a"].robustness
    assert wordings is not None
    assert wordings.wordings is not None
    assert wordings.wordings.low == pytest.approx(sum(map(min, pairs)) / 63)
    assert wordings.wordings.high == pytest.approx(sum(map(max, pairs)) / 63)
    assert trust.rank_flips[0].probability_by_wording is not None
    assert measure_trust(scores).rank_flips[0].probability_by_wording is None


def test_every_pair_with_its_effects() -> None:
    scores = World({"a": (0.0, 0.0, 2.0)}, templates=8, template_scale=0.0).draw(np.random.default_rng(0))
    found = {(p["first"], p["second"]): p for p in measure_shares(scores, settings=QUICK).pairs.to_pylist()}
    assert list(found) == [("a.0", "a.1"), ("a.0", "a.2"), ("a.1", "a.2")]
    tests = measure_shares(scores).tests.to_pylist()
    for pair, row in found.items():
        significant = [t["significant"] for t in tests if (t["first"], t["second"]) == pair]
        assert (row["templates"], row["significant"]) == (len(significant), sum(significant)) == (8, sum(significant))
        assert row["share"] == sum(significant) / 8
    # the third is 2 nats per token less likely, in sentences of 6 tokens
    assert found["a.0", "a.2"]["nats"] == pytest.approx(-12, abs=1.5)
    assert found["a.0", "a.2"]["rank_biserial"] < -0.7
    assert found["a.0", "a.1"]["nats"] == pytest.approx(0, abs=1.5)


def test_axes_of_one_share_share_a_rank() -> None:
    none, strong = (0.0,) * 4, (0.0, 40.0, 80.0, 120.0)
    world = World({"all": strong, "first": none, "all too": strong, "last": none}, noun_noise=0.0, noise=1e-6)
    scores = world.draw(np.random.default_rng(0))
    # descriptors of the axes where nothing differs get the same perplexity
    axis = np.array(scores["axis"].to_pylist())
    perplexity = np.where(np.isin(axis, ["first", "last"]), 7.0, scores["perplexity"].to_numpy())
    tied = scores.set_column(scores.column_names.index("perplexity"), "perplexity", pa.array(perplexity))
    ranks = {r.axis: (r.rank, r.low, r.high) for r in measure_trust(tied).axis_ranks}
    assert ranks == {"all": (1, 1, 1), "all too": (1, 1, 1), "first": (3, 3, 3), "last": (3, 3, 3)}


def test_figures_are_those_of_the_records() -> None:
    world = World({"a": SEVEN, "b": (0.0, 1.0), "nonce": (0.0, 0.5)}, templates=3, nouns=6)
    shares = measure_shares(world.draw(np.random.default_rng(0)), settings=QUICK)
    trust, found = shares.trust, figures(shares)
    assert trust is not None
    records = (*trust.by_axis, *trust.by_template, *trust.by_axis_and_template)
    counts = (*shares.by_axis, *shares.by_template, *shares.by_axis_and_template)
    for count, record in zip(counts, records, strict=True):
        keys = {k: v for k, v in (("axis", record.axis), ("template", record.template)) if v}
        share = found.get("m", "share", keys)
        assert share is not None
        assert (share.value, share.interval, share.floor, share.floor_interval) == (
            record.share, record.interval, record.floor, record.floor_interval,
        )  # fmt: skip
        assert (share.n, share.missing) == (count.pairs, count.untested)
        assert found.value("m", "differing_pairs", keys) == count.significant
        assert found.value("m", "descriptors", keys) == count.descriptors
        values = {
            **record.corrected.model_dump(), **record.effects.model_dump(), **record.confounds.model_dump(),
            "wilcoxon": record.paired.wilcoxon, "sign_flip": record.paired.sign_flip,
            "paired_large": record.paired.large,
        }  # fmt: skip
        pairs, interval, difference = (
            values.pop(k) for k in ("equal_token_pairs", "minus_nonce_interval", "minus_nonce")
        )
        assert {name: found.value("m", name, keys) for name in values} == values
        equal = found.get("m", "equal_tokens", keys)
        assert equal is not None
        assert equal.n == pairs
        nonce = found.get("m", "minus_nonce", keys)
        if record.template or record.axis == "nonce":
            assert nonce is None
        else:
            assert nonce is not None
            assert (nonce.value, nonce.interval and nonce.interval.model_dump()) == (difference, interval)
        for name, ends in (record.robustness.model_dump() if record.robustness else {}).items():
            ranged = found.get("m", name, keys)
            assert ranged is not None
            assert (ranged.value, ranged.interval and ranged.interval.model_dump()) == (
                record.share if ends else None,
                ends,
            )
    for place in trust.axis_ranks:
        rank = found.get("m", "rank", {"axis": place.axis})
        assert rank is not None
        assert rank.interval is not None
        assert (rank.value, rank.interval.low, rank.interval.high) == (place.rank, place.low, place.high)
    orders = {tuple(f.keys.values()): f.value for f in found.by("m", "order", "axis", "next")}
    assert orders == {(f.first, f.second): f.probability for f in trust.rank_flips}


def test_nouns_that_occur_twice_have_shares_and_nothing_beside() -> None:
    scores = World({"a": SEVEN}, templates=3).draw(np.random.default_rng(0))
    twice = measure_shares(pa.concat_tables([scores, scores]), settings=QUICK)
    assert twice.trust is None
    assert twice.note is not None
    assert "a noun occurs twice with one descriptor" in twice.note
    assert twice.by_axis[0].pairs == measure_shares(scores).by_axis[0].pairs
    assert twice.by_axis[0].share != measure_shares(scores).by_axis[0].share
