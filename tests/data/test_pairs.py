"""Second terms that the terms of version 3.0.0 go with, and the order of two terms."""

from pathlib import Path

import pytest
import yaml

from holisticbias.compile.pairs import around, find_pairs
from holisticbias.terms.catalog import Catalog

VERSION = "3.0.0"
PAIRS = yaml.safe_load(Path(__file__).with_name("pairs.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def pairs(catalog: Catalog) -> frozenset[frozenset[str]]:
    """The ids of each pair of terms that makes a sentence."""
    found = find_pairs(catalog, VERSION, "all")
    ids = [d.id for _, d in found.descriptors]
    return frozenset(frozenset((ids[i], ids[j])) for i, j in zip(found.first, found.second, strict=True))


@pytest.mark.parametrize(("one", "other", "meet"), PAIRS)
def test_two_terms_meet_unless_they_contradict_or_repeat_each_other(
    pairs: frozenset[frozenset[str]], one: str, other: str, *, meet: bool
) -> None:
    assert (frozenset((one, other)) in pairs) == meet


ORDERED = [
    ("characteristics.homeless", "body_type.beautiful", "noun.gal", "a beautiful homeless gal"),
    ("characteristics.stay-at-home", "ability.deaf", "noun.dad", "a Deaf stay-at-home dad"),
    ("age.elderly", "socioeconomic_class.wealthy", "noun.aunt", "a wealthy elderly aunt"),
    ("age.elderly", "socioeconomic_class.working-class", "noun.aunt", "an elderly working-class aunt"),
    ("age.teenage", "race_ethnicity.black", "noun.girl", "a Black teenage girl"),
    ("body_type.gray-haired", "age.old", "noun.man", "an old gray-haired man"),
    ("religion.secular", "nationality.jamaican", "noun.dad", "a secular Jamaican dad"),
    ("religion.catholic", "nationality.jamaican", "noun.dad", "a Jamaican Catholic dad"),
]


def test_two_terms_before_a_noun_have_the_order_of_english(catalog: Catalog) -> None:
    held = catalog.at(catalog.versions[-1])
    assert held.intersections is not None
    rank = held.intersections.rank
    terms = {d.id: (axis.axis, d) for axis in held.axes for d in axis.descriptors}
    nouns = {n.id: n for file in held.genders for n in file.nouns}
    for *pair, noun, phrase in ORDERED:
        placed = sorted((terms[i] for i in pair), key=lambda p: rank(p[0], p[1].bucket, p[1].id))
        form = around(placed[0][1], placed[1][1], "sound")
        assert form.before + nouns[noun].text + form.after == phrase
