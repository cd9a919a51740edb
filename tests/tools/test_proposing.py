"""Proposals for a term or a noun: its wording, grammar, id and bucket, entries that are the same, the criteria."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from folders import ROOT
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
from holisticbias.terms.entries import ArticleRule, Position
from holisticbias.terms.grammar import article, is_abbreviation

EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "tests" / "data" / "proposals.yaml").read_text("utf-8"))
FUNCTIONS: list[Callable[[str], object]] = [
    article_by_sound, propose_article, is_abbreviation, other_language, typed_instead, foreign_letter, as_written,
    plural_of,
]  # fmt: skip
BY_NAME: dict[str, Callable[[str], object]] = {
    **{function.__name__: function for function in FUNCTIONS},
    "wording": lambda text: [mark_in(text), begins_clause(text), capital_in(text), corrected(text)],
    "article_by_letter_and_sound": lambda text: f"{article(text, 'letter', None)} {article(text, 'sound', None)}",
    "misspelled": lambda text: list(misspelled(text, frozenset({"blicket"}))),
    "position_and_plural": lambda text: [propose_position(text), propose_plural(text, propose_position(text))],
    "id_of_term": lambda text: propose_id("x", text),
    "id_of_phrase": lambda text: propose_id("x", text, "standalone"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_of_a_text(catalog: Catalog, name: str) -> None:
    function = BY_NAME.get(name) or partial(same_phrase, catalog)
    assert {text: function(text) for text in EXPECTED[name]} == EXPECTED[name]


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


@pytest.mark.parametrize("text", ["Deaf", "dea f", "non binary", "PERSON", "with a stoma"])
def test_place_of_an_entry_with_the_same_text(root: Path, catalog: Catalog, text: str) -> None:
    found = same_entries(root, catalog, text)
    assert found
    for existing in found:
        file, line = existing.place.split(":")
        assert f"id: {existing.entry.id}" in (root / file).read_text("utf-8").split("\n")[int(line) - 1]
    assert find_place(root, "descriptors", "ability.nobody") == "descriptors"


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


def test_given_articles() -> None:
    assert [article("FTM", rule, "an") for rule in get_args(ArticleRule)] == ["an", "an"]
