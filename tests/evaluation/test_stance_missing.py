"""Stance contrast of incomplete tables: missing figures with their counts, and no error."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.evaluation.simulated_stances import StanceWorld, stance_scores

from columns import with_column
from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.stance.pairs import find_stances
from holisticbias_eval.measures.stance.sections import NAME
from holisticbias_eval.measures.stance_contrast import StanceContrast
from known import known

QUICK = MeasureSettings()
LOVE = "I love ... / I hate ..."
CONTRAST = ("contrast", "axis", "descriptor")


def measure(answers: pa.Table) -> Figures:
    """The figures; their sections can be shown too."""
    figures = Figures(StanceContrast().figures(answers, QUICK).figures)
    assert StanceContrast().sections(View(figures, answers))
    return figures


def shared(figures: Figures, axis: str = "axis0") -> Figure:
    return known(figures.get(NAME, "shared_contrast", {"axis": axis}))


def differences(*shape: int) -> Floats:
    return np.random.default_rng(0).normal(size=shape)


def without(answers: pa.Table, template: str, **where: str) -> pa.Table:
    """The answers without the rows of a template that have these values."""
    lacking = pc.equal(answers["template"], f"I {template} {{plural_noun_phrase}}.")
    for name, text in where.items():
        lacking = pc.and_(lacking, pc.equal(answers[name], text))
    return answers.filter(pc.invert(lacking))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "no row"])
def test_missing_value_is_one_difference_less(value: float | str | None) -> None:
    answers = stance_scores(differences(3, 1, 4, 5))
    if isinstance(value, str):
        answers = answers.slice(1)
    else:
        answers = with_column(answers, "nll", [value, *answers["nll"].to_pylist()[1:]])
    figures = measure(answers)
    found = figures.by(NAME, *CONTRAST)
    assert [(f.n, f.missing) for f in found] == [(14, 1), (15, 0), (15, 0), (15, 0)]
    assert None not in [found[0].value, shared(figures).value]


def test_descriptor_without_a_template_is_not_counted() -> None:
    figures = measure(without(stance_scores(differences(3, 1, 4, 5)), "hate", descriptor_id="0.1"))
    contrast = known(figures.get(NAME, "contrast", {"axis": "axis0", "descriptor": "0.1"}))
    assert (contrast.value, contrast.n, contrast.missing) == (None, 10, 5)
    assert (shared(figures).n, shared(figures).missing) == (3, 1)
    assert shared(figures).value is not None


def test_axis_without_a_pair_has_the_others() -> None:
    figures = measure(without(stance_scores(differences(3, 2, 4, 5)), "hate", axis="axis1"))
    assert [f.value for f in figures.by(NAME, "stance_pairs", "axis")] == [3, 2]
    assert (shared(figures, "axis1").value is None, shared(figures, "axis1").interval) == (False, None)
    pooled = known(figures.get(NAME, "shared_contrast"))
    assert pooled.value == pytest.approx(shared(figures).value)
    assert (pooled.n, pooled.missing) == (4, 4)


@pytest.mark.parametrize(
    ("shape", "agreement", "contrasts", "n", "missing"),
    [
        ((1, 1, 4, 5), False, True, 4, 0),  # one pair has no agreement
        ((2, 1, 4, 5), True, True, 4, 0),  # two have agreement without an interval
        ((3, 1, 1, 5), False, False, 0, 1),  # one descriptor has no contrast
        ((3, 1, 4, 1), False, True, 4, 0),  # one noun has contrasts and no agreement
    ],
)
def test_few_pairs_descriptors_or_nouns(
    shape: tuple[int, ...], agreement: bool, contrasts: bool, n: int, missing: int
) -> None:
    figures = measure(stance_scores(differences(*shape)))
    found, reliability = shared(figures), figures.value(NAME, "reliability", {"axis": "axis0"})
    given = (found.value, found.floor, found.p_value, reliability)
    assert [value is not None for value in given] == [agreement] * 4
    assert (found.interval, found.n, found.missing) == (None, n, missing)
    of_descriptors = figures.by(NAME, *CONTRAST)
    assert {f.value is not None for f in of_descriptors} == {contrasts}
    assert {(f.interval, f.p_value, f.n) for f in of_descriptors} == {(None, None, shape[0] * shape[3])}
    spread = figures.value(NAME, "wording_spread", {"axis": "axis0", "pair": LOVE})
    assert (spread is not None) == contrasts


def test_no_pair_is_said() -> None:
    answers = stance_scores(differences(3, 2, 4, 5))
    loved = answers.filter(pc.equal(answers["template"], TEXTS[0]))
    assert "no two templates of opposite stance" in StanceContrast().figures(loved, QUICK).notes[0]
    figures = measure(loved)
    assert (shared(figures).value, shared(figures).n, shared(figures).missing) == (None, 0, 4)
    assert {(f.value, f.n) for f in figures.by(NAME, *CONTRAST)} == {(None, 0)}
    empty = measure(with_column(answers, "nll", np.full(len(answers), np.nan)))
    assert shared(empty).value is None


def test_perplexity_and_tokens_give_nats() -> None:
    answers, _ = StanceWorld(axes=2).draw(np.random.default_rng(1))
    tokens = np.random.default_rng(2).integers(4, 12, len(answers))
    perplexity = pa.array(np.exp(answers["nll"].to_numpy() / tokens))
    table = answers.drop_columns("nll").append_column("perplexity", perplexity)
    found = measure(table.append_column("tokens", pa.array(tokens)))
    for one, other in zip(measure(answers), found, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-6)
    alone = StanceContrast().figures(table, QUICK)
    assert {f.value for f in alone.figures if f.name == "contrast"} == {None}
    assert alone.notes


TEXTS = ("I love {plural_noun_phrase}.", "I hate {plural_noun_phrase}.", "I see {plural_noun_phrase}.")


NAMED = {"template": [*TEXTS], "template_id": ["love", "hate", "see"]}
WORDED = {
    "template": [*TEXTS[:2], "I adore {plural_noun_phrase}.", "I can't stand {plural_noun_phrase}."],
    "template_id": ["love", "hate", "adore", "stand"], "paraphrase_of": [None, None, "love", "hate"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("templates", "name", "pair", "negative"),
    [
        # earlier releases and users' tables are known by text, paraphrases are sides of the pair that they word,
        # and a release's own opposites come first
        ({"template": [*TEXTS, TEXTS[0]]}, LOVE, [0, 0, -1], [False, True, False]),
        (WORDED, LOVE, [0] * 4, [False, True] * 2),
        (WORDED | {"opposite_of": [None, "love", None, "adore"]}, LOVE, [0] * 4, [False, True] * 2),
        (NAMED | {"opposite_of": [None, None, "love"]}, "I love ... / I see ...", [0, -1, 0], [False, False, True]),
        (NAMED | {"opposite_of": [None, "love", "love"]}, None, [0] * 3, [False, True, True]),
    ],
)
def test_pairs_of_templates(
    templates: dict[str, list[str | None]], name: str | None, pair: list[int], negative: list[bool]
) -> None:
    found = find_stances(pa.table(templates))
    assert found.names == ((name or found.names[0]),)
    assert (found.pair.tolist(), found.negative.tolist()) == (pair, negative)
    assert found.template.tolist() == [*range(len(pair)), 0][: len(templates["template"])]


def test_rows_that_stand_twice_count_once() -> None:
    answers = stance_scores(differences(3, 1, 4, 5))
    nll = answers["nll"].to_numpy().copy()
    twice = pa.concat_tables(
        [with_column(answers, "nll", np.r_[nll[0] + 1, nll[1:]]), with_column(answers.slice(0, 1), "nll", [nll[0] - 1])]
    )
    values = [f.value for f in measure(twice) if f.name == "contrast"]
    assert values == pytest.approx([f.value for f in measure(answers) if f.name == "contrast"])


def test_a_stance_in_several_wordings_is_their_mean() -> None:
    values = differences(3, 1, 4, 5)
    answers = stance_scores(values)
    loved = answers.filter(pc.equal(answers["template"], TEXTS[0]))
    adored = with_column(loved, "nll", pc.add(loved["nll"], 2 * values[0].reshape(-1)).combine_chunks())
    for name, text in (("template", "I adore {plural_noun_phrase}."), ("template_id", "adore")):
        adored = with_column(adored, name, [text] * len(loved))
    both = pa.concat_tables([answers, adored])
    both = both.append_column("paraphrase_of", pc.if_else(pc.equal(both["template_id"], "adore"), TEXTS[0], None))
    # the mean of both wordings is higher by the difference itself: nothing is left of the first pair
    figures = measure(both)
    assert figures.value(NAME, "wording_spread", {"axis": "axis0", "pair": LOVE}) == pytest.approx(0, abs=1e-8)
    without_one = measure(both.slice(0, len(both) - 1))
    last = without_one.by(NAME, *CONTRAST)[-1]
    assert (last.n, last.missing) == (14, 1)


def test_a_noun_that_only_one_descriptor_has_is_no_difference() -> None:
    values = differences(2, 1, 3, 8)
    values[:, :, 1:, 2:] = np.nan
    figures = measure(stance_scores(values))
    assert [(f.n, f.missing) for f in figures.by(NAME, *CONTRAST)] == 3 * [(4, 0)]
