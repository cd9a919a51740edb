"""Rows of pairs: of sentences that are converted grammatically, and of templates."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import combinations, count, product
from typing import Literal

import pyarrow as pa
import yaml

from holisticbias.terms.specification_entries import Specification, filled, fits
from holisticbias_eval.progress import Progress
from holisticbias_eval.stereotypes.conversion import Converter
from holisticbias_eval.stereotypes.imported import SourceSentence, find_attribute_set, find_term
from holisticbias_eval.stereotypes.targets import every_term

Stereotyped = Literal["sentence", "other_sentence"]

RULES: Mapping[str, str] = yaml.safe_load(files(__package__).joinpath("pair_rules.yaml").read_text("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A row of ``pairs.parquet``; ``rule`` is null if the sentence was converted, else the other sentence is null."""

    pair_id: str
    specification: str
    attribute_set: str | None = None
    attribute: str
    slot: int | None = None
    group: str | None = None
    other_group: str | None = None
    term: str
    other_term: str | None = None
    sentence: str
    other_sentence: str | None = None
    stereotyped: Stereotyped | None = None
    rule: str | None = None
    source: str
    generator: str | None = None


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


def _pairs_of(
    sentence: SourceSentence, specification: Specification, converter: Callable[[str, str, str], Converter]
) -> Iterator[Pair]:
    blank = unpaired(sentence, specification)
    term = find_term(sentence, every_term(specification))
    attribute_set = find_attribute_set(sentence, specification)
    if term is None or attribute_set is None or sentence.is_discarded:
        rule = "unknown-term" if term is None else "unknown-attribute" if attribute_set is None else "discarded"
        yield replace(blank, rule=rule)
        return
    group = term.group
    blank = replace(blank, attribute_set=attribute_set, slot=term.slot, group=group)
    for other in (g.name for g in specification.groups if g.name != group):
        pair = replace(blank, pair_id=f"{sentence.sentence_id}>{other}", other_group=other)
        stereotyped = stereotyped_side(specification, attribute_set, group, other)
        if stereotyped is None:
            yield replace(pair, rule="no-stereotype")
            continue
        made = converter(specification.id, group, other).convert(sentence.sentence, sentence.term, sentence.attribute)
        side = None if made.rule else stereotyped
        yield replace(pair, other_sentence=made.sentence, other_term=made.term, rule=made.rule, stereotyped=side)


def unpaired(sentence: SourceSentence, specification: Specification) -> Pair:
    """A pair of which only the sentence is known."""
    return Pair(
        pair_id=sentence.sentence_id,
        specification=specification.id,
        attribute_set=sentence.attribute_set,
        attribute=sentence.attribute,
        group=sentence.group,
        term=sentence.term,
        sentence=sentence.sentence,
        source=sentence.source,
        generator=sentence.generator,
    )


def stereotyped_side(specification: Specification, attribute_set: str, group: str, other: str) -> Stereotyped | None:
    """The sentence of a pair that fits the stereotype, null if it gives the attributes to neither group or both."""
    fitting = {g.name for g in specification.groups if g.stereotype == attribute_set}
    if (group in fitting) == (other in fitting):
        return None
    return "sentence" if group in fitting else "other_sentence"


def pairs_of_templates(specification: Specification) -> Iterator[Pair]:
    """Every template with every attribute, slot and pair of groups, once: the earlier group has ``sentence``.

    Templates of data that its source published are filled in as they are, like the published code does.
    """
    number, literal = count(1), specification.published_as is not None
    for attributes in specification.attributes:
        for attribute, (place, slot) in product(attributes.terms, enumerate(specification.slots)):
            terms = list(zip(specification.groups, slot.terms, strict=True))
            templates = [template for template in specification.templates if fits(template, slot.form)]
            for template, ((group, term), (other, other_term)) in product(templates, combinations(terms, 2)):
                if term is None:
                    continue
                pair = Pair(
                    pair_id=f"{specification.id}/template-{next(number)}>{other.name}",
                    specification=specification.id,
                    attribute_set=attributes.name,
                    attribute=attribute,
                    slot=place,
                    group=group.name,
                    other_group=other.name,
                    term=term,
                    sentence=filled(template, term, attribute, literal=literal),
                    source="template",
                )
                stereotyped = stereotyped_side(specification, attributes.name, group.name, other.name)
                if other_term is None:
                    yield replace(pair, rule="no-counterpart")
                elif slot.form == "mixed" and not literal:
                    yield replace(pair, rule="mixed-form")
                elif stereotyped is None:
                    yield replace(pair, rule="no-stereotype")
                else:
                    text = filled(template, other_term, attribute, literal=literal)
                    yield replace(pair, other_term=other_term, other_sentence=text, stereotyped=stereotyped)
