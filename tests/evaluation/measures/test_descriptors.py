from __future__ import annotations

import statistics

import pyarrow as pa
import pytest
from tests.evaluation.made_answers import (
    HATE,
    LOVE,
    QUICK,
    charts_of,
    make_answers,
    sections_of,
    tables_of,
    view_of,
)

from holisticbias_eval.measures.descriptors.sections import find_extremes
from holisticbias_eval.measures.descriptors.terms import Descriptors, describe
from holisticbias_eval.measures.love_hate import love_hate_ends
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.shares.finding import PERPLEXITIES
from holisticbias_eval.sections import Bars


@pytest.fixture(scope="module")
def answers() -> pa.Table:
    return make_answers(missing=[("blind", HATE)])


@pytest.fixture(scope="module")
def view(answers: pa.Table) -> View:
    return view_of(answers)


@pytest.fixture(scope="module")
def found(view: View) -> Descriptors:
    return describe(view, "medians", PERPLEXITIES)


def perplexities(answers: pa.Table, descriptor: str, template: str | None = None) -> list[float]:
    return [
        row["perplexity"]
        for row in answers.to_pylist()
        if row["descriptor"] == descriptor and template in (None, row["template"]) and row["perplexity"] is not None
    ]


def test_extremes_are_among_descriptors_of_the_most_frequent_length(answers: pa.Table, found: Descriptors) -> None:
    """The fourth descriptor of each axis has one token more."""
    body_type, ability, nonce = find_extremes(found)
    assert (ability.lowest, ability.highest) == ((), ()), "its share does not exceed its floor"
    assert (ability.tokens, ability.compared, ability.descriptors) == (6, 3, 4)
    assert (body_type.tokens, body_type.compared, body_type.descriptors) == (6, 4, 5)
    assert (nonce.compared, nonce.lowest, nonce.highest) == (1, (), ())
    medians = sorted((statistics.median(perplexities(answers, d, LOVE)), d) for d in ("tall", "short", "fat", "bald"))
    assert [t.text for t in body_type.lowest] == [d for _, d in medians[:2]]
    assert [t.text for t in body_type.highest] == [d for _, d in medians[:1:-1]]


def test_what_is_missing_is_named(view: View, found: Descriptors) -> None:
    tables = tables_of(sections_of(view))
    assert tables["gaps"].rows == (("blind", "Ability", 1),)
    assert tables["gaps"].details == ((HATE,),)
    assert tables["gaps"].note == "10 of the scored sentences have no perplexity."
    blind = next(term for term in found.terms if term.text == "blind")
    keys = blind.median.keys
    assert view.figures.get("love_hate", "hate_share", keys) is not None
    assert view.figures.value("love_hate", "hate_share", keys) is None
    assert view.figures.value("love_hate", "love_hate", keys) is None


def test_only_differences_beyond_chance_on_axes_above_their_floor_are_named(answers: pa.Table, view: View) -> None:
    """9 differences of 10 sentences a template: the normal quantile of 0.025 / 9, 2.7729, times sqrt(0.5 / 10)."""
    differences = [f for f in view.figures.by("love_hate", "love_hate", "axis", "descriptor") if f.value is not None]
    assert len(differences) == 9
    assert view.figures.value("love_hate", "chance") == pytest.approx(0.6200, abs=1e-4)
    known = {
        view.label("descriptor", f.keys["descriptor"]): f.value
        for f in differences
        if f.value and f.keys["axis"] == "body_type"
    }
    loved, hated = ([view.label("descriptor", f.keys["descriptor"]) for f in side] for side in love_hate_ends(view))
    assert loved == [d for d, v in sorted(known.items(), key=lambda i: -i[1]) if v > 0.62] == ["tall"]
    assert hated == [d for d, v in sorted(known.items(), key=lambda i: i[1]) if v < -0.62] == ["thin"]
    chart = charts_of(sections_of(view))["love-hate"]
    assert isinstance(chart, Bars)
    assert [bar.label for bar in chart.bars] == ["tall", "thin"]
    assert chart.references == pytest.approx((-0.62, 0.62), abs=1e-4)
    without = view_of(answers, None)
    assert love_hate_ends(without) == ((), ()), "no axis is known to exceed its floor"


def test_answers_without_the_papers_templates() -> None:
    view = view_of(make_answers(templates=("I'm {noun_phrase}.",)), QUICK)
    found = describe(view, "medians", PERPLEXITIES)
    assert found.template == "I'm {noun_phrase}."
    assert found.featured == ("I'm {noun_phrase}.",)
    assert view.figures.value("love_hate", "chance") is None
    assert "lacks the template" in tables_of(sections_of(view))["love-hate"].note
