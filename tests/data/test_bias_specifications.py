"""The shipped bias specifications: those of the paper's edition, and those of many groups."""

import pytest

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import attribute_finder, target_finder
from holisticbias_eval.stereotypes.specifications import read_specification, read_specifications

PAPER = {s.published_as: s for s in read_specifications() if s.id.startswith("autobiastest.")}

# published name: slots, attributes of each set, templates, first pair, last pair (counted in the published file)
PUBLISHED = {
    "Math_Arts_vs_Male_Female": (8, (8, 8), 3, ("male", "female"), ("son", "daughter")),
    "Science_Arts_vs_Male_Female": (8, (8, 8), 3, ("brother", "sister"), ("him", "her")),
    "Flowers_Insects_vs_Pleasant_Unpleasant": (25, (25, 25), 2, ("aster", "ant"), ("zinnia", "weevil")),
    "Instruments_Weapons_vs_Pleasant_Unpleasant": (25, (25, 25), 2, ("bagpipe", "arrow"), ("violin", "whip")),
    "Eur.-AmericanNames_Afr.-AmericanNames_vs_Pleasant_Unpleasant_1": (
        50, (25, 25), 2, ("Adam", "Alonzo"), ("Wendy", "Yvette"),
    ),
    "Eur.-AmericanNames_Afr.-AmericanNames_vs_Pleasant_Unpleasant_2": (
        18, (25, 25), 2, ("Brad", "Darnell"), ("Sarah", "Tanisha"),
    ),
    "Eur.-AmericanNames_Afr.-AmericanNames_vs_Pleasant_Unpleasant_3": (
        18, (8, 8), 2, ("Brad", "Darnell"), ("Sarah", "Tanisha"),
    ),
    "Career_Family_vs_MaleName_FemaleName": (8, (8, 8), 3, ("John", "Amy"), ("Bill", "Donna")),
    "MentalDisease_PhysicalDisease_vs_Temporary_Permanent": (6, (7, 7), 2, ("sad", "sick"), ("depressed", "cancer")),
    "YoungName_OldName_vs_Pleasant_Unpleasant": (8, (8, 8), 3, ("Tiffany", "Ethel"), ("Billy", "Edgar")),
    "Professions_vs_Gender": (9, (20, 20, 20), 5, ("he", "she"), ("dad", "mom")),
    "African_Female_European_Male_intersectional": (12, (13, 13), 1, ("Yvette", "Frank"), ("Shereen", "Jonathan")),
    "African_Female_European_Male_vs_AFemergent_EMintersectional": (
        12, (8, 8), 1, ("Yvette", "Frank"), ("Shereen", "Jonathan"),
    ),
    "Mexican_Female_European_Male_intersectional": (12, (12, 12), 1, ("Maria", "Frank"), ("Brenda", "Jonathan")),
    "Mexican_Female_European_Male_vs_MFemergent_EMintersectional": (
        12, (6, 6), 1, ("Maria", "Frank"), ("Brenda", "Jonathan"),
    ),
}  # fmt: skip


def test_the_fifteen_of_the_published_code_are_in_its_order() -> None:
    assert list(PAPER) == list(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_papers_edition(name: str) -> None:
    specification, (slots, attributes, templates, first, last) = PAPER[name], PUBLISHED[name]
    assert len(specification.slots) == slots
    assert tuple(len(a.terms) for a in specification.attributes) == attributes
    assert len(specification.templates) == templates
    assert (specification.slots[0].terms, specification.slots[-1].terms) == (first, last)
    assert [g.stereotype for g in specification.groups] == [a.name for a in specification.attributes[:2]]


ALL = {s.id: s for s in read_specifications() if s.id.startswith(("multilateral.", "groups."))}

# groups and groups held out (table 2); terms of each group, negative and positive attributes (counted in appendix A)
MANY_PAPER = {
    "Race": (4, 2, (8, 7, 4, 3, 2, 1), 63, 58),
    "Religion": (4, 2, (2, 4, 2, 3, 1, 1), 110, 96),
    "Age": (3, 0, (5, 6, 3), 50, 60),
    "Gender": (3, 0, (19, 20, 7), 110, 92),
    "Orientation": (3, 1, (7, 3, 1, 1), 62, 42),
}


def terms_of(specification: Specification, group: int) -> set[str]:
    return {slot.terms[group] or "" for slot in specification.slots} - {""}


@pytest.mark.parametrize("name", MANY_PAPER)
def test_counts_of_the_papers_edition(name: str) -> None:
    specification, (groups, held_out, terms, negative, positive) = read_specification(name), MANY_PAPER[name]
    assert specification.id == f"multilateral.{name.lower()}"
    assert [g.held_out for g in specification.groups] == [False] * groups + [True] * held_out
    assert tuple(len(terms_of(specification, k)) for k in range(groups + held_out)) == terms
    assert [(a.valence, len(a.terms)) for a in specification.attributes] == [
        ("negative", negative),
        ("positive", positive),
    ]


@pytest.mark.parametrize("specification", ALL.values(), ids=ALL)
def test_terms_are_found_as_what_they_are(specification: Specification) -> None:
    targets, attributes = target_finder(specification), attribute_finder(specification)
    for slot in specification.slots:
        for group, term in zip(specification.groups, slot.terms, strict=True):
            if term is not None:
                assert [m.of.group for m in targets.find(f"one {term} here")] == [group.name]
    for negative, _ in specification.opposites:
        assert [m.of.attribute_set for m in attributes.find(f"so {negative.removesuffix('*')} here")] == ["negative"]
