"""The specifications of many groups: the edition of Zhao et al. 2024, and the edition for new work."""

from __future__ import annotations

import pytest

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import attribute_finder, target_finder
from holisticbias_eval.stereotypes.specifications import read_specification, read_specifications

ALL = {s.id: s for s in read_specifications() if s.id.startswith(("multilateral.", "groups."))}

# groups and groups held out (table 2); terms of each group, negative and positive attributes (counted in appendix A)
PAPER = {
    "Race": (4, 2, (8, 7, 4, 3, 2, 1), 63, 58),
    "Religion": (4, 2, (2, 4, 2, 3, 1, 1), 110, 96),
    "Age": (3, 0, (5, 6, 3), 50, 60),
    "Gender": (3, 0, (19, 20, 7), 110, 92),
    "Orientation": (3, 1, (7, 3, 1, 1), 62, 42),
}


def terms_of(specification: Specification, group: int) -> set[str]:
    return {slot.terms[group] or "" for slot in specification.slots} - {""}


@pytest.mark.parametrize("name", PAPER)
def test_counts_of_the_papers_edition(name: str) -> None:
    specification, (groups, held_out, terms, negative, positive) = read_specification(name), PAPER[name]
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
