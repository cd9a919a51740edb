"""Phrases that fill the slots of templates, and the sentences they make, as columns in blocks of bounded size."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import (
    compact,
    encode_texts,
    repeat_boolean,
    repeat_text,
    strings,
    surround,
    take_texts,
)
from holisticbias.compile.lazy_tables import ROWS, LazyTable
from holisticbias.compile.table_forms import DESCRIPTOR, NOUN, column_values, ordered
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule, Descriptor, Noun, Template
from holisticbias.terms.file_kinds import DescriptorFile, NounFile
from holisticbias.terms.grammar import ADJECTIVE, alone, described, split_template, with_article

Columns = Mapping[str, pa.Array]
Texts = Sequence[str | None]
Phrase = tuple[str, str, str, int, int]
"""Kind, singular, plural, and the indices of the descriptor and of the noun: -1 for a phrase without one."""


@dataclass(frozen=True, slots=True)
class PhraseTable(LazyTable):
    """Every phrase that can fill a slot, one row per phrase: the table ``noun_phrases``.

    ``phrase_id`` is the end of the ids of its sentences. A block has at most ``ROWS`` phrases, and its dictionaries
    have only texts that its phrases use: a dictionary of all phrases in every row group would grow with the square
    of the number of descriptors.
    """

    blocks: tuple[Columns, ...]

    def parts(self) -> Iterator[pa.Table]:
        """The table, block by block."""
        return (ordered("noun_phrases", block) for block in self.blocks)

    def of_descriptors(self, descriptors: Sequence[str]) -> "PhraseTable":
        """Phrases with one of the descriptors, and phrases without a descriptor."""
        wanted = strings([*descriptors, None])
        taken = _taken(self.blocks, lambda block: pc.is_in(block["descriptor_id"], wanted))
        return PhraseTable(tuple({name: compact(column) for name, column in block.items()} for block in taken))

    def with_noun(self) -> "PhraseTable":
        """The phrases that fill a slot that must be a noun."""
        adjective = strings([ADJECTIVE])[0]
        return PhraseTable(
            _taken(self.blocks, lambda block: pc.not_equal(block["noun_phrase_type"].dictionary_decode(), adjective))
        )


def _taken(blocks: tuple[Columns, ...], wanted: Callable[[Columns], pa.Array]) -> tuple[Columns, ...]:
    """The wanted rows of each block, without blocks that become empty; at least one block."""
    taken = [(block, pc.indices_nonzero(wanted(block))) for block in blocks]
    full = [(block, chosen) for block, chosen in taken if len(chosen)] or taken[:1]
    return tuple(
        block if len(chosen) == len(block["phrase_id"]) else {name: c.take(chosen) for name, c in block.items()}
        for block, chosen in full
    )


def compile_phrases(held: Catalog, rule: ArticleRule, layout: int) -> PhraseTable:
    """The phrases of one version's catalog, with the columns that a layout has. May be empty."""
    descriptors = [(axis, d) for axis in held.axes for d in axis.descriptors]
    nouns = [(gender, n) for gender in held.genders for n in gender.nouns]
    of_descriptor = column_values(DESCRIPTOR, descriptors, layout)
    of_noun = column_values(NOUN, nouns, layout)
    phrases = _phrases(descriptors, nouns, rule)
    blocks = iter(lambda: list(islice(phrases, ROWS)), [])
    return PhraseTable(tuple(_columns(block, of_descriptor, of_noun) for block in blocks))


def _phrases(
    descriptors: Sequence[tuple[DescriptorFile, Descriptor]], nouns: Sequence[tuple[NounFile, Noun]], rule: ArticleRule
) -> Iterator[Phrase]:
    """Yield descriptors with nouns, then descriptors alone, then nouns alone."""
    for i, (_, d) in enumerate(descriptors):
        kind = "descriptor_noun" if d.position == "before" else "noun_descriptor"
        for j, (file, noun) in enumerate(nouns):
            if d.goes_with(file.gender, noun):
                yield (kind, *described(d, noun, rule), i, j)
    for i, (_, d) in enumerate(descriptors):
        phrase = alone(d, rule)
        if phrase is not None:
            yield (*phrase, i, -1)
    for j, (_, noun) in enumerate(nouns):
        yield "noun", with_article(noun.text, rule, noun.article), noun.plural, -1, j


def named_phrases(held: Catalog, rule: ArticleRule) -> Iterator[tuple[str, str | None, str, str, str]]:
    """The phrases of one version's catalog: id, axis (null without a descriptor), type, singular and plural."""
    descriptors = [(axis, d) for axis in held.axes for d in axis.descriptors]
    nouns = [(gender, n) for gender in held.genders for n in gender.nouns]
    for kind, singular, plural, i, j in _phrases(descriptors, nouns, rule):
        axis, term = (descriptors[i][0].axis, descriptors[i][1].id) if i >= 0 else (None, "-")
        yield f"{term}/{nouns[j][1].id if j >= 0 else '-'}", axis, kind, singular, plural


def _columns(phrases: Sequence[Phrase], of_descriptor: Mapping[str, Texts], of_noun: Mapping[str, Texts]) -> Columns:
    kinds, singular, plural, descriptors, nouns = zip(*phrases, strict=True)
    columns = {"noun_phrase": singular, "plural_noun_phrase": plural, "noun_phrase_type": kinds}
    columns = {name: encode_texts(texts) for name, texts in columns.items()}
    for values, rows in ((of_descriptor, descriptors), (of_noun, nouns)):
        used = {row: place for place, row in enumerate(dict.fromkeys(row for row in rows if row >= 0))}
        places = np.array([used.get(row, -1) for row in rows], np.int32)
        columns |= {name: take_texts([texts[row] for row in used], places) for name, texts in values.items()}
    ids = [(*of_descriptor["descriptor_id"], "-"), (*of_noun["noun_id"], "-")]
    columns["phrase_id"] = strings([f"{ids[0][i]}/{ids[1][j]}" for i, j in zip(descriptors, nouns, strict=True)])
    return columns


@dataclass(frozen=True, slots=True)
class Sentences(LazyTable):
    """Every template with every phrase that can fill it: the table ``sentences``, which is made when asked for."""

    phrases: PhraseTable
    templates: tuple[Template, ...]

    def parts(self) -> Iterator[pa.Table]:
        """The table, one part for each template and block of phrases."""
        with_noun = self.phrases.with_noun()
        for template in self.templates:
            for block in (with_noun if template.must_be_noun else self.phrases).blocks:
                yield _part(template, block)

    def of_descriptors(self, descriptors: tuple[str, ...]) -> "Sentences":
        """Sentences with one of the descriptors, and sentences without a descriptor."""
        return Sentences(self.phrases.of_descriptors(descriptors), self.templates)


def _part(template: Template, phrases: Columns) -> pa.Table:
    ids = surround(f"{template.id}/", phrases["phrase_id"], "")
    return ordered("sentences", {**phrases, **sentence_columns([template], 0, phrases), "sentence_id": ids})


def sentence_columns(templates: Sequence[Template], place: int, phrases: Columns) -> Columns:
    """The columns of the sentences of one of some templates, which share dictionaries, with all phrases."""
    template = templates[place]
    slot, before, after = split_template(template.text)
    size = len(phrases[slot])
    return {
        "text": surround(before, phrases[slot].dictionary_decode(), after),
        "template": repeat_text([t.text for t in templates], place, size),
        "template_id": repeat_text([t.id for t in templates], place, size),
        "first_turn_only": repeat_boolean(template.first_turn_only, size),
        "must_be_noun": repeat_boolean(template.must_be_noun, size),
    }
