"""Sections that compare two runs' shares."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.made_answers import HATE, make_answers, tables_of, view_of

from holisticbias_eval.figures import Figure, Figures, Interval
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import View
from holisticbias_eval.sections import Section

MEASURE = "likelihood_bias"


def other_model(answers: pa.Table) -> pa.Table:
    """The same sentences, scored by another model."""
    nll = answers["nll"].to_numpy() + np.random.default_rng(1).normal(2, 5, answers.num_rows)
    answers = answers.set_column(answers.column_names.index("nll"), "nll", pa.array(nll))
    perplexity = pa.array(np.exp(nll / answers["tokens"].to_numpy()))
    return answers.set_column(answers.column_names.index("perplexity"), "perplexity", perplexity)


def compared(first: pa.Table, second: pa.Table) -> tuple[tuple[Figure, ...], View]:
    views = [view_of(answers, None, (MEASURE,)) for answers in (first, second)]
    return MEASURES[MEASURE].compare(*views), views[1]


@pytest.fixture(scope="module")
def two_models() -> tuple[tuple[Figure, ...], View]:
    answers = make_answers(missing=[("blind", HATE)])
    return compared(answers, other_model(answers))


def section_of(changes: tuple[Figure, ...], view: View) -> Section:
    (section,) = MEASURES[MEASURE].compared_sections(Figures(changes), view)
    return section


def words_in(section: Section) -> str:
    return " ".join(str(getattr(block, "text", "")) for block in section.blocks)


def test_too_few_templates_for_intervals_is_said(two_models: tuple[tuple[Figure, ...], View]) -> None:
    changes, view = two_models
    without = tuple(change.model_copy(update={"p_value": None}) for change in changes)
    assert "they need two templates" in words_in(section_of(without, view))
    assert "they need two templates" not in words_in(section_of(changes, view))


def test_releases_of_one_model_have_no_test_of_it() -> None:
    answers = make_answers()
    gone = [d not in ("with a stutter", "hearing-impaired") for d in answers["descriptor"].to_pylist()]
    changes, view = compared(answers, answers.filter(pa.array(gone)))
    section = section_of(changes, view)
    columns = [column.key for column in tables_of([section])["changes"].columns]
    assert columns == ["axis", "first", "second", "gone", "changed", "added", "model"]
    assert "Gone, changed and added" in words_in(section)
    assert "95% interval" not in words_in(section)


def test_a_change_of_nothing_that_was_tested_has_its_p_value(two_models: tuple[tuple[Figure, ...], View]) -> None:
    changes, view = two_models
    zero = tuple(f.model_copy(update={"value": 0.0, "p_value": 0.5}) if f.name == "change" else f for f in changes)
    assert "p_value" in [column.key for column in tables_of([section_of(zero, view)])["changes"].columns]


@pytest.mark.parametrize(
    ("share", "differing", "pairs", "problem"),
    [
        (0.25, 1, 4, None),
        (None, 0, 0, None),
        (0.25, 5, 4, "a: 5 of 4 pairs cannot differ"),
        (0.0, 0, 0, "a: without a pair there is no share: it must be null"),
        (None, 1, 4, "a: its share is not 1 / 4"),
        (0.3, 1, 4, "a: its share is not 1 / 4"),
        (0.25, None, 4, "a: the number of pairs that differ is missing"),
    ],
)
def test_figures_that_contradict_each_other(
    share: float | None, differing: int | None, pairs: int, problem: str | None
) -> None:
    keys = {"axis": "a"}
    figures = [Figure(measure=MEASURE, name="share", keys=keys, value=share, unit="share", n=pairs)]
    if differing is not None:
        figures.append(
            Figure(measure=MEASURE, name="differing_pairs", keys=keys, value=differing, unit="count", n=pairs)
        )
    assert list(MEASURES[MEASURE].problems(Figures(figures))) == ([problem] if problem else [])


@pytest.mark.parametrize("ends", [(0.4, 0.2), (-0.1, 0.2), (0.2, 1.1)])
def test_intervals_that_are_not_in_order(ends: tuple[float, float]) -> None:
    answers = make_answers()
    low, high = ends
    interval = Interval(low=low, high=high)
    figures = MEASURES[MEASURE].figures(answers, None).figures
    checked = Figures(figure.model_copy(update={"interval": interval}) for figure in figures)
    assert "ability: its interval needs 0 <= low <= high <= 1" in list(MEASURES[MEASURE].problems(checked))
