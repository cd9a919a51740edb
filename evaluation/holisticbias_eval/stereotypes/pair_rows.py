"""Rows of pairs: of sentences, converted grammatically or as published, and of templates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.progress import Progress
from holisticbias_eval.stereotypes.conversion import RULES as CONVERSION_RULES
from holisticbias_eval.stereotypes.conversion import Converter
from holisticbias_eval.stereotypes.imported import SourceSentence
from holisticbias_eval.stereotypes.published_pairs import LABELS, MASK, PublishedPair
from holisticbias_eval.stereotypes.targets import template_pairs

Stereotyped = Literal["sentence", "other_sentence"]

RULES: Mapping[str, str] = {
    **CONVERSION_RULES,
    "unknown-term": "The term is not a term of a group in the specification.",
    "unknown-attribute": "The attribute is not in the specification.",
    "no-stereotype": "The stereotype gives the attribute to neither group, or to both.",
    "discarded": "The file marks the sentence as discarded.",
    "duplicate-template": "An earlier sentence of the attribute has the same template (published mode).",
}
_UNDISCARDED = {"", "0", "0.0", "false", "no"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of ``pairs.parquet``; ``rule`` is null if the sentence was converted, else the other sentence is null."""

    pair_id: str
    specification: str
    attribute_set: str | None
    attribute: str
    slot: int | None
    group: str | None
    other_group: str | None
    term: str
    other_term: str | None
    sentence: str
    other_sentence: str | None
    stereotyped: Stereotyped | None
    rule: str | None
    source: str
    generator: str | None


SCHEMA = pa.schema(
    [
        (name, pa.int32() if name == "slot" else pa.large_string() if name.endswith("sentence") else pa.string())
        for name in Pair.__dataclass_fields__
    ]
)


def grammatical_pairs(
    sentences: Iterable[SourceSentence], specifications: Iterable[Specification], progress: Progress
) -> Iterator[Pair]:
    """One pair for each sentence and each other group, converted or with the rule that rejects it."""
    by_name = {name: s for s in specifications for name in (s.id, s.published_as) if name}
    converter = cache(lambda name, group, other: Converter(by_name[name], group, other))
    for sentence in sentences:
        progress(1)
        if sentence.specification in by_name:
            yield from _pairs_of(sentence, by_name[sentence.specification], converter)


def pairs_of_templates(specification: Specification) -> Iterator[Pair]:
    """The pairs of a specification's templates, with ``source`` "template"."""
    for number, made in enumerate(template_pairs(specification), 1):
        stereotyped = stereotyped_side(specification, made.attribute_set, made.group, made.other_group)
        rule = made.rule or (None if stereotyped else "no-stereotype")
        yield Pair(
            pair_id=f"{specification.id}/template-{number}>{made.other_group}",
            specification=specification.id,
            attribute_set=made.attribute_set,
            attribute=made.attribute,
            slot=made.slot,
            group=made.group,
            other_group=made.other_group,
            term=made.term,
            other_term=None if rule else made.other_term,
            sentence=made.sentence,
            other_sentence=None if rule else made.other_sentence,
            stereotyped=None if rule else stereotyped,
            rule=rule,
            source="template",
            generator=None,
        )


def stereotyped_side(specification: Specification, attribute_set: str, group: str, other: str) -> Stereotyped | None:
    """The sentence of a pair that fits the stereotype, null if it gives the attributes to neither group or both."""
    fitting = {g.name for g in specification.groups if g.stereotype == attribute_set}
    if (group in fitting) == (other in fitting):
        return None
    return "sentence" if group in fitting else "other_sentence"


def _pairs_of(
    sentence: SourceSentence, specification: Specification, converter: Callable[[str, str, str], Converter]
) -> Iterator[Pair]:
    blank = _rejected(sentence, specification)
    where = _term(specification, sentence)
    attribute_set = _attribute_set(specification, sentence)
    if where is None or attribute_set is None or sentence.discarded.lower() not in _UNDISCARDED:
        rule = "unknown-term" if where is None else "unknown-attribute" if attribute_set is None else "discarded"
        yield replace(blank, rule=rule)
        return
    slot, group = where
    for other in (g.name for g in specification.groups if g.name != group):
        pair = replace(
            blank, pair_id=f"{sentence.sentence_id}>{other}", attribute_set=attribute_set, slot=slot, group=group,
            other_group=other,
        )  # fmt: skip
        stereotyped = stereotyped_side(specification, attribute_set, group, other)
        if stereotyped is None:
            yield replace(pair, rule="no-stereotype")
            continue
        made = converter(specification.id, group, other).convert(sentence.sentence, sentence.term, sentence.attribute)
        yield replace(
            pair, other_sentence=made.sentence, other_term=made.term, rule=made.rule,
            stereotyped=None if made.rule else stereotyped,
        )  # fmt: skip


def _rejected(sentence: SourceSentence, specification: Specification) -> Pair:
    """A pair of which only the sentence is known."""
    return Pair(
        pair_id=sentence.sentence_id, specification=specification.id, attribute_set=sentence.attribute_set,
        attribute=sentence.attribute, slot=None, group=sentence.group, other_group=None, term=sentence.term,
        other_term=None, sentence=sentence.sentence, other_sentence=None, stereotyped=None, rule=None,
        source=sentence.source, generator=sentence.generator,
    )  # fmt: skip


def _term(specification: Specification, sentence: SourceSentence) -> tuple[int, str] | None:
    """The slot and the group of a sentence's term; a term of several groups is of the group that is given, or first."""
    for number, slot in enumerate(specification.slots):
        for term, group in zip(slot.terms, specification.groups, strict=False):
            fits = sentence.group in (None, group.name)
            if term is not None and fits and term.lower() == sentence.term.lower():
                return number, group.name
    return None


def _attribute_set(specification: Specification, sentence: SourceSentence) -> str | None:
    attribute = sentence.attribute.replace(" ", "-").lower()
    for attributes in specification.attributes:
        is_asked = sentence.attribute_set in (None, attributes.name)
        if is_asked and attribute in (term.replace(" ", "-").lower() for term in attributes.terms):
            return attributes.name
    return None


def published_rows(
    found: Iterable[tuple[Specification, PublishedPair]], given: Sequence[SourceSentence]
) -> Iterator[Pair]:
    """The published code's pairs as rows; ``given`` are the sentences that they were made of."""
    for specification, pair in found:
        source = given[pair.sentence.row]
        blank = _rejected(replace(source, sentence=pair.template.replace(MASK, source.term)), specification)
        where = _term(specification, source)
        group = where[1] if where else None
        row = replace(
            blank, slot=pair.slot, group=group, attribute_set=_attribute_set(specification, source), rule=pair.rule
        )
        if pair.rule is None:
            groups = [g.name for g in specification.groups if g.name != group]
            row = replace(
                row,
                pair_id=f"{source.sentence_id}>{groups[0]}",
                other_group=groups[0],
                other_term=pair.other_term,
                other_sentence=pair.template.replace(MASK, pair.other_term or ""),
                stereotyped="sentence" if pair.labels == LABELS else "other_sentence",
            )
        yield row
