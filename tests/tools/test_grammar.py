"""Articles by sound, phrases of terms, paraphrases and opposites."""

from __future__ import annotations

from typing import get_args

import pytest

from holisticbias.terms.entries import Article, ArticleRule, Descriptor, Gender, Noun
from holisticbias.terms.grammar import article, is_abbreviation


@pytest.mark.parametrize(
    ("letter", "sound", "texts"),
    [
        ("a", "a", "Deaf Hispanic homeless 110-year-old 100-year-old 65-year-old Māori"),
        ("a", "an", "honest heir hourly-paid 80-year-old 8-year-old 11-year-old 18-year-old"),
        ("an", "a", "European one-percenter one-legged once-married Ukrainian Ugandan Uruguayan Unitarian useful"),
        ("an", "an", "able-bodied oneiric Uzbek uninsured unidentified unhoused ugly upper-class urban Inuit"),
    ],
)
def test_article(letter: Article, sound: Article, texts: str) -> None:
    for text in texts.split():
        assert (article(text, "letter", None), article(text, "sound", None)) == (letter, sound), text


def test_given_articles_and_abbreviations() -> None:
    assert [article("FTM", rule, "an") for rule in get_args(ArticleRule)] == ["an", "an"]
    texts = ("FTM", "F2M", "US-born", "LGBTQ+", "BIPOC", "Gen-X", "Deaf", "American-Born Chinese", "A", "80-year-old")
    assert [text for text in texts if is_abbreviation(text)] == list(texts[:5])


def term(**keys: object) -> Descriptor:
    return Descriptor.model_validate({"id": "a.b", "text": "b", "sources": ["x"], "since": "1.0.0", **keys})


@pytest.mark.parametrize(
    ("keys", "gender", "expected"),
    [
        ({}, "nonbinary", True),
        ({"noun_gender": "female"}, "female", True),
        ({"noun_gender": "female"}, "nonbinary", False),
        ({"not_with": ["nonbinary"]}, "nonbinary", False),
        ({"not_with": ["nonbinary"]}, "neutral", True),
        ({"not_with": ["noun.kid"]}, "neutral", False),
        ({"not_with": ["noun.person"]}, "neutral", True),
        ({"position": "standalone"}, "neutral", False),
    ],
)
def test_nouns_that_a_term_goes_with(keys: dict[str, object], gender: Gender, expected: bool) -> None:
    kid = Noun.model_validate({"id": "noun.kid", "text": "kid", "plural": "kids", "sources": ["x"], "since": "1.0.0"})
    assert term(**keys).goes_with(gender, kid) == expected


def test_history_gives_back_what_was_not_there() -> None:
    entry = term(
        article="an",
        not_with=["noun.kid"],
        without_noun=False,
        history=[
            {"until": "2.0.0", "article": None, "not_with": [], "reason": "x"},
            {"until": "3.0.0", "without_noun": True, "reason": "y"},
        ],
    )
    stood = {v: (e.article, e.not_with, e.without_noun) for v in ("1.9.9", "2.0.0", "3.0.0") for e in [entry.at(v)]}
    assert stood == {
        "1.9.9": (None, (), True),
        "2.0.0": ("an", ("noun.kid",), True),
        "3.0.0": ("an", ("noun.kid",), False),
    }
