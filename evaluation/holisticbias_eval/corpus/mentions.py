"""Find the terms of a specification's groups, and its attributes, in a text."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from holisticbias.terms.specification_entries import Specification, is_stem

_APOSTROPHES = "['’]"  # noqa: RUF001 - both forms that people write
_START = r"(?<!\w)(?<!\w['’-])"  # noqa: RUF001
_BETWEEN = r"[\s-]+"
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class TargetTerm:
    """A term of a group: the index of its slot, and the name of the group."""

    slot: int
    group: str
    term: str


@dataclass(frozen=True, slots=True)
class AttributeTerm:
    """A term of a set of attributes."""

    attribute_set: str
    term: str


@dataclass(frozen=True, slots=True)
class Mention(Generic[T]):
    """A mention in a text: its characters from ``start`` to ``stop``, and the term that they are."""

    start: int
    stop: int
    of: T


class TermFinder(Generic[T]):
    """Finds terms as whole words, in any case, with a hyphen or blanks between their parts.

    The longest of overlapping terms is found, and of equal terms the first. A possessive ``'s`` may follow. A term that
    ends in ``*`` matches every word that begins so.
    """

    def __init__(self, terms: Iterable[tuple[str, T]]) -> None:
        self._exact: dict[str, T] = {}
        self._stems: dict[str, T] = {}
        for term, of in terms:
            (self._stems if is_stem(term) else self._exact).setdefault(_normal(term.removesuffix("*")), of)
        both = [(term, False) for term in self._exact] + [(term, True) for term in self._stems]
        ordered = sorted(both, key=lambda one: (-len(one[0]), one))
        body = "|".join(_pattern(*one) for one in ordered) or r"(?!)"
        self._pattern = re.compile(f"{_START}(?:{body})", re.IGNORECASE)

    def find(self, text: str) -> Iterator[Mention[T]]:
        """Yield the mentions in a text, in order; they do not overlap."""
        for match in self._pattern.finditer(text):
            yield Mention(match.start(), match.end(), self._named(_normal(match.group())))

    def _named(self, found: str) -> T:
        if found in self._exact:
            return self._exact[found]
        stem = next(found[:n] for n in range(len(found), 0, -1) if found[:n] in self._stems)
        return self._stems[stem]


@lru_cache(maxsize=32)
def target_finder(specification: Specification) -> TermFinder[TargetTerm]:
    """The finder of the groups' terms; a specification whose slots name descriptors must have their texts."""
    return TermFinder(
        (term, TargetTerm(i, group.name, term))
        for i, slot in enumerate(specification.slots)
        for group, term in zip(specification.groups, slot.terms, strict=True)
        if term is not None
    )


@lru_cache(maxsize=32)
def attribute_finder(specification: Specification) -> TermFinder[AttributeTerm]:
    """The finder of the attributes of all sets; an attribute of two sets counts for the first."""
    return TermFinder(
        (term, AttributeTerm(chosen.name, term)) for chosen in specification.attributes for term in chosen.terms
    )


def _normal(term: str) -> str:
    return re.sub(r"[\s-]+", " ", re.sub(_APOSTROPHES, "'", term.strip())).casefold()


def _pattern(term: str, stem: bool) -> str:
    parts = [re.escape(part).replace("'", _APOSTROPHES) for part in term.split(" ")]
    end = r"\w*" if stem else rf"(?!\w|-\w|{_APOSTROPHES}t\b)"
    return f"{_BETWEEN.join(parts)}{end}"
