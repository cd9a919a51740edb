"""Grammatical conversion: sentences worked out by hand, rules, and the way back."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.stereotypes.conversion import RULES, Converted, Converter
from holisticbias_eval.stereotypes.specifications import read_specification
from known import known

FILES = {
    "math": "stereotypes.mathematics-or-arts",
    "jobs": "stereotypes.professions",
    "names": "autobiastest.european-african-american-names-1",
    "people": "autobiastest.career-family-names",
    "things": "stereotypes.instruments-or-weapons",
    "hands": "stereotypes.handedness-and-hobbies",
    "paper": "autobiastest.math-arts-male-female",
    "disease": "autobiastest.mental-physical-disease",
}

# file, term, sentence, expected sentence of the other group
CONVERTED = [
    # he and she
    ("math", "he", "He likes math.", "She likes math."),
    ("math", "she", "She likes math.", "He likes math."),
    ("math", "he", "He's good at math.", "She's good at math."),
    ("math", "she", "She\u2019s studying geometry.", "He\u2019s studying geometry."),
    ("math", "he", 'The teacher said, "He knows calculus."', 'The teacher said, "She knows calculus."'),
    ("math", "she", "She is proud of herself for her geometry.", "He is proud of himself for his geometry."),
    # him, and her as an object
    ("math", "him", "Algebra is easy for him.", "Algebra is easy for her."),
    ("math", "her", "I asked her about algebra.", "I asked him about algebra."),
    ("math", "her", "Algebra is easy for her.", "Algebra is easy for him."),
    ("math", "her", "They asked her that math is fun.", "They asked him that math is fun."),
    ("math", "her", 'They called her "a poetry lover".', 'They called him "a poetry lover".'),
    # his and her before a noun
    ("math", "his", "His algebra is good.", "Her algebra is good."),
    ("math", "his", "He is in his dance class.", "She is in her dance class."),
    ("math", "his", "I read his beautifully written novel.", "I read her beautifully written novel."),
    ("math", "her", "Her algebra is good.", "His algebra is good."),
    ("math", "her", "I like her poetry.", "I like his poetry."),
    ("math", "her", "I saw her numbers.", "I saw his numbers."),
    ("math", "her", 'I like her "art".', 'I like his "art".'),
    # his and hers alone
    ("math", "his", "The novel is his.", "The novel is hers."),
    ("math", "his", "A novel of his is on the table.", "A novel of hers is on the table."),
    ("math", "hers", "The novel is hers.", "The novel is his."),
    ("math", "hers", "Hers was the best sculpture.", "His was the best sculpture."),
    # several at once
    ("math", "her", "Her love of calculus led her to study.", "His love of calculus led him to study."),
    ("math", "he", "He asked me that his math was his alone.", "She asked me that her math was hers alone."),
    ("math", "hers", "Her poetry is hers.", "His poetry is his."),
    # nouns, articles and possessives
    ("math", "brother", "My brother's algebra is good.", "My sister's algebra is good."),
    ("math", "brother", "My brother, a poet, loves art.", "My sister, a poet, loves art."),
    ("math", "man", "The man and the other men like math.", "The woman and the other women like math."),
    ("jobs", "uncle", "An uncle works as a plumber.", "An aunt works as a plumber."),
    ("jobs", "mom", "My mom is a mason and a good mother.", "My dad is a mason and a good father."),
    ("things", "arrow", "An arrow can bring peace.", "A bagpipe can bring peace."),
    ("things", "ax", "This is AN AX for peace.", "This is A BANJO for peace."),
    ("things", "oboe", "An oboe, or an old oboe, brings peace.", "A rifle, or an old rifle, brings peace."),
    # names
    ("names", "Adam", "Adam is a friend.", "Alonzo is a friend."),
    ("names", "Bobbie-Sue", "Bobbie-Sue feels happy.", "Lakisha feels happy."),
    ("people", "Amy", "Amy likes her business and herself.", "John likes his business and himself."),
    # descriptors
    ("hands", "left-handed", "A left-handed friend likes music.", "A right-handed friend likes music."),
    ("hands", "left-handed", "Left-handed people like music.", "Right-handed people like music."),
    ("hands", "left-handed", "My left handed friend likes music.", "My right handed friend likes music."),
    # the paper's edition: the place decides, not the index
    ("paper", "his", "His algebra is good.", "Her algebra is good."),
    ("paper", "his", "The novel is his.", "The novel is hers."),
]  # fmt: skip

# file, term, sentence, attribute, rule
REJECTED = [
    ("math", "he", "The boyish math was fun.", "math", "no-term"),
    ("math", "he", "He thinks she likes math.", "math", "other-group-word"),
    ("math", "brother", "Her brother likes math.", "math", "other-group-word"),
    ("math", "he", "He met two women in math.", "math", "other-group-word"),
    ("things", "banjo", "A banjo and guns disturb the peace.", "peace", "other-group-word"),
    ("things", "banjo", "A banjo among banjos brings peace.", "peace", "inflected-term"),
    ("math", "her", "I saw her dance.", "dance", "ambiguous-form"),
    ("math", "her", "They gave her math books.", "math", "ambiguous-form"),
    ("math", "her", "Math took her home.", "math", "ambiguous-form"),
    ("math", "his", "An uncle of his likes math.", "math", "ambiguous-form"),
    ("math", "him", "him symphony is a famous one.", "symphony", "not-reversible"),
    ("math", "man", "A man of math (an man).", "math", "not-reversible"),
    ("disease", "hopeless", "The hopeless state is brief.", "brief", "mixed-form"),
    ("people", "Paul", "Paul and men like Paul like business.", "men", "attribute-changed"),
    ("old", "Agnes", "Agnes' peace was great.", "peace", "possessive"),
]


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


@pytest.mark.parametrize(("name", "term", "sentence", "expected"), CONVERTED)
def test_sentences_worked_out_by_hand(name: str, term: str, sentence: str, expected: str) -> None:
    """Converting back gives the sentence, or nothing."""
    made = convert(name, term, sentence, "zzz")
    assert (made.sentence, made.rule) == (expected, None)
    assert convert(name, known(made.term), expected, "zzz").sentence in (sentence, None)


@pytest.mark.parametrize(("name", "term", "sentence", "attribute", "rule"), REJECTED)
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


@pytest.mark.parametrize(
    ("sentence", "term", "other", "expected"),
    [
        ("Yesterday he walked ferlic.", "he", "three", Converted("Yesterday they walked ferlic.", "they")),
        ("He'll be ferlic.", "he", "three", Converted("They'll be ferlic.", "they")),
        ("He is ferlic.", "he", "three", Converted(rule="verb-form")),
        ("A blick is ferlic.", "blick", "two", Converted("A wug is ferlic.", "wug")),
        ("A blick is ferlic.", "blick", "three", Converted(rule="no-counterpart")),
        ("A blick is ferlic, they say.", "blick", "two", Converted(rule="other-group-word")),
    ],
)
def test_three_groups(sentence: str, term: str, other: str, expected: Converted) -> None:
    assert Converter(Specification.model_validate(THREE), "one", other).convert(sentence, term, "ferlic") == expected


def test_an_article_before_an_abbreviation_is_rejected() -> None:
    data = {**THREE, "slots": [{"form": "noun", "terms": ["blick", "FTM", None]}]}
    made = Converter(Specification.model_validate(data), "one", "two").convert("A blick is here.", "blick", "ferlic")
    assert made == Converted(rule="unknown-article")
