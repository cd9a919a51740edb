"""Proposals for a term or a noun: its wording, grammar, id and bucket, entries that are the same, the criteria."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from holisticbias.contribute.entry_text import find_place
from holisticbias.contribute.proposals import (
    CRITERIA,
    find_bucket,
    likely_buckets,
    objections,
    only_bucket,
    plural_of,
    propose_article,
    propose_id,
    propose_plural,
    propose_position,
    same_entries,
    same_phrase,
)
from holisticbias.errors import SourceError
from holisticbias.questions.texts import as_written
from holisticbias.rules.characters import foreign_letter, typed_instead
from holisticbias.rules.dictionary import misspelled, other_language
from holisticbias.rules.language import wrong_position
from holisticbias.rules.wording import article_by_sound, begins_clause, capital_in, corrected, mark_in
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Article, ArticleRule, Position
from holisticbias.terms.grammar import article, is_abbreviation


def misspellings(text: str) -> str:
    return "; ".join(misspelled(text, frozenset({"blicket"})))


@pytest.mark.parametrize(
    ("text", "mark", "clause", "capital", "better"),
    [
        ("with asthma", None, None, None, "with asthma"),
        ("stupid!!!", "!", None, None, "stupid"),
        ("with endometriosis.", ".", None, None, "with endometriosis"),
        ("with a Ph.D.", None, None, None, "with a Ph.D."),
        ("St. Lucian", None, None, None, "St. Lucian"),
        ("deaf. I sign", ".", None, None, "deaf. I sign"),
        ("I have endometriosis", None, "I", None, "with endometriosis"),
        ("I'm deaf", None, "I'm", None, "deaf"),
        ("She is a nurse.", ".", "She", None, "nurse"),
        ("has autism", None, "has", None, "with autism"),
        ("Is deaf", None, "Is", None, "deaf"),
        ("people are strange", None, "are", None, "people are strange"),
        ("who is deaf", None, None, None, "who is deaf"),
        ("IT worker", None, None, None, "IT worker"),
        ("DO student", None, None, None, "DO student"),
        ("she/her", None, None, None, "she/her"),
        ("With Endometriosis", None, None, "With", "with Endometriosis"),
        ("person Of color", None, None, "Of", "person of color"),
        ("Deaf", None, None, None, "Deaf"),
    ],
)
def test_wording(text: str, mark: str | None, clause: str | None, capital: str | None, better: str) -> None:
    assert (mark_in(text), begins_clause(text), capital_in(text), corrected(text)) == (mark, clause, capital, better)


ARTICLES = {
    "hourly worker,elder,heir,80-year-old,unhoused,outspoken,upper-class,ultra": "an",
    "nurse,hoarder,one-percenter,European,young,Métis,university student,Tsonga": "a",
    "Uyghur,NIMBY,herbalist,unisex,ftm,lgbtq,x-ray,Ulysses,honoured,1800s,Élite,urban,used,euler,hp": None,
    "unilaterally deaf,oaxacan": None,
}
"""The article of texts whose sound leaves no doubt, and None for the others."""
CASES: list[tuple[Callable[[str], object], dict[str, object]]] = [
    (article_by_sound, {text: article for texts, article in ARTICLES.items() for text in texts.split(",")}),
    (propose_article, dict.fromkeys(("honest", "LGBTQ", "XYZ", "HSP"), "an")),
    (propose_article, dict.fromkeys(("Deaf", "GLBT", "BIPOC", "US", "UNHCR"), "a")),
    (propose_article, dict.fromkeys(("FEMA", "NIMBY", "SAHM"), None)),
    (misspellings, dict.fromkeys(("endometriosis", "nurse's", "LGBTQIA", "Québécois", "blicket"), "")),
    (
        misspellings,
        {
            "asdfgh qwerty": "The dictionary does not have 'asdfgh'",
            "Endometriosis": "The dictionary has 'endometriosis', not 'Endometriosis'",
            "canadian-born": "The dictionary has 'Canadian', not 'canadian'",
            "Blicket": "The dictionary has 'blicket', not 'Blicket'",
        },
    ),
    (
        typed_instead,
        {
            "Parkinson\u2019s": "write an apostrophe (') in its place",
            "hard\u2013of\u2013hearing": "write a hyphen (-) in its place",
            "hard\u00a0of hearing": "write a plain space in its place",
            "wait\u2026": "write three full stops (...) in its place",
            "<b>": None,
        },
    ),
    (foreign_letter, dict.fromkeys(("québécois", "Māori", "Hōkūle\u02bba", "Fɔn", "Diyarbak\u0131r"), None)),
    (
        foreign_letter,
        {
            "k\u0251nd": "U+0251, LATIN SMALL LETTER ALPHA",
            "kin\u0501": "U+0501, CYRILLIC SMALL LETTER KOMI DE",
            "o\ufb03cer": "U+FB03, LATIN SMALL LIGATURE FFI",
            "\u1d05eaf": "U+1D05, LATIN LETTER SMALL CAPITAL D",
        },
    ),
    (as_written, {" Ho\u0304ku\u0304le\u2019a\u00a0 born\u2011again ": "Hōkūle'a born-again"}),
    (
        plural_of,
        {
            "amputee": "amputees",
            "person of color": "people of color",
            "Jehovah's Witness": "Jehovah's Witnesses",
            "boy": "boys",
            "survivor of domestic violence": "survivors of domestic violence",
            "enby": "enbies",
            "trans woman": "trans women",
            "housewife": "housewives",
        },
    ),
]


@pytest.mark.parametrize(("function", "expected"), CASES)
def test_of_a_text(function: Callable[[str], object], expected: dict[str, object]) -> None:
    assert {text: function(text) for text in expected} == expected


def test_text_in_another_language() -> None:
    others = ["persona con discapacidad", "Menschen mit Behinderung", "sans domicile fixe", "Ich bin ."]
    others.append("personnes handicap\u00e9es")
    english = ["with a stoma", "con artist", "de facto stateless", "Qu\u00e9b\u00e9cois", "LGBTQIA asdfgh"]
    english += ["who has asdfgh", "I have a friend who is ."]
    assert [text for text in (*others, *english) if other_language(text)] == others


def test_position_that_contradicts_the_wording() -> None:
    wrong = [("With asthma", "before"), ("born in Peru", "before"), ("with asthma", "standalone")]
    right = [("living donor", "standalone"), ("born-again", "before"), ("with asthma", "after")]
    found: list[tuple[str, Position]] = [*wrong, *right]  # type: ignore[list-item]
    assert [case for case in found if wrong_position(*case) is not None] == wrong


def test_buckets(catalog: Catalog) -> None:
    axes = {axis.axis: axis for axis in catalog.axes}
    nations = axes["nationality"]
    assert only_bucket(axes["ability"], "after") == "after_the_noun"
    assert only_bucket(axes["ability"], "before") is None
    assert likely_buckets(nations, "Canadian-American", "before")[0] == "canada"
    assert likely_buckets(nations, "québécois", "before") == ()
    assert likely_buckets(axes["ability"], "colour-blind", "before")[0] == "visual"
    names = {n: find_bucket("nationality", nations.buckets, n) for n in ("canada", "United States", "cana", "zealand")}
    assert list(names.values()) == ["canada", "united_states", "canada", "new_zealand"]
    for name, said in (
        ("ca", "several buckets"),
        ("canda", "near it: canada"),
        ("zz", "has no bucket 'zz'; a new one is first added to descriptors/nationality.yaml$"),
    ):
        with pytest.raises(SourceError, match=said):
            find_bucket("nationality", nations.buckets, name)


@pytest.mark.parametrize(
    ("text", "position", "plural"),
    [
        ("Deaf", "before", None),
        ("with a stoma", "after", "with stomas"),
        ("with an anxiety disorder", "after", "with anxiety disorders"),
        ("with asthma", "after", None),
        ("who is expecting", "after", "who are expecting"),
        ("who was adopted", "after", "who were adopted"),
        ("who uses a wheelchair", "after", "who use wheelchairs"),
        ("who stutters", "after", "who stutter"),
        ("living in poverty", "after", None),
    ],
)
def test_position_and_plural_that_are_proposed(text: str, position: Position, plural: str | None) -> None:
    assert propose_position(text) == position
    assert propose_plural(text, position) == plural


@pytest.mark.parametrize(
    ("text", "position", "entry_id"),
    [
        ("Bahá'í", "before", "x.bahai"),
        ("LGBTQ+", "before", "x.lgbtq-plus"),
        ("amputee", "standalone", "x.an-amputee"),
        ("../../etc", "before", "x.etc"),
        ("日本", "before", "x.entry"),
        ("I met {noun_phrase}.", "before", "x.i-met"),
    ],
)
def test_id_that_is_proposed(text: str, position: Position, entry_id: str) -> None:
    assert propose_id("x", text, position) == entry_id


@pytest.mark.parametrize("text", ["Deaf", "dea f", "non binary", "PERSON", "with a stoma"])
def test_place_of_an_entry_with_the_same_text(root: Path, catalog: Catalog, text: str) -> None:
    found = same_entries(root, catalog, text)
    assert found
    for existing in found:
        file, line = existing.place.split(":")
        assert f"id: {existing.entry.id}" in (root / file).read_text("utf-8").split("\n")[int(line) - 1]
    assert find_place(root, "descriptors", "ability.nobody") == "descriptors"


def test_phrase_that_a_term_and_a_noun_make(catalog: Catalog) -> None:
    assert same_phrase(catalog, "person with a stoma") == "ability.with-a-stoma with the noun 'person'"
    assert same_phrase(catalog, "deaf Woman") == "ability.deaf with the noun 'woman'"
    assert same_phrase(catalog, "hard-of-hearing kid") == "ability.hard-of-hearing with the noun 'kid'"
    assert same_phrase(catalog, "blind kid") == "ability.blind with the noun 'kid'"
    assert same_phrase(catalog, "wheelchair user") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind", ""),
        ("trannies-only", ""),  # only plurals in s are found
        ("trannys", "'tranny' is a word to avoid according to the GLAAD Media Reference Guide"),
        ("CRIPPLED", "the Disability Language Style Guide"),
        ("homosexual-affirming", "'homosexual' is on record as dispreferred: "),
        ("homo sapiens", "'homo' is a word"),
    ],
)
def test_objections_on_record(catalog: Catalog, text: str, said: str) -> None:
    found = objections(catalog, text)
    assert bool(found) == bool(said)
    assert said in " ".join(found)


def test_criteria_are_those_of_the_guide(root: Path) -> None:
    guide = " ".join((root / "CONTRIBUTING.md").read_text("utf-8").split())
    assert [line for line in CRITERIA if line not in guide] == []


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
