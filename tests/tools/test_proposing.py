"""Proposals for a term or a noun: its wording, grammar, id and bucket, entries that are the same, the criteria."""

from collections.abc import Callable, Sequence
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
from holisticbias.questions.specifications import (
    read_attributes,
    read_group,
    read_opposite,
    read_slot,
    read_template,
)
from holisticbias.rules.characters import foreign_letter, typed_instead
from holisticbias.rules.dictionary import misspelled, other_language
from holisticbias.rules.validate import term_fault
from holisticbias.rules.wording import article_by_sound, begins_clause, capital_in, corrected, mark_in
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule
from holisticbias.terms.file_kinds import DescriptorFile
from holisticbias.terms.grammar import article, as_written, is_abbreviation, regular_plural
from holisticbias.terms.specification_entries import pronoun_gender

EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "tests" / "data" / "proposals.yaml").read_text("utf-8"))
SETS = [read_attributes("Slow things (negative): snail, mud"), read_attributes("Quick things (positive): hare")]
SLOTS = [read_slot("stad / blicket / -", 3, ())]
FUNCTIONS: list[Callable[[str], object]] = [
    article_by_sound, propose_article, is_abbreviation, other_language, typed_instead, foreign_letter, as_written,
    regular_plural, plural_of,
]  # fmt: skip
BY_NAME: dict[str, Callable[[str], object]] = {
    **{function.__name__: function for function in FUNCTIONS},
    "wording": lambda text: [mark_in(text), begins_clause(text), capital_in(text), corrected(text)],
    "article_by_letter_and_sound": lambda text: f"{article(text, 'letter', None)} {article(text, 'sound', None)}",
    "misspelled": lambda text: list(misspelled(text, frozenset({"blicket"}))),
    "position_and_plural": lambda text: [propose_position(text), propose_plural(text, propose_position(text))],
    "id_of_term": lambda text: propose_id("x", text),
    "id_of_phrase": lambda text: propose_id("x", text, "standalone"),
    "bucket": lambda name: find_bucket("nations", ["canada", "cambodia", "new_zealand"], name),
    "bucket_of_many": lambda name: find_bucket("nations", [f"land {number}" for number in range(99)], name),
    "slot": lambda line: read_slot(line, line.count("/") + 1, {"age.old", "age.young"}),
    "attributes": read_attributes,
    "group": lambda line: read_group(line, SETS),
    "opposite": lambda line: read_opposite(line, SETS),
    "template": lambda line: read_template(line, SLOTS),
    "genders": lambda line: [pronoun_gender([term.strip()]) for term in line.split("/")],
}
OF_TERMS: dict[str, Callable[[Catalog, Any], object]] = {
    "same_phrase": same_phrase,
    "objection": lambda catalog, text: first(objections(catalog, text)),
    "only_bucket": lambda catalog, position: only_bucket(axis_of(catalog, "ability"), position),
    "likely_of_ability": lambda catalog, text: likely_bucket(axis_of(catalog, "ability"), text),
    "likely_of_nations": lambda catalog, text: likely_bucket(axis_of(catalog, "nationality"), text),
}


def likely_bucket(axis: DescriptorFile, text: str) -> str | None:
    return first(likely_buckets(axis, text, "before"))


def axis_of(catalog: Catalog, name: str) -> DescriptorFile:
    return next(axis for axis in catalog.axes if axis.axis == name)


def first(found: Sequence[str]) -> str | None:
    return next(iter(found), None)


@pytest.mark.parametrize("name", EXPECTED)
def test_of_a_text(catalog: Catalog, name: str) -> None:
    function = BY_NAME.get(name) or partial(OF_TERMS[name], catalog)
    assert {text: result_of(function, text) for text in EXPECTED[name]} == EXPECTED[name]


def result_of(function: Callable[[str], object], text: str) -> object:
    """The result of a function, or its message if it refuses the text."""
    try:
        return function(text)
    except SourceError as error:
        return str(error)


def test_position_that_contradicts_the_wording() -> None:
    wrong = [("With asthma", "before"), ("born in Peru", "before"), ("with asthma", "standalone")]
    right = [("living donor", "standalone"), ("born-again", "before"), ("with asthma", "after")]
    assert [(t, p) for t, p in (*wrong, *right) if term_fault({"text": t, "position": p}, ["position"])] == wrong


@pytest.mark.parametrize("text", ["Deaf", "dea f", "non binary", "PERSON", "with a stoma"])
def test_place_of_an_entry_with_the_same_text(root: Path, catalog: Catalog, text: str) -> None:
    found = same_entries(root, catalog, text)
    assert found
    for existing in found:
        file, line = existing.place.split(":")
        assert f"id: {existing.entry.id}" in (root / file).read_text("utf-8").split("\n")[int(line) - 1]
    assert find_place(root, "descriptors", "ability.nobody") == "descriptors"


def test_criteria_are_those_of_the_guide(root: Path) -> None:
    guide = " ".join((root / "CONTRIBUTING.md").read_text("utf-8").split())
    assert [line for line in CRITERIA if line not in guide] == []


def test_given_articles() -> None:
    assert [article("FTM", rule, "an") for rule in get_args(ArticleRule)] == ["an", "an"]
