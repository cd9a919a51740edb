"""Grammatical conversion: sentences worked out by hand, rules, and the way back."""

from functools import cache
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.stereotypes.agreement import same_verb_form
from holisticbias_eval.stereotypes.conversion import Converted, Converter
from holisticbias_eval.stereotypes.pair_rows import RULES
from holisticbias_eval.stereotypes.specifications import read_specification
from known import known

FILES = {
    "math": "stereotypes.mathematics-or-arts",
    "jobs": "stereotypes.professions",
    "names": "autobiastest.european-african-american-names-1",
    "people": "autobiastest.career-family-names",
    "things": "stereotypes.instruments-or-weapons",
    "hands": "stereotypes.handedness-and-hobbies",
    "flowers": "autobiastest.flowers-insects-pleasant",
    "paper": "autobiastest.math-arts-male-female",
    "disease": "autobiastest.mental-physical-disease",
}

CASES = yaml.safe_load(Path(__file__).with_name("conversion.yaml").read_text("utf-8"))


@cache
def specification(name: str) -> Specification:
    return read_specification({**FILES, "old": "autobiastest.young-old-names"}[name])


@cache
def converter(name: str, group: str, other: str) -> Converter:
    return Converter(specification(name), group, other)


def convert(name: str, term: str, sentence: str, attribute: str) -> Converted:
    groups = specification(name).groups
    terms = [{t.lower() for slot in specification(name).slots if (t := slot.terms[i])} for i in (0, 1)]
    first = term.lower() in terms[0]
    pair = (groups[0].name, groups[1].name) if first else (groups[1].name, groups[0].name)
    return converter(name, *pair).convert(sentence, term, attribute)


@pytest.mark.parametrize(("name", "term", "sentence", "expected"), CASES["converted"])
def test_sentences_worked_out_by_hand(name: str, term: str, sentence: str, expected: str) -> None:
    """Converting back gives the sentence, or nothing."""
    made = convert(name, term, sentence, "zzz")
    assert (made.sentence, made.rule) == (expected, None)
    assert convert(name, known(made.term), expected, "zzz").sentence in (sentence, None)


@pytest.mark.parametrize(("name", "term", "sentence", "attribute", "rule"), CASES["rejected"])
def test_sentences_that_cannot_be_converted(name: str, term: str, sentence: str, attribute: str, rule: str) -> None:
    assert convert(name, term, sentence, attribute) == Converted(rule=rule)


def test_the_other_term_is_the_counterpart_of_the_first_mention() -> None:
    assert convert("math", "her", "Her love of calculus led her to study.", "calculus").term == "his"
    assert convert("math", "hers", "The novel is hers.", "novel").term == "his"


WORDS = [
    "he", "him", "his", "himself", "the", "a", "man", "uncle", "saw", "gave", "of", "math", "books", "last", "home",
         "is", "quickly", "own", "and", ",", ".", "with", "reading", "An", "His", "He", "brother's"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=10))
def test_any_words_convert_back_or_are_rejected(words: list[str]) -> None:
    sentence = " ".join(words)
    made = convert("jobs", "he", sentence, "math")
    assert (made.sentence is None) == (made.rule is not None)
    assert made.rule is None or made.rule in RULES
    if made.sentence is not None and made.term is not None:
        back = convert("jobs", made.term, made.sentence, "math")
        assert back.sentence == sentence or back.rule is not None


THREE = {
    "id": "own.three",
    "text": "three groups",
    "groups": [{"name": n, "label": n} for n in ("one", "two", "three")],
    "slots": [
        {"form": "subject", "terms": ["he", "she", "they"]},
        {"form": "noun", "terms": ["blick", "wug", None]},
    ],
    "attributes": [{"name": "a", "label": "a", "terms": ["ferlic"]}],
    "sources": ["contributors"],
    "since": "3.0.0",
}


def test_three_groups() -> None:
    expected = {
        ("Yesterday he walked ferlic.", "he", "three"): Converted("Yesterday they walked ferlic.", "they"),
        ("He'll be ferlic.", "he", "three"): Converted("They'll be ferlic.", "they"),
        ("He is ferlic.", "he", "three"): Converted(rule="verb-form"),
        ("A blick is ferlic.", "blick", "two"): Converted("A wug is ferlic.", "wug"),
        ("A blick is ferlic.", "blick", "three"): Converted(rule="no-counterpart"),
        ("A blick is ferlic, they say.", "blick", "two"): Converted(rule="other-group-word"),
    }
    assert {
        (sentence, term, other): Converter(Specification.model_validate(THREE), "one", other).convert(
            sentence, term, "ferlic"
        )
        for sentence, term, other in expected
    } == expected


def test_a_subject_with_another_verb_form_needs_a_verb_that_fits_both() -> None:
    fits = {after: same_verb_form("he", "they", after) for after in (" walked.", "'ll go.", " walks.", "!")}
    assert list(fits.values()) == [True, True, False, False]


def test_an_article_before_an_abbreviation_is_rejected() -> None:
    data = {**THREE, "slots": [{"form": "noun", "terms": ["blick", "FTM", None]}]}
    made = Converter(Specification.model_validate(data), "one", "two").convert("A blick is here.", "blick", "ferlic")
    assert made == Converted(rule="unknown-article")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("the white teacher likes chess.", "the asian teacher likes chess."),
        ("The white teacher likes chess.", "The Asian teacher likes chess."),
    ],
)
def test_a_sentence_without_capitals_gets_none(sentence: str, expected: str) -> None:
    """The two sentences differ in the group alone."""
    race = read_specification("groups.race")
    assert Converter(race, "white", "asian").convert(sentence, "white", "chess").sentence == expected
