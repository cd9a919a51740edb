"""Swap the terms of a sentence's groups, by number and part of speech, or its attributes for their opposites."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import TargetTerm, named_groups, target_finder
from holisticbias_eval.errors import SpecificationError
from holisticbias_eval.stereotypes.agreement import NEXT_WORD, context, english, exchange_terms, place
from holisticbias_eval.stereotypes.targets import Mention, TermFinder

Refusal = Literal[
    "no term of a group",
    "about several groups",
    "no term that fits its place",
    "unknown article",
    "still names a group",
]
"""The reasons for which a sentence is not rewritten for a group."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """A sentence about another group, and the term, as in the specification, that its first mention has now."""

    text: str
    target: str


@dataclass(frozen=True, slots=True)
class _Opposite:
    """An attribute, and the attribute that replaces it, null if none can."""

    term: str
    opposite: str | None


def swap_targets(text: str, specification: Specification, group: str) -> Swapped | Refusal:
    """The text with each mention of its group replaced by a term of ``group``, or the reason why it is not rewritten.

    A term of ``group`` itself stays; a word form becomes its term, also a form of ``group``. "a" and "an" follow the
    new term. The first letter keeps its case, but the capitals of a name stay, except in a text without capitals.
    ``counterpart`` chooses the term.

    A text is not rewritten if it mentions no group or names several, if a mention has no term for ``group`` that fits
    its place, if an article before an abbreviation depends on how it is read, or if the new text would still name
    another group, also in a compound ("anti-Muslim").
    Raises ``SpecificationError`` if the specification has no such group. Source: Zhao et al. 2024, section 2.
    """
    names = [known.name for known in specification.groups]
    if group not in names:
        raise SpecificationError(f"{specification.id} has no group {group[:80]!r}: its groups are {', '.join(names)}")
    return _swap(text, specification, [group])[group]


def swap_for_all_groups(text: str, specification: Specification) -> Mapping[str, Swapped | Refusal]:
    """The text for each group of the specification by its name, as ``swap_targets`` gives it."""
    return _swap(text, specification, [group.name for group in specification.groups])


def swap_attributes(text: str, specification: Specification) -> str | None:
    """The text with each attribute replaced by its opposite, the other attribute of its pair.

    An attribute without an opposite stays, as does a word of a group's term. A stem such as ``greed*`` is replaced, but
    replaces nothing. Null if no mention has an opposite. Source: Zhao et al. 2024, section 4 (CADA).
    """
    groups = list(target_finder(specification).find(text))
    changes = [
        (mention, mention.of.opposite)
        for mention in _opposite_finder(specification).find(text)
        if mention.of.opposite and not any(mention.overlaps(group) for group in groups)
    ]
    return exchange_terms(text, changes) if changes else None


def _swap(text: str, specification: Specification, groups: Sequence[str]) -> Mapping[str, Swapped | Refusal]:
    mentions = list(target_finder(specification).find(text))
    if not mentions:
        return dict.fromkeys(groups, "no term of a group")
    named = {mention.of.group for mention in mentions} | named_groups(text, specification)
    if len(named) > 1:
        return dict.fromkeys(groups, "about several groups")
    return {group: _swapped(text, mentions, specification, group) for group in groups}


def _swapped(
    text: str, mentions: Sequence[Mention[TargetTerm]], specification: Specification, group: str
) -> Swapped | Refusal:
    terms: list[str] = []
    for mention in mentions:
        term = counterpart(text, mention, specification, group)
        if term is None:
            return "no term that fits its place"
        terms.append(term)
    pairs = zip(mentions, terms, strict=True)
    changes = [(mention, term) for mention, term in pairs if mention.of.term != term]
    new = exchange_terms(text, changes)
    if new is None:
        return "unknown article"
    if changes and not named_groups(new, specification) <= {group}:
        return "still names a group"
    return Swapped(new, terms[0])


@lru_cache(maxsize=32)
def _opposite_finder(specification: Specification) -> TermFinder[_Opposite]:
    """Finds attributes; those of the pairs come first, so that they count where an attribute is listed twice."""
    both = [pair for opposites in specification.opposites for pair in (opposites, opposites[::-1])]
    pairs = [_Opposite(term, None if opposite.endswith("*") else opposite) for term, opposite in both]
    others = [_Opposite(term, None) for chosen in specification.attributes for term in chosen.terms]
    return TermFinder((attribute.term, attribute) for attribute in [*pairs, *others])


Kind = Literal["adjective", "plural", "noun"]
_POSSESSIVE = re.compile(r"['\u2019]s\b", re.IGNORECASE)
_WORD = r"[\"'\u201c\u2018(]*([^\W_]+(?:['\u2019-][^\W_]+)*)"
_PREVIOUS = re.compile(rf"(?:^|\s){_WORD}\s+$")
_ONE = re.compile(r"\b(?:an?|another|each|every|one|this|that)(?:\s+[^\W_]+)?\s+$", re.IGNORECASE)
_SEVERAL = re.compile(r"\b(?:these|those|all|many|most|some|several|few|two|three)(?:\s+the)?\s+$", re.IGNORECASE)
_PREDICATIVE = re.compile(
    r"(?:\b(?:am|is|are|was|were|be|been|being|become|becomes|became|not|never|very|so|too|more|less|really|both|[a-z]+ly)"
    r"|['\u2019](?:s|re|m)|n['\u2019]t)\s+$",
    re.IGNORECASE,
)
_SINGULAR_VERBS = frozenset({"is", "was", "has", "does", "isn't", "wasn't", "hasn't", "doesn't"})
_PLURAL_VERBS = frozenset({"are", "were", "have", "do", "aren't", "weren't", "haven't", "don't"})


def counterpart(text: str, mention: Mention[TargetTerm], specification: Specification, group: str) -> str | None:
    """The term of ``group`` to write in the place of a mention; null if there is none, or if the place is not clear.

    A term of the group itself stays, and a word form becomes the term that is written for it. Other terms are those of
    the mention's slots: adjectives where it stands before a noun, nouns elsewhere, plurals where it is a plural. If
    slots of one kind lack a term for the group, no other kind takes its place. Of several slots of one kind the first
    with a term counts. Slots of the form ``mixed`` are not used.
    """
    target = mention.of
    if target.written is None:
        return target.term if group == target.group else None
    aligned = _aligned(specification)
    if (group, target.term) in aligned:
        return target.term
    if group == target.group:
        return target.written
    by_kind = aligned[target.group, target.written].get(group, {})
    if len(set(by_kind.values())) <= 1:
        return next(iter(by_kind.values()), None)
    kind = _kind(text, mention, frozenset(by_kind))
    return None if kind is None else by_kind[kind]


@lru_cache(maxsize=32)
def _aligned(specification: Specification) -> Mapping[tuple[str, str], Mapping[str, Mapping[Kind, str | None]]]:
    """The terms of each group, by kind, that stand in the slots of a term, by its group and itself."""
    names = [group.name for group in specification.groups]
    terms: dict[tuple[str, str], dict[str, dict[Kind, str | None]]] = {}
    for slot in specification.slots:
        kind: Kind = slot.form if slot.form in ("adjective", "plural") else "noun"  # type: ignore[assignment]
        for name, term in zip(names, slot.terms, strict=True):
            if term is None:
                continue
            others = terms.setdefault((name, term), {})
            for other, opposite in zip(names, slot.terms, strict=True) if slot.form != "mixed" else ():
                kinds = others.setdefault(other, {})
                kinds[kind] = kinds.get(kind) or opposite
    return terms


def _kind(text: str, mention: Mention[TargetTerm], kinds: frozenset[Kind]) -> Kind | None:
    """The kind of word that a mention is, of the kinds that it can be; null if the words beside it do not say."""
    before, after = context(text, mention)
    nouns = kinds - {"adjective"}
    if "adjective" in kinds:
        attributive = _is_attributive(before, after)
        if attributive is not False:
            return "adjective" if attributive else None
    if len(nouns) == 1:
        return next(iter(nouns))
    return _number(before, after)


def _is_attributive(before: str, after: str) -> bool | None:
    """Whether a word that is an adjective or a singular noun is an adjective; null if that is not clear."""
    if _POSSESSIVE.match(after):
        return False
    if _PREDICATIVE.search(before):
        return True  # "they are Christian": a noun would have an article
    where = place(before, after)
    following, previous = NEXT_WORD.match(after), _PREVIOUS.search(before)
    if where == "unclear":
        # "saw Christian women": after the verb itself, a single noun would have an article
        verb = previous[1].lower() if previous else ""
        return True if following and verb in english().two_objects | english().complements else None
    if where == "determiner" and following and _ONE.search(before):
        word = following[1].lower()
        looks_like_a_verb = word.endswith(("s", "ed")) and not word.endswith(("ss", "ous"))
        return None if looks_like_a_verb else True  # "a Christian believes", "a Christian news site"
    return where == "determiner"


def _number(before: str, after: str) -> Kind | None:
    """Whether a noun of one form for both numbers is a plural."""
    following = NEXT_WORD.match(after)
    verb = following[1].lower().replace("\u2019", "'") if following else ""
    if _ONE.search(before) or _POSSESSIVE.match(after) or verb in _SINGULAR_VERBS:
        return "noun"
    return "plural" if _SEVERAL.search(before) or verb in _PLURAL_VERBS else None
