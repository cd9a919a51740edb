"""The terms and attributes of a specification: what a generator is asked to put into a sentence."""

import json
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np

from holisticbias.compile.random_words import random_number, random_words
from holisticbias.terminal import counted
from holisticbias.terms.specification_entries import APOSTROPHES, BETWEEN, HYPHENS, Specification, is_stem, term_key
from holisticbias_eval.errors import EvaluationError, SpecificationError

_START = rf"(?<!\w)(?<!\w[{HYPHENS}])(?<!\w{APOSTROPHES})"
_END = rf"(?!\w|[{HYPHENS}]\w|{APOSTROPHES}t\b)"
"""What stands at the ends of a whole word."""
_START_IN_COMPOUND, _END_IN_COMPOUND = r"(?<![^\W_])", r"(?:s|es)?(?![^\W_])"
T = TypeVar("T", bound=Hashable)


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

    Raises ``EvaluationError`` if a group has none.
    """
    groups = specification.groups
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


def refuse_uneven_slots(specification: Specification) -> None:
    """Raise ``SpecificationError`` for a slot that does not have a term, or null, for each group."""
    groups = specification.groups
    for number, slot in enumerate(specification.slots, 1):
        if not slot.terms:
            raise SpecificationError(f"{specification.id}: slot {number} has no terms: write a term for each group")
        if len(slot.terms) != len(groups):
            raise SpecificationError(
                f"{specification.id}: slot {number} has {counted(len(slot.terms), 'terms')} for {len(groups)} groups: "
                "write one term a group, and null for a group that has none"
            )


def every_term(specification: Specification) -> Iterator[GroupTerm]:
    """The terms of each slot, in the order of the groups."""
    for number, slot in enumerate(specification.slots):
        for group, term in zip(specification.groups, slot.terms, strict=True):
            if term is not None:
                yield GroupTerm(group.name, number, term)


def all_terms(specification: Specification) -> tuple[str, ...]:
    """Every distinct term of every group, the longest first."""
    terms = {term.term for term in every_term(specification)}
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
    return random_number(json.dumps(content), 4) >> 1


@lru_cache(maxsize=20_000)
def term_pattern(term: str) -> re.Pattern[str]:
    """Matches a term as whole words, in any case, with a hyphen or a blank between its parts.

    A possessive or contracted ``'s`` may follow it. A plural does not match, nor does a part of a hyphenated word.
    """
    return re.compile(f"{_START}{_body(term)}{_END}", re.IGNORECASE)


def _body(term: str) -> str:
    """A pattern of a term's letters, with a hyphen or blanks between its parts; a term without any matches nothing."""
    parts = [re.sub(APOSTROPHES, APOSTROPHES, re.escape(part)) for part in re.split(BETWEEN, term.strip()) if part]
    return BETWEEN.join(parts) or "(?!)"


def has_term(text: str, term: str) -> bool:
    """Whether a text contains a term as whole words; see ``term_pattern``."""
    return term_pattern(term).search(text) is not None


def has_terms(text: str, *terms: str) -> bool:
    """Whether a text contains all terms as whole words."""
    return all(has_term(text, term) for term in terms)


@dataclass(frozen=True, slots=True)
class Mention(Generic[T]):
    """A mention in a text: its characters from ``start`` to ``stop``, and the term that they are."""

    start: int
    stop: int
    of: T

    def overlaps(self, other: "Mention[Any]") -> bool:
        """Whether two mentions share a character."""
        return self.start < other.stop and other.start < self.stop


class TermFinder(Generic[T]):
    """Finds terms as whole words, in any case, with a hyphen or blanks between their parts.

    The longest of overlapping terms is found, and of equal terms the first. A possessive ``'s`` may follow. A term that
    ends in ``*`` matches every word that begins so. With ``in_compounds`` a term is also found as a part of a compound
    with hyphens, and with a plural ending.
    """

    def __init__(self, terms: Iterable[tuple[str, T]], *, in_compounds: bool = False) -> None:
        first: dict[tuple[str, bool], tuple[str, T]] = {}
        for term, of in terms:
            written = term.removesuffix("*")
            first.setdefault((term_key(written), is_stem(term)), (written, of))
        ordered = sorted(first.items(), key=lambda one: (-len(one[0][0]), one[0]))
        start, end = (_START_IN_COMPOUND, _END_IN_COMPOUND) if in_compounds else (_START, _END)
        bodies = [_body(written) + (r"\w*" if stem else end) for (_, stem), (written, _) in ordered]
        self._of = [of for _, (_, of) in ordered]
        self._mention = re.compile(f"{start}(?:{'|'.join(bodies) or '(?!)'})", re.IGNORECASE)
        # slower, and says which term a mention is: only a pattern knows which letters it takes for equal
        self._term = re.compile("|".join(f"({body})" for body in bodies), re.IGNORECASE)

    def find(self, text: str) -> Iterator[Mention[T]]:
        """Yield the mentions in a text, in order; they do not overlap."""
        for match in self._mention.finditer(text):
            term: Any = self._term.fullmatch(match.group())  # never None: a mention is one of the terms
            yield Mention(match.start(), match.end(), self._of[term.lastindex - 1])


def _shuffled(seed: int, target: Target, what: str, size: int) -> list[int]:
    """A random order of ``size`` things."""
    content = [seed, target.specification, target.attribute_set, target.attribute, what]
    words = random_words(random_number(json.dumps(content)), 0, size)
    return [int(place) for place in np.argsort(words, kind="stable")]
