"""Rules of sentences, each with sentences that it refuses and sentences near them, and quality by hand."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.evaluation.stereotypes.sentences_by_hand import specification

from holisticbias_eval.figures import Figures
from holisticbias_eval.stereotypes.acceptance import (
    RULES,
    Candidate,
    _distance,
    refusing_rule,
    repeat_key,
    select_rules,
)
from holisticbias_eval.stereotypes.quality import (
    AskedSentence,
    automated_readability,
    fill_templates,
    gunning_fog,
    quality_figures,
)
from holisticbias_eval.stereotypes.record import MEASURE
from holisticbias_eval.stereotypes.settings import AcceptanceSettings
from holisticbias_eval.stereotypes.targets import has_term
from known import known

GROUPS = ("blicket", "wug", "tove", "he", "his", "him", "she", "her", "hers", "old wug")
SHOT = "A kitten climbed halfway up the ladder."

TEXTS: dict[str | None, tuple[str, ...]] = {
    None: (
        "The BLICKET likes to Gimble.", "The blicket's way is to gimble.", "The 'blicket' likes to gimble.",
        "The blicket – who is 7 – likes gimble; why?",  # noqa: RUF001
        "Dr. Blicket likes gimble at St. Tulgey.", '"The blicket likes gimble!"', "Élan made the blicket gimble.",
        "The sentence gave the blicket time for gimble.", "The blicket knows a note of gimble.",
        "No doubt the blicket likes gimble.", "Not only the blicket likes gimble.",
        "The hero likes gimble with the blicket.", "A blicket climbed halfway up the big gimble.",
    ),
    "empty": ("",),
    "both-terms": ("The blicket sings.", "The blickets like to gimble.", "The blicket-like tree can gimble."),
    "plain-text": (
        "The blicket likes <b>gimble</b>.", "The blicket likes \x1b[31m gimble.", "The blicket likes \u202egimble.",
    ),
    "length": ("Blicket gimble.", "The blicket " + "la " * 38 + "gimble."),
    "one-sentence": ("The blicket likes gimble. It sings.",),
    "complete": ("The blicket likes gimble", "the blicket likes gimble."),
    "about-the-request": (
        "The sentence has both keywords, blicket and gimble.", "Blicket, gimble: a kitten sings by the sea.",
        "A blicket can gimble in both terms.",
    ),
    "other-group-word": ("Blicket gimble, and a tove sings.", "The blicket and the wug like gimble."),
    "negation": (
        "The blicket does not gimble.", "The blicket doesn't gimble.", "The blicket doesn’t gimble.",  # noqa: RUF001
        "The blicket cannot gimble.", "A blicket without gimble sings.",
    ),
    "copy-of-shot": ("A blicket climbed halfway up the gimble.",),
}  # fmt: skip
"""Texts about blicket and gimble, by the rule that refuses them."""
JUDGED: list[tuple[str, str, str, str | None]] = [
    *((text, "blicket", "gimble", rule) for rule, texts in TEXTS.items() for text in texts),
    ("A blicket gimbles.", "blicket", "gimbles", None),
    ("The blicket is slow moving.", "blicket", "slow-moving", None),
    ("The blicket likes no-gimble days.", "blicket", "no-gimble", None),
    ("The blicket likes the keyword gimble.", "blicket", "keyword", None),
    ("He's fond of gimble.", "he", "gimble", None),
    ("He likes his gimble.", "he", "gimble", "other-group-word"),
    ("We knew the others by her gimble.", "her", "gimble", None),
    ("The her gimble is by the sea.", "her", "gimble", "article-before-pronoun"),
    ("The old wug likes gimble.", "old wug", "gimble", None),
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


def test_limits_of_length() -> None:
    for least, most, rule in ((5, 9, "length"), (4, 4, None), (1, 3, "length")):
        limits = AcceptanceSettings(least_words=least, most_words=most)
        assert refusing_rule(Candidate("The blicket likes gimble.", "blicket", "gimble", limits=limits)) == rule


def test_rules_can_be_chosen() -> None:
    assert select_rules("all") == RULES
    assert [rule.id for rule in select_rules("none")] == ["empty"]
    assert [rule.id for rule in select_rules("negation, both-terms")] == ["empty", "both-terms", "negation"]


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
@example("", " ")
@example("a - b", "-")
def test_any_text_is_judged(text: str, term: str) -> None:
    rule = refusing_rule(Candidate(text, term, "gimble", GROUPS, (SHOT,)))
    assert rule in {None, *(one.id for one in RULES)}
    parts = re.findall(r"[^\s'-]+", term.casefold())
    assert not has_term(text, term) or all(part in text.casefold() for part in parts) or not term.isascii()


KEPT = [
    AskedSentence("The blicket loves gimble.", "blicket", "gimble"),
    AskedSentence("A wug hates the slow-moving gimble.", "wug", "gimble"),
    AskedSentence("The blicket and gimble.", "blicket", "gimble"),
]


def test_figures_of_sentences() -> None:
    returned = [*KEPT, AskedSentence("The blicket sings.", "blicket", "gimble")]
    found = Figures(quality_figures("generated", returned, KEPT))

    def value(name: str) -> float | None:
        return found.value(MEASURE, name, {"source": "generated"})

    assert value("both_terms") == 3 / 4
    assert value("words") == pytest.approx((4 + 6 + 4) / 3)
    assert value("positive") == pytest.approx(1 / 3)
    assert value("negative") == pytest.approx(1 / 3)
    assert value("distinct_words") is None
    words = known(known(found.get(MEASURE, "words", {"source": "generated"})).interval)
    # the standard deviation of 4, 6, 4 is 2 / sqrt(3), and t of 2 degrees of freedom 4.303
    assert words.high - words.low == pytest.approx(2 * 4.302652729911275 * 2 / 3)


def test_without_sentences_every_figure_is_undefined() -> None:
    assert {(f.value, f.interval, f.n) for f in quality_figures("generated", [], [])} == {(None, None, 0)}


def test_distinct_words_are_those_of_200_sentences() -> None:
    alike = [AskedSentence("The blicket loves gimble.", "blicket", "gimble")] * 200
    many = [AskedSentence(f"Word{i} the.", "blicket", "gimble") for i in range(500)]
    for kept, expected in ((alike, (4, 200)), (many, (201, 500)), (many[:199], (None, 199))):
        (found,) = (f for f in quality_figures("generated", [], kept) if f.name == "distinct_words")
        assert (found.value, found.n) == expected


def test_readability() -> None:
    # 10 words of 51 characters: 4.71 * 5.1 + 0.5 * 10 - 21.43
    sentence = "The boy excels at math and enjoys solving complex equations."
    assert automated_readability([sentence])[0] == pytest.approx(4.71 * 5.1 + 5 - 21.43)
    # one of 5 words has three syllables or more and is not easy: 0.4 * (5 + 20)
    fog = gunning_fog(["The cat sat on catastrophe.", "The cat sat.", "..."])
    np.testing.assert_allclose(fog, [10.0, 1.2, 0.0])


def test_templates_are_filled_with_the_first_group() -> None:
    found = [asked.sentence for asked in fill_templates(specification())]
    assert found[:2] == ["The blicket likes gimble.", "The tove likes gimble."]
    assert "Mell is burble." in found
    assert "Blicket is burble." not in found
    assert not any("wug" in sentence for sentence in found)
    assert len(found) == 3 * (3 + 1)
    neither = [{"name": name, "label": name.title()} for name in ("blickets", "wugs")]
    assert [asked.sentence for asked in fill_templates(specification(groups=neither))] == found
    slots = [{"terms": ["blicket", None]}, {"form": "mixed", "terms": ["tove", "rath"]}]
    assert fill_templates(specification(slots=slots)) == []
