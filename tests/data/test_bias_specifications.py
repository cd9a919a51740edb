"""The shipped bias specifications: those of the paper's edition, and those of many groups."""

from pathlib import Path

import pytest
import yaml

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import attribute_finder, target_finder
from holisticbias_eval.stereotypes.specifications import read_specification, read_specifications

PAPER = {s.published_as: s for s in read_specifications() if s.id.startswith("autobiastest.")}

COUNTED = yaml.safe_load(Path(__file__).with_name("bias-specifications.yaml").read_text("utf-8"))
PUBLISHED, MANY_PAPER = COUNTED["autobiastest"], COUNTED["multilateral"]


def test_the_fifteen_of_the_published_code_are_in_its_order() -> None:
    assert list(PAPER) == list(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_papers_edition(name: str) -> None:
    specification = PAPER[name]
    assert PUBLISHED[name] == {
        "slots": len(specification.slots),
        "attributes": [len(a.terms) for a in specification.attributes],
        "templates": len(specification.templates),
        "first": list(specification.slots[0].terms),
        "last": list(specification.slots[-1].terms),
    }
    assert [g.stereotype for g in specification.groups] == [a.name for a in specification.attributes[:2]]


ALL = {s.id: s for s in read_specifications() if s.id.startswith(("multilateral.", "groups."))}


def terms_of(specification: Specification, group: int) -> set[str]:
    return {slot.terms[group] or "" for slot in specification.slots} - {""}


@pytest.mark.parametrize("name", MANY_PAPER)
def test_counts_of_the_papers_edition(name: str) -> None:
    specification, paper = read_specification(name), MANY_PAPER[name]
    assert specification.id == f"multilateral.{name.lower()}"
    assert [g.held_out for g in specification.groups] == [False] * paper["groups"] + [True] * paper["held_out"]
    assert [len(terms_of(specification, k)) for k in range(len(specification.groups))] == paper["terms"]
    counts = [(a.valence, len(a.terms)) for a in specification.attributes]
    assert counts == [(valence, paper[valence]) for valence in ("negative", "positive")]


@pytest.mark.parametrize("specification", ALL.values(), ids=ALL)
def test_terms_are_found_as_what_they_are(specification: Specification) -> None:
    targets, attributes = target_finder(specification), attribute_finder(specification)
    for slot in specification.slots:
        for group, term in zip(specification.groups, slot.terms, strict=True):
            if term is not None:
                assert [m.of.group for m in targets.find(f"one {term} here")] == [group.name]
    for negative, _ in specification.opposites:
        assert [m.of.attribute_set for m in attributes.find(f"so {negative.removesuffix('*')} here")] == ["negative"]
