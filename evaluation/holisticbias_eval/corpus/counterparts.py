"""The term of a group that fits the place of a mention: same number, and adjective for adjective."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import Mention, TargetTerm
from holisticbias_eval.stereotypes.agreement import english, place

Kind = Literal["adjective", "plural", "noun"]
_CONTEXT = 300  # characters
_POSSESSIVE = re.compile(r"['\u2019]s\b", re.IGNORECASE)
_WORD = r"[\"'\u201c\u2018(]*([^\W_]+(?:['\u2019-][^\W_]+)*)"
_NEXT = re.compile(rf"\s+{_WORD}")
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
    before, after = text[max(0, mention.start - _CONTEXT) : mention.start], text[mention.stop :][:_CONTEXT]
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
    following, previous = _NEXT.match(after), _PREVIOUS.search(before)
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
    following = _NEXT.match(after)
    verb = following[1].lower().replace("\u2019", "'") if following else ""
    if _ONE.search(before) or _POSSESSIVE.match(after) or verb in _SINGULAR_VERBS:
        return "noun"
    return "plural" if _SEVERAL.search(before) or verb in _PLURAL_VERBS else None
