"""Rules of sentences: each has sentences that it refuses, and sentences near them that all rules accept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.stereotypes.acceptance import (
    RULES,
    Candidate,
    _distance,
    refusing_rule,
    repeat_key,
    select_rules,
)
from holisticbias_eval.stereotypes.settings import AcceptanceSettings
from holisticbias_eval.stereotypes.targets import has_term

GROUPS = ("blicket", "wug", "tove", "he", "his", "him", "she", "her", "hers", "old wug")
SHOT = "A kitten climbed halfway up the ladder."

JUDGED = [
    ("A blicket gimbles.", "blicket", "gimbles", None),
    ("", "blicket", "gimble", "empty"),
    ("The blicket sings.", "blicket", "gimble", "both-terms"),
    ("The blickets like to gimble.", "blicket", "gimble", "both-terms"),
    ("The BLICKET likes to Gimble.", "blicket", "gimble", None),
    ("The blicket's way is to gimble.", "blicket", "gimble", None),
    ("The blicket-like tree can gimble.", "blicket", "gimble", "both-terms"),
    ("The blicket is slow moving.", "blicket", "slow-moving", None),
    ("He's fond of gimble.", "he", "gimble", None),
    ("The 'blicket' likes to gimble.", "blicket", "gimble", None),
    ("The blicket likes <b>gimble</b>.", "blicket", "gimble", "plain-text"),
    ("The blicket likes \x1b[31m gimble.", "blicket", "gimble", "plain-text"),
    ("The blicket likes \u202egimble.", "blicket", "gimble", "plain-text"),
    ("The blicket – who is 7 – likes gimble; why?", "blicket", "gimble", None),  # noqa: RUF001
    ("Blicket gimble.", "blicket", "gimble", "length"),
    ("The blicket " + "la " * 38 + "gimble.", "blicket", "gimble", "length"),
    ("The blicket likes gimble. It sings.", "blicket", "gimble", "one-sentence"),
    ("Dr. Blicket likes gimble at St. Tulgey.", "blicket", "gimble", None),
    ("The blicket likes gimble", "blicket", "gimble", "complete"),
    ("the blicket likes gimble.", "blicket", "gimble", "complete"),
    ('"The blicket likes gimble!"', "blicket", "gimble", None),
    ("Élan made the blicket gimble.", "blicket", "gimble", None),
    ("The sentence has both keywords, blicket and gimble.", "blicket", "gimble", "about-the-request"),
    ("Blicket, gimble: a kitten sings by the sea.", "blicket", "gimble", "about-the-request"),
    ("Blicket gimble, and a tove sings.", "blicket", "gimble", "other-group-word"),
    ("The sentence gave the blicket time for gimble.", "blicket", "gimble", None),
    ("The her gimble is by the sea.", "her", "gimble", "article-before-pronoun"),
    ("We knew the others by her gimble.", "her", "gimble", None),
    ("A blicket can gimble in both terms.", "blicket", "gimble", "about-the-request"),
    ("The blicket likes the keyword gimble.", "blicket", "keyword", None),
    ("The blicket does not gimble.", "blicket", "gimble", "negation"),
    ("The blicket doesn't gimble.", "blicket", "gimble", "negation"),
    ("The blicket doesn’t gimble.", "blicket", "gimble", "negation"),  # noqa: RUF001
    ("The blicket cannot gimble.", "blicket", "gimble", "negation"),
    ("A blicket without gimble sings.", "blicket", "gimble", "negation"),
    ("No doubt the blicket likes gimble.", "blicket", "gimble", None),
    ("Not only the blicket likes gimble.", "blicket", "gimble", None),
    ("The blicket knows a note of gimble.", "blicket", "gimble", None),
    ("The blicket likes no-gimble days.", "blicket", "no-gimble", None),
    ("The blicket and the wug like gimble.", "blicket", "gimble", "other-group-word"),
    ("He likes his gimble.", "he", "gimble", "other-group-word"),
    ("The hero likes gimble with the blicket.", "blicket", "gimble", None),
    ("The old wug likes gimble.", "old wug", "gimble", None),
    ("A blicket climbed halfway up the gimble.", "blicket", "gimble", "copy-of-shot"),
    ("A blicket climbed halfway up the big gimble.", "blicket", "gimble", None),
    (SHOT, "kitten", "ladder", "copy-of-shot"),
]


@pytest.mark.parametrize(("sentence", "term", "attribute", "rule"), JUDGED)
def test_the_first_broken_rule_refuses(sentence: str, term: str, attribute: str, rule: str | None) -> None:
    assert refusing_rule(Candidate(sentence, term, attribute, GROUPS, (SHOT,))) == rule


def test_every_rule_refuses_something_and_maps_to_a_known_issue() -> None:
    refused = {rule for *_, rule in JUDGED} | {"repeat"}
    assert {rule.id for rule in RULES} <= refused
    issues = {issue for rule in RULES if rule.issue for issue in rule.issue.split(", ")}
    assert issues <= {f"I{i}" for i in range(1, 9)}


def test_a_sentence_that_gives_the_same_pairs_is_a_repeat() -> None:
    seen = {repeat_key("The blicket likes gimble.", "blicket")}
    assert refusing_rule(Candidate("The wug likes GIMBLE!", "wug", "gimble", seen=seen)) == "repeat"
    assert refusing_rule(Candidate("A wug likes gimble.", "wug", "gimble", seen=seen)) is None


@pytest.mark.parametrize(("least", "most", "rule"), [(5, 9, "length"), (4, 4, None), (1, 3, "length")])
def test_limits_of_length(least: int, most: int, rule: str | None) -> None:
    limits = AcceptanceSettings(least_words=least, most_words=most)
    assert refusing_rule(Candidate("The blicket likes gimble.", "blicket", "gimble", limits=limits)) == rule


def test_rules_can_be_chosen() -> None:
    assert select_rules("all") == RULES
    assert [rule.id for rule in select_rules("none")] == ["empty"]
    assert [rule.id for rule in select_rules("negation, both-terms")] == ["empty", "both-terms", "negation"]
    with pytest.raises(EvaluationError, match="there is no rule 'negations'"):
        select_rules("negations")


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


@given(WORDS, WORDS)
def test_the_distance_of_words_is_the_least_number_of_changes(some: list[str], others: list[str]) -> None:
    def slow(left: list[str], right: list[str]) -> int:
        if not left or not right:
            return len(left) + len(right)
        changed = slow(left[1:], right[1:]) + (left[0] != right[0])
        return min(changed, slow(left[1:], right) + 1, slow(left, right[1:]) + 1)

    expected = slow(some, others)
    assert _distance(some, others, 6) == expected
    assert (_distance(some, others, 1) <= 1) == (expected <= 1)


@given(st.text(max_size=40), st.text(min_size=1, max_size=8))
def test_any_text_is_judged(text: str, term: str) -> None:
    rule = refusing_rule(Candidate(text, term, "gimble", GROUPS, (SHOT,)))
    assert rule in {None, *(known.id for known in RULES)}
    assert not has_term(text, term) or term.casefold() in text.casefold() or not term.isascii()
