"""The specifications of many groups: the edition of Zhao et al. 2024, and the edition for new work."""

from __future__ import annotations

import itertools

import pytest

from holisticbias.terms.specification_entries import Specification, is_stem
from holisticbias_eval.corpus.mentions import attribute_finder, target_finder
from holisticbias_eval.stereotypes.specifications import read_specification, read_specifications

ALL = {s.id: s for s in read_specifications() if s.id.startswith(("multilateral.", "groups."))}
NEW = {name: s for name, s in ALL.items() if name.startswith("groups.")}

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


@pytest.mark.parametrize(
    ("name", "positive", "times"),
    [("Race", "police", 3), ("Religion", "dummy", 2), ("Age", "clean", 3), ("Gender", "normal", 3)],
)
def test_repeats_of_the_paper_are_kept(name: str, positive: str, times: int) -> None:
    assert read_specification(name).attributes[1].terms.count(positive) == times


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("Race", ("violent", "peaceful")),
        ("Race", ("hyper sexual", "decent")),
        ("Religion", ("greed*", "generosity")),
        ("Age", ("stuffy", "unconventional")),
        ("Gender", ("Shakespeare", "einstein")),
        ("Orientation", ("sin", "virtue.")),
    ],
)
def test_opposites_of_the_papers_edition(name: str, pair: tuple[str, str]) -> None:
    assert pair in read_specification(name).opposites


def test_the_first_opposites_of_race_are_aligned_by_index() -> None:
    race = read_specification("Race")
    negative, positive = (chosen.terms for chosen in race.attributes)
    assert race.opposites[:53] == tuple(zip(negative, positive, strict=False))[:53]


@pytest.mark.parametrize("specification", NEW.values(), ids=NEW)
def test_every_group_of_the_new_edition_has_every_slot(specification: Specification) -> None:
    assert {"adjective", "noun", "plural"} <= {slot.form for slot in specification.slots}
    assert all(all(slot.terms) for slot in specification.slots)
    found = [terms_of(specification, k) for k in range(len(specification.groups))]
    assert not any(a & b for a, b in itertools.combinations(found, 2))


@pytest.mark.parametrize("specification", NEW.values(), ids=NEW)
def test_every_attribute_of_the_new_edition_has_one_opposite(specification: Specification) -> None:
    negative, positive = (chosen.terms for chosen in specification.attributes)
    assert specification.opposites == tuple(zip(negative, positive, strict=True))
    assert len({*negative, *positive}) == len(negative) + len(positive)
    assert not any(is_stem(term) for term in (*negative, *positive))


def test_both_editions_have_the_same_dimensions_and_groups() -> None:
    assert {name.partition(".")[2] for name in NEW} == {name.lower() for name in PAPER}
    for name in PAPER:
        old, new = read_specification(name), NEW[f"groups.{name.lower()}"]
        assert [g.held_out for g in old.groups] == [g.held_out for g in new.groups]


@pytest.mark.parametrize("specification", ALL.values(), ids=ALL)
def test_terms_are_found_as_what_they_are(specification: Specification) -> None:
    targets, attributes = target_finder(specification), attribute_finder(specification)
    for slot in specification.slots:
        for group, term in zip(specification.groups, slot.terms, strict=True):
            if term is not None:
                assert [m.of.group for m in targets.find(f"one {term} here")] == [group.name]
    for negative, _ in specification.opposites:
        assert [m.of.attribute_set for m in attributes.find(f"so {negative.removesuffix('*')} here")] == ["negative"]
