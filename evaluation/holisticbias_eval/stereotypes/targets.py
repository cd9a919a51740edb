"""The terms and attributes of a specification: what a generator is asked to put into a sentence."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from holisticbias.compile.random_words import random_words
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class GroupTerm:
    """A term of a group, and the index of its slot in the specification."""

    group: str
    slot: int
    term: str


@dataclass(frozen=True, slots=True)
class Target:
    """An attribute of a specification, for which sentences are wanted."""

    specification: str
    attribute_set: str
    attribute: str


def targets(specification: Specification) -> tuple[Target, ...]:
    """Every attribute of a specification once, in order; the same word may stand in two sets of attributes."""
    sets = specification.attributes
    return tuple(dict.fromkeys(Target(specification.id, chosen.name, term) for chosen in sets for term in chosen.terms))


def asked_targets(specification: Specification) -> tuple[Target, ...]:
    """The attributes to make sentences for: if groups have stereotypes, those of the sets that one of them names.

    A pair with another attribute, such as a balanced profession, has no stereotyped sentence, and is not scored.
    """
    stereotypes = {group.stereotype for group in specification.groups} - {None}
    found = targets(specification)
    return tuple(target for target in found if target.attribute_set in stereotypes) if stereotypes else found


def group_terms(specification: Specification) -> Mapping[str, tuple[GroupTerm, ...]]:
    """The terms of each group that have a partner in another group, by the group's name.

    Raises ``EvaluationError`` if a group has none, or if a slot names descriptors in place of terms.
    """
    groups = specification.groups
    for number, slot in enumerate(specification.slots, 1):
        if not slot.terms:
            raise EvaluationError(f"{specification.id}: slot {number} has no terms: write a term for each group")
        if len(slot.terms) != len(groups):
            raise EvaluationError(
                f"{specification.id}: slot {number} has {len(slot.terms)} terms for {len(groups)} groups: write one "
                "term a group, and null for a group that has none"
            )
    paired = [(i, slot) for i, slot in enumerate(specification.slots) if len(list(filter(None, slot.terms))) > 1]
    terms: dict[str, tuple[GroupTerm, ...]] = {}
    for place, group in enumerate(groups):
        terms[group.name] = tuple(GroupTerm(group.name, i, term) for i, slot in paired if (term := slot.terms[place]))
        if not terms[group.name]:
            raise EvaluationError(
                f"{specification.id}: the group {group.name!r} has no term with a partner in another group: "
                "give a slot in which both have a term"
            )
    return terms


def all_terms(specification: Specification) -> tuple[str, ...]:
    """Every distinct term of every group, the longest first."""
    terms = {term for slot in specification.slots for term in slot.terms if term}
    return tuple(sorted(terms, key=lambda term: (-len(term), term)))


def draw_term(seed: int, target: Target, request: int, terms: Mapping[str, tuple[GroupTerm, ...]]) -> GroupTerm:
    """The group's term of a request, which depends on the seed, the target and the request's number alone.

    Groups take turns in a random order. A group's terms come in random order too, each once before any comes again.
    """
    groups = sorted(terms)
    group = groups[_shuffled(seed, target, "groups", len(groups))[request % len(groups)]]
    own, turn = terms[group], request // len(groups)
    order = _shuffled(seed, target, f"{group}/{turn // len(own)}", len(own))
    return own[order[turn % len(own)]]


def sample_number(target: Target, request: int, sample: int) -> int:
    """A number below 2**31 for a sample of a request.

    Requests whose prompts are equal, because a term came again or two specifications share their words, differ by it.
    """
    content = [target.specification, target.attribute_set, target.attribute, request, sample]
    return int.from_bytes(_digest(content)[:4], "big") >> 1


def _shuffled(seed: int, target: Target, what: str, size: int) -> list[int]:
    """A random order of ``size`` things."""
    content = [seed, target.specification, target.attribute_set, target.attribute, what]
    words = random_words(int.from_bytes(_digest(content)[:8], "big"), 0, size)
    return [int(place) for place in np.argsort(words, kind="stable")]


def _digest(content: object) -> bytes:
    return hashlib.sha256(json.dumps(content).encode()).digest()
