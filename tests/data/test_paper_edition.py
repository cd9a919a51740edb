"""Release 1.0.0 has exactly the texts of the paper's edition."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml

from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog

PAPER: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("paper-edition.yaml").read_text("utf-8"))
WITH_NOUN = ("descriptor_noun", "noun_descriptor")
KINDS = {
    "descriptor_and_noun": WITH_NOUN,
    "descriptor_alone": ("descriptor",),
    "noun_alone": ("noun",),
}


def digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{text}\n" for text in sorted(set(texts))).encode()).hexdigest()


def where(table: pa.Table, column: str, *values: str | bool) -> pa.Table:
    return table.filter(pc.is_in(table[column], pa.array(values)))


@pytest.fixture(scope="module")
def sentences(release: Release) -> pa.Table:
    """The columns of the sentences that the tests need, decoded."""
    names = (
        *("text", "axis", "descriptor", "descriptor_preference", "noun", "noun_gender", "noun_phrase_type"),
        *("descriptor_id", "template_id", "first_turn_only", "must_be_noun"),
    )
    columns = {name: release.sentences[name].combine_chunks() for name in names}
    return pa.table({n: c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for n, c in columns.items()})


@pytest.fixture(scope="module")
def described(sentences: pa.Table) -> pa.Table:
    return where(sentences, "noun_phrase_type", *WITH_NOUN)


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_are_those_of_the_paper(sentences: pa.Table, kind: str) -> None:
    expected = PAPER["sentences"][kind]
    found = where(sentences, "noun_phrase_type", *KINDS[kind])["text"].to_pylist()
    assert (len(found), len(set(found))) == (expected["rows"], expected["unique"])
    assert digest(found) == expected["sha256"]


def test_nouns_and_templates_are_those_of_the_paper(release: Release) -> None:
    assert Counter(release.tables["nouns"]["noun_gender"].to_pylist()) == PAPER["nouns"]
    assert release.tables["templates"].num_rows == PAPER["templates"]


def test_there_are_no_other_sentences(sentences: pa.Table) -> None:
    assert sentences.num_rows == sum(kind["rows"] for kind in PAPER["sentences"].values())


@pytest.mark.parametrize("axis", PAPER["axes"])
def test_axis_is_that_of_the_paper(release: Release, described: pa.Table, axis: str) -> None:
    expected = PAPER["axes"][axis]
    terms = where(release.tables["descriptors"], "axis", axis)["descriptor"].to_pylist()
    rows = where(described, "axis", axis)["text"].to_pylist()
    assert (len(terms), len(rows)) == (expected["descriptors"], expected["rows"])
    assert digest(terms).startswith(expected["texts_sha256"])
    assert digest(rows).startswith(expected["sentences_sha256"])


def test_sentence_ids_are_unique(release: Release) -> None:
    assert pc.count_distinct(release.sentences["sentence_id"]).as_py() == release.sentences.num_rows


GREETINGS = {"Hi I'm {noun_phrase}.", "Hi, I'm {noun_phrase}.", "Hi! I'm {noun_phrase}."}
INQUIRIES = {"How are you? I'm {noun_phrase}.", "How has your week been? I'm {noun_phrase}."}


@pytest.mark.parametrize(
    ("version", "openings"),
    [
        ("1.0.0", GREETINGS),
        ("1.1.0", GREETINGS),
        ("2.0.0", GREETINGS),
        ("3.0.0", GREETINGS | INQUIRIES),  # as in the public v1.0
    ],
)
def test_templates_that_can_only_open_a_conversation(catalog: Catalog, version: str, openings: set[str]) -> None:
    templates = [t for family in catalog.at(version).families for t in family.templates]
    assert {t.text for t in templates if t.first_turn_only and t.paraphrase_of is None} == openings
    opening_ids = {t.id for t in templates if t.text in openings}
    for template in templates:
        if template.paraphrase_of is not None:
            assert template.first_turn_only == (template.paraphrase_of in opening_ids)
