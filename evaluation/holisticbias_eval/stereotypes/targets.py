"""The terms and attributes of a specification: what a generator is asked to put into a sentence."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from holisticbias.compile.random_words import random_words
from holisticbias.terms.specification_entries import Slot, Specification
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.stereotypes.agreement import with_article

_APOSTROPHE = "['’]"  # noqa: RUF001 - both forms that people write


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
    found = (
        Target(specification.id, attributes.name, term)
        for attributes in specification.attributes
        for term in attributes.terms
    )
    return tuple(dict.fromkeys(found))


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
    for number, slot in enumerate(specification.slots, 1):
        _refuse_slot(specification, number, slot)
    found: dict[str, tuple[GroupTerm, ...]] = {}
    for place, group in enumerate(specification.groups):
        own = [(i, slot.terms[place]) for i, slot in enumerate(specification.slots) if _is_paired(slot, place)]
        terms = tuple(GroupTerm(group.name, i, term) for i, term in own if term)
        if not terms:
            raise EvaluationError(
                f"{specification.id}: the group {group.name!r} has no term with a partner in another group: "
                "give a slot in which both have a term"
            )
        found[group.name] = terms
    return found


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


@lru_cache(maxsize=20_000)
def term_pattern(term: str) -> re.Pattern[str]:
    """Matches a term as whole words, in any case, with a hyphen or a blank between its parts.

    A possessive or contracted ``'s`` may follow it. A plural does not match, nor does a part of a hyphenated word.
    """
    parts = [re.escape(part).replace("'", _APOSTROPHE) for part in re.split(r"[\s-]+", term.strip()) if part]
    body = r"[\s-]+".join(parts)
    end = rf"(?!\w|-\w|{_APOSTROPHE}t\b)"
    return re.compile(rf"(?<!\w)(?<!\w['’-]){body}{end}", re.IGNORECASE)  # noqa: RUF001


def has_term(text: str, term: str) -> bool:
    """Whether a text contains a term as whole words; see ``term_pattern``."""
    return term_pattern(term).search(text) is not None


def _refuse_slot(specification: Specification, number: int, slot: Slot) -> None:
    if not slot.terms:
        raise EvaluationError(f"{specification.id}: slot {number} has no terms: write a term for each group")
    if len(slot.terms) != len(specification.groups):
        count, groups = len(slot.terms), len(specification.groups)
        raise EvaluationError(
            f"{specification.id}: slot {number} has {count} terms for {groups} groups: write one term a group, "
            "and null for a group that has none"
        )


def _is_paired(slot: Slot, place: int) -> bool:
    """Whether a slot has a term of the group and of another group."""
    others = [term for i, term in enumerate(slot.terms) if i != place and term]
    return bool(slot.terms[place] and others)


def _shuffled(seed: int, target: Target, what: str, size: int) -> list[int]:
    """A random order of ``size`` things."""
    content = [seed, target.specification, target.attribute_set, target.attribute, what]
    words = random_words(int.from_bytes(_digest(content)[:8], "big"), 0, size)
    return [int(place) for place in np.argsort(words, kind="stable")]


def _digest(content: object) -> bytes:
    return hashlib.sha256(json.dumps(content).encode()).digest()


_SLOT = re.compile(r"\[T(?::([a-z_]+))?\]")
_SENTENCE_END = (".", "!", "?")


@dataclass(frozen=True, slots=True)
class TemplatePair:
    """One template with an attribute and the terms of a slot; ``other_sentence`` is null if ``rule`` rejects it."""

    attribute_set: str
    attribute: str
    slot: int
    group: str
    other_group: str
    term: str
    other_term: str | None
    sentence: str
    other_sentence: str | None
    rule: str | None = None


def fits(template: str, form: str) -> bool:
    """Whether a template takes the terms of slots of this form."""
    found = _SLOT.search(template)
    return found is not None and found[1] in (None, form)


def filled(template: str, term: str, attribute: str, *, literal: bool = False) -> str:
    """The sentence of a template with a term and an attribute.

    The article before either follows its sound, and the sentence begins with a capital and ends with a period,
    unless ``literal``.
    """
    if literal:
        return _SLOT.sub(lambda _: term, template).replace("[A]", attribute)
    text = ""
    for part in re.split(r"(\[T(?::[a-z_]+)?\]|\[A\])", template):
        is_slot = part.startswith(("[T", "[A]"))
        word = attribute if part == "[A]" else term if is_slot else part
        text = (with_article(text, word).before if is_slot else text) + word
    text = text[:1].upper() + text[1:]
    return text if text.endswith(_SENTENCE_END) else f"{text}."


def template_pairs(specification: Specification) -> Iterator[TemplatePair]:
    """Every template with every attribute, slot and pair of groups, once: the earlier group has ``sentence``.

    Templates of data that its source published are filled in as they are, like the published code does.
    """
    literal = specification.published_as is not None
    for attributes in specification.attributes:
        for attribute in attributes.terms:
            for number, slot in enumerate(specification.slots):
                for template in (t for t in specification.templates if fits(t, slot.form)):
                    for (i, group), (j, other) in combinations(enumerate(specification.groups), 2):
                        terms = (*slot.terms, *[None] * len(specification.groups))
                        term, counterpart = terms[i], terms[j]
                        if term is None:
                            continue
                        rule = "no-counterpart" if counterpart is None else _rule(slot.form, literal)
                        yield TemplatePair(
                            attributes.name,
                            attribute,
                            number,
                            group.name,
                            other.name,
                            term,
                            None if rule else counterpart,
                            filled(template, term, attribute, literal=literal),
                            None if rule else filled(template, counterpart or "", attribute, literal=literal),
                            rule,
                        )


def _rule(form: str, literal: bool) -> str | None:
    return "mixed-form" if form == "mixed" and not literal else None
