"""The texts that put each group's term in the place of one mention."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import Mention, TargetTerm
from holisticbias_eval.stereotypes.agreement import in_case, with_article


@dataclass(frozen=True, slots=True)
class Alternative:
    """A text with a term of ``group`` in the place of a mention, at the characters ``start`` to ``stop``."""

    group: str
    text: str
    start: int
    stop: int


def alternatives(
    text: str, mention: Mention[TargetTerm], specification: Specification, groups: Collection[str]
) -> list[Alternative]:
    """The text with the term of each of ``groups`` in the place of a mention, in the order of the specification.

    The terms are of one slot: of the slots that have the mentioned term, the one with most terms, and of equals the
    first. The text of the mention's own group is unchanged. Elsewhere "a" and "an" follow the term, and its capitals
    are those of the mention. Groups without a term are left out, and so is a term whose article is not known.
    """
    return [
        made
        for group, term in _slot_terms(specification, mention.of.group, mention.of.term, frozenset(groups))
        if (made := _replaced(text, mention, group, term)) is not None
    ]


@lru_cache(maxsize=4096)
def _slot_terms(
    specification: Specification, group: str, term: str, groups: frozenset[str]
) -> tuple[tuple[str, str], ...]:
    slots = list(_slots_with(specification, group, term, groups))
    return max(slots, key=len, default=())


def _slots_with(
    specification: Specification, group: str, term: str, groups: frozenset[str]
) -> Iterator[tuple[tuple[str, str], ...]]:
    names = [one.name for one in specification.groups]
    for slot in specification.slots:
        terms = dict(zip(names, slot.terms, strict=True))
        if terms[group] == term:
            yield tuple((name, other) for name, other in terms.items() if name in groups and other is not None)


def _replaced(text: str, mention: Mention[TargetTerm], group: str, term: str) -> Alternative | None:
    if group == mention.of.group:
        return Alternative(group, text, mention.start, mention.stop)
    found = text[mention.start : mention.stop]
    other = in_case(found, mention.of.term, term, text[: mention.start])
    if text == text.lower():
        other = other.lower()
    before = with_article(text[: mention.start], term, in_capitals=len(other) > 1 and other.isupper())
    if before.unknown:
        return None
    start = len(before.before)
    return Alternative(group, before.before + other + text[mention.stop :], start, start + len(other))
