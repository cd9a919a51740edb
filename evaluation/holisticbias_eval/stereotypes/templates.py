"""Sentences of a specification's templates, paired by slot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.stereotypes.agreement import with_article

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
