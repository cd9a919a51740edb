"""Phrases that fill the slots of templates, and the sentences they make, as columns in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import (
    Int32s,
    compact,
    encode_texts,
    repeat_boolean,
    repeat_text,
    strings,
    surround,
    table,
    take_texts,
)
from holisticbias.compile.lazy_tables import ROWS
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule, Descriptor, Entry, Noun, Template
from holisticbias.terms.grammar import described, split_template, with_article

E = TypeVar("E", bound=Entry)
Columns = Mapping[str, pa.Array]
_FIRST = ("phrase_id", "noun_phrase", "plural_noun_phrase", "noun_phrase_type")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that can fill a slot; ``noun`` and ``descriptor`` are null for a phrase without them."""

    kind: str
    noun_phrase: str
    plural_noun_phrase: str
    axis: str | None = None
    descriptor: Descriptor | None = None
    gender: str | None = None
    noun: Noun | None = None


@dataclass(frozen=True, slots=True)
class Phrases:
    """Every phrase that can fill a slot, one row per phrase: the table ``noun_phrases``.

    ``phrase_id`` is the end of the ids of its sentences. A block has at most ``ROWS`` phrases, and its dictionaries
    have only texts that its phrases use: a dictionary of all phrases in every row group would grow with the square
    of the number of descriptors.
    """

    blocks: tuple[Columns, ...]

    def read(self) -> pa.Table:
        """The whole table."""
        return pa.concat_tables(self.parts())

    def parts(self) -> Iterator[pa.Table]:
        """The table, block by block."""
        for block in self.blocks:
            yield table({name: block[name] for name in (*_FIRST, *(n for n in block if n not in _FIRST))})

    def of_descriptors(self, descriptors: Sequence[str]) -> Phrases:
        """Phrases with one of the descriptors, and phrases without a descriptor."""
        value_set = strings(descriptors)
        chosen = (pc.is_in(block["descriptor_id"], value_set=value_set, skip_nulls=True) for block in self.blocks)
        kept = (pc.or_(c, pc.is_null(b["descriptor_id"])) for c, b in zip(chosen, self.blocks, strict=True))
        taken = _taken(self.blocks, (pc.indices_nonzero(mask) for mask in kept))
        return Phrases(tuple({name: compact(column) for name, column in block.items()} for block in taken))

    def with_noun(self) -> Phrases:
        """The phrases that fill a slot that must be a noun."""
        alone = strings(["descriptor"])[0]
        kinds = (block["noun_phrase_type"].dictionary_decode() for block in self.blocks)
        return Phrases(_taken(self.blocks, (pc.indices_nonzero(pc.not_equal(kind, alone)) for kind in kinds)))


def _taken(blocks: tuple[Columns, ...], rows: Iterable[pa.Array]) -> tuple[Columns, ...]:
    """Some rows of each block, without blocks that become empty; at least one block."""
    taken = [(block, chosen) for block, chosen in zip(blocks, rows, strict=True)]
    full = [(block, chosen) for block, chosen in taken if len(chosen)] or taken[:1]
    return tuple(
        block if len(chosen) == len(block["phrase_id"]) else {name: c.take(chosen) for name, c in block.items()}
        for block, chosen in full
    )


def compile_phrases(held: Catalog, rule: ArticleRule, *, labels: bool) -> Phrases:
    """The phrases of one version's catalog; ``labels`` adds the label of the axis to each. May be empty."""
    phrases = _phrases(held, rule)
    label = {axis.axis: axis.label for axis in held.axes} if labels else None
    return Phrases(tuple(_columns(block, label) for block in iter(lambda: tuple(islice(phrases, ROWS)), ())))


def _phrases(catalog: Catalog, rule: ArticleRule) -> Iterator[Phrase]:
    """Yield descriptors with nouns, then descriptors alone, then nouns alone."""
    nouns = [(g.gender, n) for g in catalog.genders for n in g.nouns]
    descriptors = [(a.axis, d) for a in catalog.axes for d in a.descriptors]
    for axis, d in descriptors:
        kind = "descriptor_noun" if d.position == "before" else "noun_descriptor"
        for gender, noun in nouns:
            if d.goes_with(gender, noun):
                yield Phrase(kind, *described(d, noun, rule), axis, d, gender, noun)
    for axis, d in descriptors:
        if d.position == "standalone":
            yield Phrase("fixed_phrase", with_article(d.text, rule, d.article), d.plural or d.text, axis, d)
        elif d.position == "before" and d.without_noun:
            yield Phrase("descriptor", d.text, d.text, axis, d)
    for gender, noun in nouns:
        yield Phrase("noun", with_article(noun.text, rule, noun.article), noun.plural, gender=gender, noun=noun)


