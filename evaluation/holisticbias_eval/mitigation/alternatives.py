"""The texts that put each group's term in the place of one mention."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.counterparts import counterpart
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

    Terms are chosen as in rewriting, see ``counterpart``: adjectives beside adjectives, plurals beside
    plurals. A term of the mention's own group is unchanged; a word form becomes its term. "a" and "an" follow the
    term, and its capitals are those of the mention. Groups without a term are left out, and so is a term whose article
    is not known.
    """
    terms = {name: counterpart(text, mention, specification, name) for name in groups}
    return [
        made
        for group in specification.groups
        if (term := terms.get(group.name)) is not None
        and (made := _replaced(text, mention, group.name, term)) is not None
    ]


def _replaced(text: str, mention: Mention[TargetTerm], group: str, term: str) -> Alternative | None:
    if term == mention.of.term:
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
