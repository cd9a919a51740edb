import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kstest
from tests.evaluation.simulated import World

import comparison
from columns import only, with_column, without
from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.identity import count_shared
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.shares.measure import share_changes
from holisticbias_eval.report.gain_words import Labels
from holisticbias_eval.report.gains import gains_chapter
from holisticbias_eval.results.gains import find_gains
from holisticbias_eval.sections.tables import Paragraph, Table
from holisticbias_eval.statistics.clusters import Moved, estimate
from known import known

NAME = "likelihood_bias"
EFFECTS = (0.0, 0.3, -0.4, 0.9, -0.8)


def scores(effects: tuple[float, ...], seed: int, other_axis: str = "b") -> pa.Table:
    """Scores of a model, with the same nouns and templates for every model."""
    world = World({"a": effects, other_axis: EFFECTS}, templates=8, noise=0.0).draw(np.random.default_rng(0))
    log = np.log(world["perplexity"].to_numpy()) + np.random.default_rng(seed).normal(0, 0.8, world.num_rows)
    ids = [f"{r['template']}/{r['descriptor_id']}/{r['noun_id']}" for r in world.to_pylist()]
    noisy = with_column(world, "perplexity", np.exp(log))
    return noisy.append_column("sentence_id", pa.array(ids)).append_column("text", pa.array(ids))


def reworded(table: pa.Table, template: str, seed: int) -> pa.Table:
    """The same with the sentences of one template reworded and scored again."""
    mine = np.array([t == template for t in table["template"].to_pylist()])
    perplexity = table["perplexity"].to_numpy().copy()
    perplexity[mine] = np.exp(np.random.default_rng(seed).normal(3, 1, mine.sum()))
    text = [f"{t}!" if m else t for t, m in zip(table["text"].to_pylist(), mine, strict=True)]
    return with_column(with_column(table, "text", text), "perplexity", perplexity)


PARTS = ("gone", "changed", "change", "added")


def compare(first: pa.Table, second: pa.Table) -> Figures:
    return Figures(share_changes(NAME, first, second))


def of(changes: Figures, axis: str | None, name: str) -> Figure:
    return known(changes.get(NAME, name, {} if axis is None else {"axis": axis}))


def values(changes: Figures, axis: str | None) -> dict[str, float]:
    found = {name: of(changes, axis, name).value for name in ("first", "second", *PARTS)}
    return {name: value for name, value in found.items() if value is not None}


def p_values(changes: Figures) -> list[float | None]:
    return [figure.p_value for figure in (*changes.by(NAME, "change", "axis"), of(changes, None, "change"))]


SMALL = comparison.World(templates=8, nouns=10, descriptors=6)
EQUAL = {
    "noise alone": SMALL,
    "each model has its own words for each noun": replace(SMALL, own_noun=0.5, noise=0.6),
}


@pytest.mark.parametrize("world", EQUAL.values(), ids=EQUAL)
def test_p_values_of_equal_models_are_uniform(world: comparison.World) -> None:
    found = comparison.compare_pairs(world, 150, seed=1)
    # of 150 at the level of 0.05, fewer than 2 or more than 15 have a chance below 1% each way
    assert 2 <= (found.p < 0.05).sum() <= 15
    assert kstest(found.p, "uniform").pvalue > 0.01
    assert ((found.low > 0) | (found.high < 0)).tolist() == (found.p < 0.05).tolist()


def test_intervals_of_unequal_models_cover_and_the_difference_is_found() -> None:
    found = comparison.compare_pairs(replace(SMALL, gain=1.8), 100, seed=2)
    expected = found.change.mean()
    assert 90 <= ((found.low <= expected) & (expected <= found.high)).sum() <= 99
    assert (found.p < 0.05).sum() > 70
    assert (found.p < 0.01).sum() > 40
    assert ((found.low > 0) | (found.high < 0)).tolist() == (found.p < 0.05).tolist()


