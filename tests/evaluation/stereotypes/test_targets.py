"""The terms that a generator is asked for, and how they are drawn."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.evaluation.stereotypes.sentences_by_hand import specification

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.stereotypes.specifications import read_specification
from holisticbias_eval.stereotypes.targets import (
    GroupTerm,
    Target,
    asked_targets,
    draw_term,
    group_terms,
    sample_number,
    targets,
)

CALM = Target("own.invented", "calm", "gimble")


@pytest.mark.parametrize(
    ("name", "asked", "all_of_them"),
    [
        ("Professions_vs_Gender", 40, 60),
        ("stereotypes.professions", 40, 60),
        ("groups.gender", 48, 48),  # without stereotypes, every attribute
    ],
)
def test_attributes_of_no_stereotype_are_not_asked_for(name: str, asked: int, all_of_them: int) -> None:
    found = read_specification(name)
    assert (len(asked_targets(found)), len(targets(found))) == (asked, all_of_them)
    assert "judge" not in {target.attribute for target in asked_targets(found)}


def test_a_term_without_a_partner_is_not_asked_for() -> None:
    slots = [{"terms": ["blicket", "wug"]}, {"terms": ["tove", None]}]
    assert group_terms(specification(slots=slots))["blickets"] == (GroupTerm("blickets", 0, "blicket"),)


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ([{"terms": ["blicket", None]}], "the group 'blickets' has no term with a partner"),
        ([{"terms": []}], "slot 1 has no terms"),
        ([{"terms": ["blicket", "wug"]}, {"terms": ["tove"]}], "slot 2 has 1 terms for 2 groups"),
    ],
)
def test_slots_that_give_no_pairs_are_refused(slots: list[dict[str, object]], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        group_terms(specification(slots=slots))


def test_groups_take_turns_and_terms_come_once_each() -> None:
    terms = group_terms(specification())
    drawn = [draw_term(0, CALM, request, terms) for request in range(12)]
    assert {term.group for term in drawn[:2]} == {"blickets", "wugs"}
    assert [term.group for term in drawn[::2]] == [drawn[0].group] * 6
    for part in (drawn[:6], drawn[6:]):
        assert Counter(part) == Counter(term for own in terms.values() for term in own)


def test_a_draw_depends_on_seed_and_attribute() -> None:
    terms = group_terms(specification())
    others = [Target("own.invented", "calm", f"word{i}") for i in range(40)]
    first = Counter(draw_term(0, target, 0, terms) for target in others)
    assert len(first) == 6
    assert [draw_term(0, t, 0, terms) for t in others] != [draw_term(1, t, 0, terms) for t in others]


def test_samples_of_equal_prompts_have_different_numbers() -> None:
    asked = [
        (target, request, sample)
        for target in (CALM, Target("own.other", "calm", "gimble"), Target("own.invented", "loud", "gimble"))
        for request in range(40)
        for sample in range(5)
    ]
    numbers = [sample_number(*row) for row in asked]
    assert len(set(numbers)) == len(asked)
    assert all(0 <= number < 2**31 for number in numbers)
