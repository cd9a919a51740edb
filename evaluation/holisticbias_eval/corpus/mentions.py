"""Find the terms of a specification's groups, and its attributes, in a text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.documents import DELETED
from holisticbias_eval.stereotypes.targets import TermFinder, every_term

_COMMON = frozenset({"american", "child", "children", "men", "man", "people", "person", "persons", "women", "woman"})
_SHORTEST = 4  # letters that two terms share
_ESCAPE = re.compile(rb"\\u(?:00[4-7]|013[01]|017f|212a)")
"""Letters that JSON writes as escapes: ASCII letters, and letters that equal i, s or k in any case."""
_LETTERS = tuple(letter.encode() for letter in "\u0130\u0131\u017f\u212a")
_DELETED = re.compile(DELETED.encode())


@dataclass(frozen=True, slots=True)
class TargetTerm:
    """A word of a group, as the specification has it: a term, or a word form.

    ``written`` is the term that stands in its place in rewritten sentences: a term itself, and null for a form without
    one. ``slot`` is the index of the first slot of ``written``, null without it.
    """

    slot: int | None
    group: str
    term: str
    written: str | None


@dataclass(frozen=True, slots=True)
class AttributeTerm:
    """A term of a set of attributes."""

    attribute_set: str
    term: str


def target_words(specification: Specification) -> Iterator[TargetTerm]:
    """The terms of a specification's groups, then their word forms, in order; slots must have the descriptors' texts.

    A term or form that names no slot or group of the specification is left out.
    """
    known: dict[str, TargetTerm] = {}
    for one in every_term(specification):
        found = TargetTerm(one.slot, one.group, one.term, one.term)
        known.setdefault(one.term, found)
        yield found
    for forms in specification.forms:
        written = known.get(forms.of or "")
        for word in forms.words:
            if written is not None:
                yield replace(written, term=word)
            elif forms.group is not None:
                yield TargetTerm(None, forms.group, word, None)


@lru_cache(maxsize=64)
def target_finder(specification: Specification, *, in_compounds: bool = False) -> TermFinder[TargetTerm]:
    """The finder of the groups' terms and word forms."""
    return TermFinder(((word.term, word) for word in target_words(specification)), in_compounds=in_compounds)


def named_groups(text: str, specification: Specification) -> frozenset[str]:
    """The groups that a text names, also in compounds ("anti-Muslim") and in plurals that are not in the specification.

    Rewriting uses it to see what it has not replaced; as mentions, only words of ``target_finder`` count.
    """
    return frozenset(mention.of.group for mention in target_finder(specification, in_compounds=True).find(text))


@lru_cache(maxsize=32)
def attribute_finder(specification: Specification) -> TermFinder[AttributeTerm]:
    """The finder of the attributes of all sets; an attribute of two sets counts for the first."""
    return TermFinder(
        (term, AttributeTerm(chosen.name, term)) for chosen in specification.attributes for term in chosen.terms
    )


class TermFilter:
    """Says of a document's bytes, UTF-8 or JSON, whether it may mention a term; it never says no for a mention.

    It looks for letters that the terms have, in any case, which is faster than parsing the document. Deleted texts
    count as mentions, so that they are counted.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        runs = [_run(term) for term in terms]
        self._needles = None if None in runs else _needles({run for run in runs if run is not None})

    def __call__(self, document: bytes) -> bool:
        """Whether the document may mention a term."""
        if self._needles is None:
            return True
        lower = document.lower()
        for needle in self._needles:
            if needle in lower:
                return True
        if (b"deleted" in lower or b"removed" in lower) and _DELETED.search(lower):
            return True
        if b"\\u" in lower and _ESCAPE.search(lower):
            return True
        return not lower.isascii() and any(letter in lower for letter in _LETTERS)


def target_filter(specification: Specification) -> TermFilter:
    """The filter for the terms and word forms of all groups."""
    return TermFilter(one.term for one in target_words(specification))


def _run(term: str) -> str | None:
    """The longest run of ASCII letters and digits, which all mentions of a term have; a rare word if it has one."""
    runs = re.findall(r"[a-z0-9]+", term.lower())
    return min(runs, key=lambda run: (run in _COMMON, -len(run), run), default=None)


def _needles(runs: set[str]) -> tuple[bytes, ...]:
    """Few texts such that each run contains one: parts that several share, or whole runs."""
    chosen: list[bytes] = []
    while runs:
        parts = {part for run in runs for part in _parts(run)}
        shared = {part: sum(part in run for run in runs) for part in parts}
        best = min(parts, key=lambda part: (-shared[part], -len(part), part))
        runs = {run for run in runs if best not in run}
        chosen.append(best.encode())
    return tuple(chosen)


def _parts(run: str) -> set[str]:
    longest = range(len(run) - _SHORTEST + 1)
    return {run} | {run[start:stop] for start in longest for stop in range(start + _SHORTEST, len(run) + 1)}
