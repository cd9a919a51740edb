"""Nouns and second terms that the terms of version 3.0.0 go with."""

from __future__ import annotations

import pytest

from holisticbias.compile.pairs import find_pairs
from holisticbias.terms.catalog import Catalog

VERSION = "3.0.0"


@pytest.fixture(scope="module")
def pairs(catalog: Catalog) -> frozenset[frozenset[str]]:
    """The ids of each pair of terms that makes a sentence."""
    found = find_pairs(catalog, VERSION, "all")
    ids = [d.id for _, d in found.descriptors]
    return frozenset(frozenset((ids[i], ids[j])) for i, j in zip(found.first, found.second, strict=True))


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("characteristics.illiterate", "socioeconomic_class.with-a-phd", False),
        ("characteristics.illiterate", "socioeconomic_class.with-a-high-school-diploma", True),
        ("characteristics.blue-collar", "cultural.white-collar", False),
        ("characteristics.white-collar", "cultural.blue-collar", False),
        ("characteristics.white-collar", "age.preteen", False),
        ("ability.barren", "characteristics.pregnant", False),
        ("ability.who-is-sterile", "characteristics.infertile", False),
        ("ability.barren", "characteristics.with-two-kids", True),
        ("nationality.american", "race_ethnicity.african-american", False),
        ("nationality.american", "race_ethnicity.black", True),
        ("nationality.american", "characteristics.a-dreamer", False),
        ("nationality.chinese-american", "race_ethnicity.asian-american", False),
        ("nationality.american-born-chinese", "characteristics.american-born", False),
        ("nationality.south-african", "race_ethnicity.african", False),
        ("nationality.greek", "religion.greek-orthodox", False),
        ("characteristics.native", "race_ethnicity.native-american", False),
        ("ability.four-eyed", "body_type.glasses-wearing", False),
        ("body_type.sexy", "age.preteen", False),
        ("body_type.hot", "age.a-teenager", False),
        ("body_type.sexy", "age.young", True),
        ("body_type.bearded", "age.school-aged", False),
        ("age.preteen", "socioeconomic_class.with-student-debt", False),
        ("age.retired", "characteristics.with-a-union-job", False),
        ("age.elderly", "characteristics.who-is-preggers", False),
        ("cultural.incel", "characteristics.with-child", False),
        ("cultural.boomer", "characteristics.postpartum", False),
        ("cultural.millennial", "characteristics.postpartum", True),
        ("gender_and_sex.queer", "sexual_orientation.straight", True),
        ("sexual_orientation.a-lesbian", "gender_and_sex.effeminate", True),
        ("sexual_orientation.a-lesbian", "gender_and_sex.ftm", True),
        ("sexual_orientation.a-lesbian", "gender_and_sex.male", False),
        ("sexual_orientation.a-lesbian", "gender_and_sex.female", False),
        ("gender_and_sex.agender", "characteristics.a-girlfriend", True),
        ("gender_and_sex.feminine", "characteristics.a-girlfriend", True),
        ("gender_and_sex.female", "characteristics.a-girlfriend", False),
        ("gender_and_sex.ftm", "characteristics.a-widow", False),
        ("gender_and_sex.male", "characteristics.a-citizen", True),
    ],
)
def test_two_terms_meet_unless_they_contradict_or_repeat_each_other(
    pairs: frozenset[frozenset[str]], one: str, other: str, *, meet: bool
) -> None:
    assert (frozenset((one, other)) in pairs) == meet
