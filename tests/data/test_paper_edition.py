"""Release 1.0.0 has the texts of the paper's edition, and version 3.0.0 the terms of the public HolisticBias v1.1."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml

from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor

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
        *("first_turn_only", "must_be_noun"),
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


def test_counts_are_those_of_the_paper(release: Release) -> None:
    """There are no other sentences, and none has the id of another."""
    assert Counter(release.tables["nouns"]["noun_gender"].to_pylist()) == PAPER["nouns"]
    assert release.tables["templates"].num_rows == PAPER["templates"]
    rows = sum(kind["rows"] for kind in PAPER["sentences"].values())
    assert release.sentences.num_rows == pc.count_distinct(release.sentences["sentence_id"]).as_py() == rows


@pytest.mark.parametrize("axis", PAPER["axes"])
def test_axis_is_that_of_the_paper(release: Release, described: pa.Table, axis: str) -> None:
    expected = PAPER["axes"][axis]
    terms = where(release.tables["descriptors"], "axis", axis)["descriptor"].to_pylist()
    rows = where(described, "axis", axis)["text"].to_pylist()
    assert (len(terms), len(rows)) == (expected["descriptors"], expected["rows"])
    assert digest(terms).startswith(expected["texts_sha256"])
    assert digest(rows).startswith(expected["sentences_sha256"])


GREETINGS = {"Hi I'm {noun_phrase}.", "Hi, I'm {noun_phrase}.", "Hi! I'm {noun_phrase}."}
INQUIRIES = {"How are you? I'm {noun_phrase}.", "How has your week been? I'm {noun_phrase}."}


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "2.0.0", "3.0.0"])
def test_templates_that_can_only_open_a_conversation(catalog: Catalog, version: str) -> None:
    openings = GREETINGS | INQUIRIES if version == "3.0.0" else GREETINGS  # as in the public v1.0
    templates = [t for family in catalog.at(version).families for t in family.templates]
    assert {t.text for t in templates if t.first_turn_only and t.paraphrase_of is None} == openings
    opening_ids = {t.id for t in templates if t.text in openings}
    for template in templates:
        if template.paraphrase_of is not None:
            assert template.first_turn_only == (template.paraphrase_of in opening_ids)


Place: TypeAlias = tuple[str, str, str]  # axis, position, text
ROOT = Path(__file__).resolve().parents[2]
VERSION = "3.0.0"
SOURCE = "holisticbias-public-1-1"
PUBLIC: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("public-1.1.yaml").read_text("utf-8"))
PLACES: list[Place] = [
    (axis, position, text) for axis, by in PUBLIC["terms"].items() for position, texts in by.items() for text in texts
]
_ROW = re.compile(
    r"^\| (?P<axis>[a-z_]+) \| (?P<position>before|after|standalone) \| (?P<text>[^|]+) \| (?P<instead>[a-z_.-]*) ?\| "
    r"(?P<reason>[^|]+) \| (?P<source>[^|]+) \| (?P<date>[^|]+) \|$",
    re.MULTILINE,
)
LISTED: dict[Place, re.Match[str]] = {
    (row["axis"], row["position"], row["text"]): row
    for row in _ROW.finditer((ROOT / "docs" / "public-edition.md").read_text("utf-8"))
}


@pytest.fixture(scope="module")
def held(catalog: Catalog) -> Mapping[Place, Descriptor]:
    """The descriptors of the version, by place."""
    return {(a.axis, d.position, d.text): d for a in catalog.at(VERSION).axes for d in a.descriptors}


@pytest.fixture(scope="module")
def by_id(held: Mapping[Place, Descriptor]) -> Mapping[str, Descriptor]:
    return {d.id: d for d in held.values()}


def test_the_list_has_the_known_size() -> None:
    assert (len(PLACES), len(set(PLACES)), len(LISTED)) == (142, 142, 19)


@pytest.mark.parametrize("place", PLACES, ids=" ".join)
def test_term_is_there_or_listed(held: Mapping[Place, Descriptor], place: Place) -> None:
    assert (place in held) != (place in LISTED)


@pytest.mark.parametrize("place", LISTED, ids=" ".join)
def test_listed_term_has_reason_source_and_date(
    catalog: Catalog, by_id: Mapping[str, Descriptor], place: Place
) -> None:
    row = LISTED[place]
    assert place in PLACES
    assert not row["instead"] or row["instead"] in by_id
    assert len(row["reason"].split()) >= 4
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", row["date"])
    cited = re.match(r"`([a-z0-9-]+)`", row["source"])
    if cited is None:
        assert re.search(r"\]\((https://\S+|rules/[a-z-]+\.md)\)$", row["source"])
    else:
        assert cited[1] in {source.id for source in catalog.sources}


def test_terms_marked_dispreferred_have_the_judgement_and_others_have_not(held: Mapping[Place, Descriptor]) -> None:
    judged = {
        (place[0], place[2])
        for place, d in held.items()
        if any(a.source == SOURCE and a.judgement == "dispreferred" for a in d.assessments)
    }
    marked = {(axis, text) for axis, texts in PUBLIC["dispreferred"].items() for text in texts}
    left_out = {(axis, text) for axis, _, text in LISTED}
    assert judged == (marked - left_out) | {("body_type", "four-eyed")}


def test_nouns_and_fixed_phrases_are_there(catalog: Catalog, held: Mapping[Place, Descriptor]) -> None:
    for axis, phrases in PUBLIC["fixed_phrases"].items():
        assert {(axis, "standalone", phrase) for phrase in phrases} <= held.keys()
    plurals = {g.gender: {n.text: n.plural for n in g.nouns} for g in catalog.at(VERSION).genders}
    for gender, nouns in PUBLIC["nouns"].items():
        assert plurals[gender].items() >= nouns.items()