def _columns(phrases: tuple[Phrase, ...], labels: Mapping[str, str] | None) -> Columns:
    ids = [(p.descriptor.id if p.descriptor else "-", p.noun.id if p.noun else "-") for p in phrases]
    of_descriptor, descriptors = _distinct([p.descriptor for p in phrases])
    of_noun, nouns = _distinct([p.noun for p in phrases])
    label = (
        {} if labels is None else {"axis_label": encode_texts([labels[p.axis] if p.axis else None for p in phrases])}
    )
    return {
        "axis": encode_texts([p.axis for p in phrases]),
        **label,
        "bucket": take_texts([d.bucket for d in descriptors], of_descriptor),
        "descriptor": take_texts([d.text for d in descriptors], of_descriptor),
        "descriptor_gender": take_texts([d.noun_gender for d in descriptors], of_descriptor),
        "descriptor_preference": take_texts([d.preference for d in descriptors], of_descriptor),
        "noun": take_texts([n.text for n in nouns], of_noun),
        "plural_noun": take_texts([n.plural for n in nouns], of_noun),
        "noun_gender": encode_texts([p.gender for p in phrases]),
        "noun_phrase": encode_texts([p.noun_phrase for p in phrases]),
        "plural_noun_phrase": encode_texts([p.plural_noun_phrase for p in phrases]),
        "noun_phrase_type": encode_texts([p.kind for p in phrases]),
        "descriptor_id": take_texts([d.id for d in descriptors], of_descriptor),
        "noun_id": take_texts([n.id for n in nouns], of_noun),
        "phrase_id": strings(["/".join(both) for both in ids]),
    }


def _distinct(entries: Sequence[E | None]) -> tuple[Int32s, list[E]]:
    """The index of each row's entry among the distinct entries (-1 for None), and the distinct entries."""
    found = {entry.id: entry for entry in entries if entry}
    places = {entry_id: i for i, entry_id in enumerate(found)}
    return np.array([places[entry.id] if entry else -1 for entry in entries], np.int32), list(found.values())


_OF_PHRASE = ("descriptor_id", "noun_id", "phrase_id")


@dataclass(frozen=True, slots=True)
class Sentences:
    """Every template with every phrase that can fill it: the table ``sentences``, which is made when asked for."""

    phrases: Phrases
    templates: tuple[Template, ...]

    def read(self) -> pa.Table:
        """The whole table."""
        return pa.concat_tables(self.parts())

    def parts(self) -> Iterator[pa.Table]:
        """The table, one part for each template and block of phrases."""
        with_noun = self.phrases.with_noun()
        for template in self.templates:
            for block in (with_noun if template.must_be_noun else self.phrases).blocks:
                yield _part(template, block)

    def of_descriptors(self, descriptors: tuple[str, ...]) -> Sentences:
        """Sentences with one of the descriptors, and sentences without a descriptor."""
        return Sentences(self.phrases.of_descriptors(descriptors), self.templates)


def _part(template: Template, phrases: Columns) -> pa.Table:
    slot, before, after = split_template(template.text)
    size = len(phrases[slot])
    columns = {
        "text": surround(before, phrases[slot].dictionary_decode(), after),
        **{name: column for name, column in phrases.items() if name not in _OF_PHRASE},
        "template": repeat_text([template.text], 0, size),
        "first_turn_only": repeat_boolean(template.first_turn_only, size),
        "must_be_noun": repeat_boolean(template.must_be_noun, size),
        "sentence_id": surround(f"{template.id}/", phrases["phrase_id"], ""),
        "descriptor_id": phrases["descriptor_id"],
        "noun_id": phrases["noun_id"],
        "template_id": repeat_text([template.id], 0, size),
    }
    return table(columns)
