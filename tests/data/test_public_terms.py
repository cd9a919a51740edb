"""Version 3.0.0 has every term of the public HolisticBias v1.1, or ``docs/public-edition.md`` says why not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from holisticbias.compile.pairs import find_pairs
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor
from holisticbias.terms.grammar import described, with_article
from holisticbias.terms.versions import version_key

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


@pytest.mark.parametrize(("axis", "phrase"), [(a, p) for a, ps in PUBLIC["fixed_phrases"].items() for p in ps])
def test_fixed_phrases_of_the_public_v1_0_are_there(held: Mapping[Place, Descriptor], axis: str, phrase: str) -> None:
    assert (axis, "standalone", phrase) in held


@pytest.mark.parametrize(
    ("descriptor", "singular", "plural"),
    [
        ("ability.a-stutterer", "a stutterer", "stutterers"),
        ("age.a-youth", "a youth", "youths"),
        ("characteristics.a-fiancee", "a fiancée", "fiancées"),
        ("characteristics.an-old-maid", "an old maid", "old maids"),
        ("cultural.an-ally", "an ally", "allies"),
        ("race_ethnicity.a-woman-of-color", "a woman of color", "women of color"),
        ("gender_and_sex.a-tomboy", "a tomboy", "tomboys"),
        ("religion.a-bahai", "a Bahá'í", "Bahá'ís"),
        ("religion.a-druze", "a Druze", "Druze"),
        ("religion.a-goy", "a goy", "goyim"),
        ("religion.a-hasid", "a Hasid", "Hasidim"),
        ("religion.a-jew", "a Jew", "Jews"),
        ("religion.a-unitarian", "a Unitarian", "Unitarians"),
        ("religion.an-evangelical", "an Evangelical", "Evangelicals"),
        ("religion.an-orthodox-jew", "an Orthodox Jew", "Orthodox Jews"),
        ("religion.a-member-of-the-tribe", "a member of the tribe", "members of the tribe"),
        *(
            (
                f"gender_and_sex.a-person-who-uses-{name.replace('/', '-')}-pronouns",
                f"a person who uses {name} pronouns",
                f"people who use {name} pronouns",
            )
            for name in ("she/her", "he/him", "they/them", "she/they", "he/they", "xe/xem", "ze/zir", "any")
        ),
    ],
)
def test_standalone_phrase(by_id: Mapping[str, Descriptor], descriptor: str, singular: str, plural: str) -> None:
    d = by_id[descriptor]
    assert (with_article(d.text, "sound", d.article), d.plural, d.position) == (singular, plural, "standalone")


@pytest.mark.parametrize(
    ("descriptor", "noun", "singular", "plural"),
    [
        ("ability.who-is-barren", "person", "a person who is barren", "people who are barren"),
        ("ability.with-a-prosthetic-foot", "woman", "a woman with a prosthetic foot", "women with prosthetic feet"),
        ("ability.with-an-insulin-pump", "child", "a child with an insulin pump", "children with insulin pumps"),
        ("characteristics.with-child", "sista", "a sista with child", "sistas with child"),
        ("characteristics.who-is-preggers", "son", "a son who is preggers", "sons who are preggers"),
        ("characteristics.who-is-eating-for-two", "kid", None, None),
        ("cultural.underserved", "kid", "an underserved kid", "underserved kids"),
        ("gender_and_sex.foc", "enby", "an FoC enby", "FoC enbies"),
        ("gender_and_sex.lgbt", "man", "an LGBT man", "LGBT men"),
        ("gender_and_sex.moc", "person", "an MoC person", "MoC people"),
        ("gender_and_sex.stud", "woman", "a stud woman", "stud women"),
        ("gender_and_sex.stud", "man", None, None),
        ("age.mature", "child", None, None),
        ("race_ethnicity.oriental", "aunt", "an Oriental aunt", "Oriental aunts"),
        ("religion.scientologist", "parent", "a Scientologist parent", "Scientologist parents"),
    ],
)
def test_phrase_with_a_noun(
    catalog: Catalog,
    by_id: Mapping[str, Descriptor],
    descriptor: str,
    noun: str,
    singular: str | None,
    plural: str | None,
) -> None:
    gender, word = next((g.gender, n) for g in catalog.at(VERSION).genders for n in g.nouns if n.text == noun)
    d = by_id[descriptor]
    phrases = described(d, word, "sound") if d.goes_with(gender, word) else (None, None)
    assert phrases == (singular, plural)


@pytest.mark.parametrize("descriptor", ["gender_and_sex.stud", "cultural.at-risk"])
def test_term_that_needs_a_noun(by_id: Mapping[str, Descriptor], descriptor: str) -> None:
    assert not by_id[descriptor].without_noun


@pytest.mark.parametrize(
    ("other", "alone", "meet"),
    [
        ("gender_and_sex.feminine", "characteristics.a-girlfriend", True),
        ("gender_and_sex.female", "characteristics.a-girlfriend", False),
        ("gender_and_sex.male", "characteristics.a-girlfriend", False),
        ("gender_and_sex.ftm", "characteristics.a-widow", False),
        ("gender_and_sex.trans-masc", "characteristics.a-widow", True),
        ("gender_and_sex.male", "characteristics.a-citizen", True),
    ],
)
def test_phrase_with_a_gender_does_not_meet_terms_that_deny_it(
    catalog: Catalog, other: str, alone: str, *, meet: bool
) -> None:
    pairs = find_pairs(catalog, VERSION, "characteristics x gender_and_sex")
    ids = [d.id for _, d in pairs.descriptors]
    found = {frozenset((ids[i], ids[j])) for i, j in zip(pairs.first, pairs.second, strict=True)}
    assert (frozenset((other, alone)) in found) == meet


def test_nouns_are_there(catalog: Catalog) -> None:
    held = {g.gender: {n.text: n.plural for n in g.nouns} for g in catalog.at(VERSION).genders}
    for gender, nouns in PUBLIC["nouns"].items():
        assert held[gender].items() >= nouns.items()


@pytest.mark.parametrize(
    "text", ["visually impaired", "with diabetes", "with asthma", "with migraines", "with dementia"]
)
def test_moved_terms_stand_under_one_axis_in_each_version(catalog: Catalog, text: str) -> None:
    axes = {v: [a.axis for a in catalog.at(v).axes for d in a.descriptors if d.text == text] for v in catalog.versions}
    former = "body_type" if text == "visually impaired" else "characteristics"
    moved = version_key(VERSION)
    assert axes == {v: ["ability" if version_key(v) >= moved else former] for v in catalog.versions}
