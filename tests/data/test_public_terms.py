"""Version 3.0.0 has every term of the public HolisticBias v1.1, or ``docs/public-edition.md`` says why not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor

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