Pair = tuple[float, float]
# changes of two stances of ten tests each, worked by hand
NO_NOUN, A_NOUN = ((0.0, 0.0), (0.0, 0.0)), ((1.0, -1.0), (1.0, -1.0))
BY_HAND: dict[str, tuple[tuple[int, int], tuple[int, int], tuple[Pair, Pair], float | None, float, float | None]] = {
    # the paired t test of 0.1 and 0.3: t is 2, with 1 degree of freedom
    "stances alone": ((1, 3), (10, 10), NO_NOUN, 1 - 2 / math.pi * math.atan(2), 0.2, 12.7062 * 0.1),
    # the nouns' covariance is as large as the stances' variance: t is the root of 2, with 2 degrees of freedom
    "nouns too": ((1, 3), (10, 10), A_NOUN, 1 - math.sqrt(0.5), 0.2, 4.30265 * math.sqrt(0.02)),
    # effects of a noun on one stance, reversed in the other
    "nouns apart": ((1, 3), (10, 10), ((1.0, -1.0), (-1.0, 1.0)), 1 - 2 / math.pi * math.atan(2), 0.2, 1.27062),
    # without any spread, the spread of one test is used
    "no spread": ((2, 2), (10, 10), A_NOUN, None, 0.2, None),
    "all the same": ((0, 0), (10, 10), NO_NOUN, 1.0, 0.0, 0.0),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_interval_worked_by_hand(name: str) -> None:
    significant, tested, without, p, change, margin = BY_HAND[name]
    found = estimate(Moved(np.array(significant, float), np.array(tested, float), np.array(without)))
    assert found
    interval, p_value = found
    if p is None or margin is None:
        assert 0.05 < p_value < 1
        assert interval.low < 0 < interval.high
        return
    assert p_value == pytest.approx(p)
    assert interval.low == pytest.approx(max(-1, change - margin), abs=1e-5)
    assert interval.high == pytest.approx(min(1, change + margin), abs=1e-5)


def test_one_template_or_one_noun_has_no_interval() -> None:
    first, second = scores(EFFECTS, 1), scores(EFFECTS, 2)
    for column, kept in (("template", "t0"), ("noun_id", "n0")):
        found = of(compare(only(first, column, kept), only(second, column, kept)), "a", "change")
        assert (found.value is None, found.interval, found.p_value) == (False, None, None)


def test_a_run_without_paraphrases_beside_one_that_names_them() -> None:
    older, newer = scores(EFFECTS, 1), scores(EFFECTS, 2)
    template = newer["template"].to_pylist()
    paraphrases = pa.array(["t0" if t == "t1" else None for t in template], pa.string())
    newer = newer.append_column("template_id", pa.array(template)).append_column("paraphrase_of", paraphrases)
    both = p_values(compare(older, newer))
    named = with_column(newer, "perplexity", older["perplexity"].to_numpy())
    assert both == p_values(compare(named, newer))
    assert both != p_values(compare(older, scores(EFFECTS, 2)))


def test_a_change_of_release_is_the_datas_and_of_a_model_the_models() -> None:
    first, other = scores(EFFECTS, 1), scores(tuple(3 * e for e in EFFECTS), 2)
    second = without(reworded(first, "t0", 5), "descriptor_id", "a.4")
    first = without(first, "descriptor_id", "b.0")
    shared, changes = count_shared(first, second), compare(first, second)
    assert (shared.gone, shared.added, shared.changed) == (8 * 16, 8 * 16, 8 * 16)
    for axis, zero in (("a", "added"), ("b", "gone")):
        found = values(changes, axis)
        assert found["change"] == 0
        assert found[zero] == 0
        assert found["second"] - found["first"] == pytest.approx(found["gone"] + found["changed"] + found["added"])
        tests = {name: of(changes, axis, name).n for name in ("first", "gone", "changed", "added", "second")}
        assert tests["first"] == tests["gone"]
        assert tests["second"] == tests["added"]
        assert tests["changed"] == min(tests["first"], tests["second"]) < max(tests["first"], tests["second"])
    # gains and costs show the values that the change is of
    gain = next(g for g in find_gains(changes, ()) if g.keys == {"axis": "b"})
    assert gain.before == gain.after != of(changes, "b", "first").value
    noted = "Likelihood Bias: on the sentences that both runs have."
    assert [noted in notes_of(made) for made in (changes, compare(first, first))] == [True, False]
    assert of(changes, "a", "second_in_common").value != of(changes, "a", "second").value
    assert "first_in_common" not in {change.name for change in compare(first, first)}
    found = values(compare(first, without(other, "descriptor_id", "a.4")), "a")
    assert found["change"] != 0
    assert found["second"] - found["first"] == pytest.approx(sum(found[part] for part in PARTS))


def notes_of(changes: Figures) -> str:
    """The text of the chapter of gains and costs."""
    sections = gains_chapter({"B": tuple(find_gains(changes, ()))}, Labels()).sections
    return " ".join(block.text for block in sections[0].blocks if isinstance(block, Paragraph))


def test_an_axis_that_only_one_run_has_is_missing_in_the_other() -> None:
    first, second = scores(EFFECTS, 1), without(scores(EFFECTS, 1), "axis", "b")
    changes = compare(first, second)
    assert of(changes, "b", "second").value is None
    model = of(changes, "b", "change")
    assert (model.value, model.interval, model.p_value, model.n) == (None, None, None, 0)


@pytest.mark.parametrize(("left_out", "rows"), [("none", ["A", "B", "All axes"]), ("b", ["A"])])
def test_the_row_of_all_axes_stands_below_several_axes(left_out: str, rows: list[str]) -> None:
    measure = MEASURES[NAME]
    views = [View(Figures(()), without(scores(EFFECTS, seed), "axis", left_out)) for seed in (1, 2)]
    (section,) = measure.compared_sections(Figures(measure.compare(*views)), views[1])
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    assert [row[0] for row in table.rows] == rows


def test_made_up_words_are_in_no_share_over_all_axes() -> None:
    changes = compare(scores(EFFECTS, 1, MADE_UP), scores(EFFECTS, 2, MADE_UP))
    for name in ("first", "second", "change"):
        assert of(changes, None, name).value == pytest.approx(of(changes, "a", name).value)
    assert of(changes, MADE_UP, "change").value
    gains = {g.keys.get("axis"): (g.outcome, g.main) for g in find_gains(changes, ())}
    assert gains[MADE_UP] == ("baseline", False)
    assert gains[None][1]
