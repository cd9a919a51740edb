"""Stance contrast of incomplete tables: missing figures with their counts, and no error."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.evaluation.simulated_stances import StanceWorld, stance_scores

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.stance.finding import NAME
from holisticbias_eval.measures.stance.pairs import find_stances
from holisticbias_eval.measures.stance_contrast import StanceContrast
from known import known

QUICK = MeasureSettings()
LOVE = "I love ... / I hate ..."


def measure(answers: pa.Table) -> Figures:
    """The figures; their sections can be shown too."""
    figures = Figures(StanceContrast().figures(answers, QUICK).figures)
    assert StanceContrast().sections(View(figures, answers))
    return figures


def shared(figures: Figures, axis: str = "axis0") -> Figure:
    return known(figures.get(NAME, "shared_contrast", {"axis": axis}))


def differences(*shape: int) -> Floats:
    found: Floats = np.random.default_rng(0).normal(size=shape)
    return found


def with_nll(answers: pa.Table, nll: Floats | list[float | None]) -> pa.Table:
    return answers.set_column(answers.column_names.index("nll"), "nll", pa.array(nll))


def test_no_row_is_an_error() -> None:
    with pytest.raises(SelectionError, match="left to measure"):
        StanceContrast().figures(stance_scores(differences(3, 1, 4, 5)).slice(0, 0), QUICK)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None])
def test_missing_value_is_one_difference_less(value: float | None) -> None:
    answers = stance_scores(differences(3, 1, 4, 5))
    nll = answers["nll"].to_pylist()
    nll[0] = value
    figures = measure(with_nll(answers, nll))
    first, *others = figures.by(NAME, "contrast", "axis", "descriptor")
    assert (first.n, first.missing) == (14, 1)
    assert first.value is not None
    assert {(f.n, f.missing) for f in others} == {(15, 0)}
    assert shared(figures).value is not None


def test_absent_row_is_as_a_missing_value() -> None:
    answers = stance_scores(differences(3, 1, 4, 5))
    missing = with_nll(answers, np.r_[answers["nll"].to_numpy()[:-1], np.nan])
    assert list(measure(answers.slice(0, len(answers) - 1))) == list(measure(missing))


def test_a_missing_noun_does_not_move_the_others() -> None:
    """The mean of a noun is taken over the descriptors that have it, so an unusual noun is not a contrast."""
    plain = np.zeros((3, 1, 4, 5))
    plain[..., 0] = 8.0
    plain[:, :, 0, 0] = np.nan
    assert {f.value for f in measure(stance_scores(plain)).by(NAME, "contrast", "axis", "descriptor")} == {0.0}


def test_descriptor_without_a_template_is_not_counted() -> None:
    answers = stance_scores(differences(3, 1, 4, 5))
    lacking = pc.and_(
        pc.equal(answers["descriptor_id"], "0.1"), pc.equal(answers["template"], "I hate {plural_noun_phrase}.")
    )
    figures = measure(answers.filter(pc.invert(lacking)))
    contrast = known(figures.get(NAME, "contrast", {"axis": "axis0", "descriptor": "0.1"}))
    assert (contrast.value, contrast.n, contrast.missing) == (None, 10, 5)
    assert (shared(figures).n, shared(figures).missing) == (3, 1)
    assert shared(figures).value is not None


def test_axis_without_a_pair_has_the_others() -> None:
    answers = stance_scores(differences(3, 2, 4, 5))
    lacking = pc.and_(pc.equal(answers["axis"], "axis1"), pc.equal(answers["template"], "I hate {plural_noun_phrase}."))
    figures = measure(answers.filter(pc.invert(lacking)))
    assert [f.value for f in figures.by(NAME, "stance_pairs", "axis")] == [3, 2]
    assert shared(figures, "axis1").value is not None
    assert shared(figures, "axis1").interval is None
    pooled = known(figures.get(NAME, "shared_contrast"))
    assert pooled.value == pytest.approx(shared(figures).value)
    assert (pooled.n, pooled.missing) == (4, 4)


def test_one_pair_has_no_agreement() -> None:
    figures = measure(stance_scores(differences(1, 1, 4, 5)))
    found = shared(figures)
    assert (found.value, found.floor, found.p_value, found.n) == (None, None, None, 4)
    assert figures.value(NAME, "reliability", {"axis": "axis0"}) is None
    assert figures.value(NAME, "wording_spread", {"axis": "axis0", "pair": LOVE}) is not None
    contrasts = figures.by(NAME, "contrast", "axis", "descriptor")
    assert all(f.value is not None for f in contrasts)
    assert {(f.interval, f.p_value) for f in contrasts} == {(None, None)}


def test_two_pairs_have_agreement_without_an_interval() -> None:
    figures = measure(stance_scores(differences(2, 1, 4, 5)))
    assert shared(figures).value is not None
    assert shared(figures).p_value is not None
    assert shared(figures).interval is None
    assert {f.p_value for f in figures.by(NAME, "contrast", "axis", "descriptor")} == {None}


def test_one_descriptor_has_no_contrast() -> None:
    figures = measure(stance_scores(differences(3, 1, 1, 5)))
    (contrast,) = figures.by(NAME, "contrast", "axis", "descriptor")
    assert (contrast.value, contrast.n) == (None, 15)
    assert (shared(figures).value, shared(figures).n, shared(figures).missing) == (None, 0, 1)


def test_one_noun_has_contrasts_and_no_agreement() -> None:
    figures = measure(stance_scores(differences(3, 1, 4, 1)))
    assert shared(figures).value is None
    contrasts = figures.by(NAME, "contrast", "axis", "descriptor")
    assert all(f.value is not None and f.p_value is None for f in contrasts)


def test_no_pair_is_said() -> None:
    answers = stance_scores(differences(3, 2, 4, 5))
    loved = answers.filter(pc.equal(answers["template"], "I love {plural_noun_phrase}."))
    found = StanceContrast().figures(loved, QUICK)
    assert "no two templates of opposite stance" in found.notes[0]
    figures = measure(loved)
    assert (shared(figures).value, shared(figures).n, shared(figures).missing) == (None, 0, 4)
    assert {(f.value, f.n) for f in figures.by(NAME, "contrast", "axis", "descriptor")} == {(None, 0)}


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
        [with_nll(answers, np.r_[nll[0] + 1, nll[1:]]), with_nll(answers.slice(0, 1), [nll[0] - 1])]
    )
    values = [f.value for f in measure(twice) if f.name == "contrast"]
    assert values == pytest.approx([f.value for f in measure(answers) if f.name == "contrast"])


def test_a_stance_in_several_wordings_is_their_mean() -> None:
    values = differences(3, 1, 4, 5)
    answers = stance_scores(values)
    loved = answers.filter(pc.equal(answers["template"], TEXTS[0]))
    adored = pa.table(
        {
            **{name: loved[name] for name in loved.column_names},
            "template": pa.array(["I adore {plural_noun_phrase}."] * len(loved)),
            "template_id": pa.array(["adore"] * len(loved)),
            "nll": pc.add(loved["nll"], 2 * values[0].reshape(-1)),
        }
    )
    both = pa.concat_tables([answers, adored])
    both = both.append_column("paraphrase_of", pc.if_else(pc.equal(both["template_id"], "adore"), TEXTS[0], None))
    # the mean of both wordings is higher by the difference itself: nothing is left of the first pair
    figures = measure(both)
    assert figures.value(NAME, "wording_spread", {"axis": "axis0", "pair": LOVE}) == pytest.approx(0, abs=1e-8)
    without_one = measure(both.slice(0, len(both) - 1))
    last = without_one.by(NAME, "contrast", "axis", "descriptor")[-1]
    assert (last.n, last.missing) == (14, 1)


def test_earlier_releases_and_users_tables_are_known_by_text() -> None:
    found = find_stances(pa.table({"template": [*TEXTS, TEXTS[0]]}))
    assert found.names == (LOVE,)
    assert found.template.tolist() == [0, 1, 2, 0]
    assert found.pair.tolist() == [0, 0, -1]
    assert found.negative.tolist() == [False, True, False]


def test_everything_missing_is_as_no_pair() -> None:
    answers = stance_scores(differences(3, 1, 4, 5))
    figures = measure(with_nll(answers, np.full(len(answers), np.nan)))
    assert shared(figures).value is None


def test_paraphrases_are_sides_of_the_pair_that_they_word() -> None:
    table = pa.table(
        {
            "template": [*TEXTS[:2], "I adore {plural_noun_phrase}.", "I can't stand {plural_noun_phrase}."],
            "template_id": ["love", "hate", "adore", "stand"],
            "paraphrase_of": [None, None, "love", "hate"],
        }
    )
    for named in (table, table.append_column("opposite_of", pa.array([None, "love", None, "adore"]))):
        found = find_stances(named)
        assert found.names == (LOVE,)
        assert found.pair.tolist() == [0, 0, 0, 0]
        assert found.negative.tolist() == [False, True, False, True]


def test_the_releases_own_opposites_come_first() -> None:
    table = pa.table(
        {"template": [*TEXTS], "template_id": ["love", "hate", "see"], "opposite_of": [None, None, "love"]},
    )
    found = find_stances(table)
    assert found.names == ("I love ... / I see ...",)
    assert found.pair.tolist() == [0, -1, 0]
    assert found.negative.tolist() == [False, False, True]


def test_two_negatives_of_one_positive_are_one_pair() -> None:
    table = pa.table(
        {"template": [*TEXTS], "template_id": ["love", "hate", "see"], "opposite_of": [None, "love", "love"]},
    )
    found = find_stances(table)
    assert len(found.names) == 1
    assert found.pair.tolist() == [0, 0, 0]
    assert found.negative.tolist() == [False, True, True]
