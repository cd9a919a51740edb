"""Swap the groups' terms of a sentence, or its attributes for their opposites; articles and capitals follow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import Mention, TargetTerm, TermFinder, target_finder
from holisticbias_eval.errors import SpecificationError
from holisticbias_eval.stereotypes.agreement import Place, in_case, place, with_article

_CONTEXT = 300  # characters
_POSSESSIVE = re.compile(r"['\u2019]s\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Swapped:
    """A sentence about another group, and the term, as in the specification, that its first mention has now."""

    text: str
    target: str


@dataclass(frozen=True, slots=True)
class _Change:
    """Characters of a text that mention ``old``, and the term to put there."""

    start: int
    stop: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class _Opposite:
    """An attribute, and the attribute that replaces it, null if none can."""

    term: str
    opposite: str | None


def swap_targets(text: str, specification: Specification, group: str) -> Swapped | None:
    """The text with each mention of a group replaced by the term of ``group`` in the same slot.

    A mention of ``group`` itself stays as it is. "a" and "an" follow the new term. The first letter keeps its case, but
    the capitals of a name stay, except in a text without capitals. Of several slots with the mentioned term, the first
    counts that has a term for ``group``; adjectives come first before a noun, and nouns elsewhere.

    Null if the text mentions no group, if a mention has no term for ``group`` or only one of a slot whose terms do not
    fit the same place (``mixed``), if an article before an abbreviation depends on how it is read, or if the new text
    still mentions another group.
    Raises ``SpecificationError`` if the specification has no such group. Source: Zhao et al. 2024, section 2.
    """
    known = _terms(specification)
    if group not in known:
        names = ", ".join(known)
        raise SpecificationError(f"{specification.id} has no group {group[:80]!r}: its groups are {names}")
    finder = target_finder(specification)
    return _swapped(text, list(finder.find(text)), finder, known[group])


def swap_for_all_groups(text: str, specification: Specification) -> Mapping[str, Swapped | None]:
    """The text for each group of the specification by its name, as ``swap_targets`` gives it."""
    finder = target_finder(specification)
    mentions = list(finder.find(text))
    return {group: _swapped(text, mentions, finder, terms) for group, terms in _terms(specification).items()}


def swap_attributes(text: str, specification: Specification) -> str | None:
    """The text with each attribute replaced by its opposite, the other attribute of its pair.

    An attribute without an opposite stays, as does a word of a group's term. A stem such as ``greed*`` is replaced, but
    replaces nothing. Null if no mention has an opposite. Source: Zhao et al. 2024, section 4 (CADA).
    """
    groups = list(target_finder(specification).find(text))
    changes = [
        _Change(mention.start, mention.stop, mention.of.term, mention.of.opposite)
        for mention in _opposite_finder(specification).find(text)
        if mention.of.opposite and not any(g.start < mention.stop and mention.start < g.stop for g in groups)
    ]
    return _changed(text, changes) if changes else None


@dataclass(frozen=True, slots=True)
class _Terms:
    """The terms of a group by slot, the slots' forms, and for each term of any group the slots that have it."""

    own: frozenset[str]
    by_slot: Sequence[str | None]
    forms: Sequence[str]
    slots: Mapping[tuple[str, str], tuple[int, ...]]

    def in_place_of(self, mention: Mention[TargetTerm], text: str) -> str | None:
        """The group's term for a mention, null if no slot of the mentioned term has one for its place."""
        found = mention.of
        if found.term in self.own:
            return found.term
        slots = self.slots[found.group, found.term]
        is_adjective = {self.forms[slot] == "adjective" for slot in slots}
        if len(is_adjective) > 1:
            where = _place(text, mention)
            if where != "unclear":
                slots = tuple(
                    sorted(slots, key=lambda slot: (self.forms[slot] == "adjective") != (where == "determiner"))
                )
        fitting = (slot for slot in slots if self.forms[slot] != "mixed")
        return next((term for slot in fitting if (term := self.by_slot[slot])), None)


def _place(text: str, mention: Mention[TargetTerm]) -> Place:
    """The place of a word that is an adjective or a noun: with a possessive ending it is a noun."""
    before, after = text[max(0, mention.start - _CONTEXT) : mention.start], text[mention.stop :][:_CONTEXT]
    return "alone" if _POSSESSIVE.match(after) else place(before, after)


@lru_cache(maxsize=32)
def _terms(specification: Specification) -> Mapping[str, _Terms]:
    """The terms of each group by its name."""
    names = [group.name for group in specification.groups]
    slots: dict[tuple[str, str], tuple[int, ...]] = {}
    for number, slot in enumerate(specification.slots):
        for name, term in zip(names, slot.terms, strict=True):
            if term is not None:
                slots[name, term] = (*slots.get((name, term), ()), number)
    forms = [slot.form for slot in specification.slots]
    found = {}
    for i, name in enumerate(names):
        by_slot = [slot.terms[i] for slot in specification.slots]
        found[name] = _Terms(frozenset(term for term in by_slot if term), by_slot, forms, slots)
    return found


def _swapped(
    text: str, mentions: Sequence[Mention[TargetTerm]], finder: TermFinder[TargetTerm], terms: _Terms
) -> Swapped | None:
    targets = [terms.in_place_of(mention, text) for mention in mentions]
    found = [target for target in targets if target is not None]
    if not mentions or len(found) < len(mentions):
        return None
    changes = _changes(mentions, found, terms)
    new = _changed(text, changes)
    if new is None or (changes and any(mention.of.term not in terms.own for mention in finder.find(new))):
        return None
    return Swapped(new, found[0])


def _changes(mentions: Iterable[Mention[TargetTerm]], terms: Iterable[str], group: _Terms) -> list[_Change]:
    return [
        _Change(mention.start, mention.stop, mention.of.term, term)
        for mention, term in zip(mentions, terms, strict=True)
        if mention.of.term not in group.own
    ]


def _changed(text: str, changes: Iterable[_Change]) -> str | None:
    """The text with all changes, null if the article before a new term is not known."""
    parts: list[str] = []
    start = 0
    no_capitals = text == text.lower()
    for change in changes:
        term = in_case(text[change.start : change.stop], change.old, change.new, text[: change.start])
        before = with_article(text[start : change.start], change.new, in_capitals=len(term) > 1 and term.isupper())
        if before.unknown:
            return None
        parts += [before.before, term.lower() if no_capitals else term]
        start = change.stop
    return "".join([*parts, text[start:]])


@lru_cache(maxsize=32)
def _opposite_finder(specification: Specification) -> TermFinder[_Opposite]:
    """Finds attributes; those of the pairs come first, so that they count where an attribute is listed twice."""
    pairs = [pair for negative, positive in specification.opposites for pair in _both_ways(negative, positive)]
    others = [_Opposite(term, None) for chosen in specification.attributes for term in chosen.terms]
    return TermFinder((one.term, one) for one in [*pairs, *others])


def _both_ways(negative: str, positive: str) -> tuple[_Opposite, _Opposite]:
    return (
        _Opposite(negative, None if positive.endswith("*") else positive),
        _Opposite(positive, None if negative.endswith("*") else negative),
    )
