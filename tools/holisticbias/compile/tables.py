"""Compile one version of a catalog into the tables of a release, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.arrays import Int32s
from holisticbias.compile.columns import (
    booleans,
    encode_texts,
    lists,
    lists_of_records,
    repeat_boolean,
    repeat_text,
    strings,
    surround,
    table,
    take_texts,
)
from holisticbias.errors import ReleaseError
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule, Descriptor, Entry, Noun, Template
from holisticbias.terms.file_kinds import DescriptorFile, NounFile, TemplateFile
from holisticbias.terms.grammar import described, split_template, with_article

E = TypeVar("E", bound=Entry)


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


def compile_tables(catalog: Catalog, version: str, subset: str | None = None) -> Mapping[str, pa.Table]:
    """The tables ``sentences``, ``descriptors``, ``nouns``, ``templates`` and ``noun_phrases`` of one version.

    Raises ``UnknownVersionError`` for an unknown version or subset, and
    ``ReleaseError`` if no sentences result.
    """
    release = catalog.release(version)
    held = catalog.at(version, subset)
    columns, templates = _parts(held, release.article_rule, release.layout)
    return {
        "sentences": _sentences(columns, templates),
        **_entries(held, release.layout),
        "noun_phrases": _noun_phrases(columns),
    }


def compile_entries(catalog: Catalog, version: str) -> Mapping[str, pa.Table]:
    """The tables ``descriptors``, ``nouns`` and ``templates`` of one version."""
    return _entries(catalog.at(version), catalog.release(version).layout)


def _entries(held: Catalog, layout: int) -> Mapping[str, pa.Table]:
    return {
        "descriptors": _descriptors(held.axes, layout),
        "nouns": _nouns(held.genders),
        "templates": _templates(held.families, layout),
    }


def compile_sentences(held: Catalog, rule: ArticleRule) -> pa.Table:
    """The table ``sentences``, in layout 1, of one version's catalog; ``ReleaseError`` if it would be empty."""
    return _sentences(*_parts(held, rule, 1))


def _parts(held: Catalog, rule: ArticleRule, layout: int) -> tuple[dict[str, pa.Array], tuple[Template, ...]]:
    """The columns of the phrases, and the templates that they fill."""
    phrases = tuple(_phrases(held, rule))
    templates = tuple(chain.from_iterable(f.templates for f in held.families))
    if not phrases or not templates:
        raise ReleaseError("the version would have no sentences")
    columns = _phrase_columns(phrases)
    if layout < 3:
        return columns, templates
    labels = {axis.axis: axis.label for axis in held.axes}
    label = encode_texts([labels[p.axis] if p.axis else None for p in phrases])
    return {"axis": columns["axis"], "axis_label": label, **columns}, templates


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


def _sentences(columns: Mapping[str, pa.Array], templates: tuple[Template, ...]) -> pa.Table:
    """Every template with every phrase that can fill it, template by template."""
    kinds = columns["noun_phrase_type"].dictionary_decode()
    nounlike = pc.indices_nonzero(pc.not_equal(kinds, strings(["descriptor"])[0]))
    with_noun = {name: column.take(nounlike) for name, column in columns.items()}
    batches = [
        _template_batch(i, templates, with_noun if template.must_be_noun else columns)
        for i, template in enumerate(templates)
    ]
    return pa.concat_tables(batches)


def _noun_phrases(columns: Mapping[str, pa.Array]) -> pa.Table:
    """Every phrase that can fill a slot, one row per phrase; ``phrase_id`` is the end of the ids of its sentences."""
    first = ("phrase_id", "noun_phrase", "plural_noun_phrase", "noun_phrase_type")
    return table({name: columns[name] for name in (*first, *(n for n in columns if n not in first))})


def _phrase_columns(phrases: tuple[Phrase, ...]) -> dict[str, pa.Array]:
    ids = [(p.descriptor.id if p.descriptor else "-", p.noun.id if p.noun else "-") for p in phrases]
    of_descriptor, descriptors = _distinct([p.descriptor for p in phrases])
    of_noun, nouns = _distinct([p.noun for p in phrases])
    return {
        "axis": encode_texts([p.axis for p in phrases]),
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


def _template_batch(index: int, templates: tuple[Template, ...], phrases: Mapping[str, pa.Array]) -> pa.Table:
    template = templates[index]
    slot, before, after = split_template(template.text)
    size = len(phrases[slot])
    columns = {
        "text": surround(before, phrases[slot].dictionary_decode(), after),
        **{k: v for k, v in phrases.items() if k not in ("descriptor_id", "noun_id", "phrase_id")},
        "template": repeat_text([t.text for t in templates], index, size),
        "first_turn_only": repeat_boolean(template.first_turn_only, size),
        "must_be_noun": repeat_boolean(template.must_be_noun, size),
        "sentence_id": surround(f"{template.id}/", phrases["phrase_id"], ""),
        "descriptor_id": phrases["descriptor_id"],
        "noun_id": phrases["noun_id"],
        "template_id": repeat_text([t.id for t in templates], index, size),
    }
    return table(columns)


ASSESSMENT = ("judgement", "community", "locale", "reviewer", "source", "date")


def _descriptors(axes: tuple[DescriptorFile, ...], layout: int) -> pa.Table:
    rows = [(a, d) for a in axes for d in a.descriptors]
    judged = [[{name: getattr(x, name) for name in ASSESSMENT} for x in d.assessments] for _, d in rows]
    exclusions = {
        "without_noun": booleans([d.without_noun for _, d in rows]),
        "not_with": lists([d.not_with for _, d in rows]),
    }
    return table(
        {
            "descriptor_id": strings([d.id for _, d in rows]),
            "descriptor": strings([d.text for _, d in rows]),
            "axis": strings([a.axis for a, _ in rows]),
            "axis_label": strings([a.label for a, _ in rows]),
            "bucket": strings([d.bucket for _, d in rows]),
            "position": strings([d.position for _, d in rows]),
            "article": strings([d.article for _, d in rows]),
            "plural": strings([d.plural for _, d in rows]),
            "descriptor_gender": strings([d.noun_gender for _, d in rows]),
            "descriptor_preference": strings([d.preference for _, d in rows]),
            "since": strings([d.since for _, d in rows]),
            "assessments": lists_of_records(judged, ASSESSMENT),
            "sources": lists([d.sources for _, d in rows]),
            **(exclusions if layout > 1 else {}),
        }
    )


def _nouns(genders: tuple[NounFile, ...]) -> pa.Table:
    rows = [(g, n) for g in genders for n in g.nouns]
    return table(
        {
            "noun_id": strings([n.id for _, n in rows]),
            "noun": strings([n.text for _, n in rows]),
            "plural_noun": strings([n.plural for _, n in rows]),
            "noun_gender": strings([g.gender for g, _ in rows]),
            "article": strings([n.article for _, n in rows]),
            "since": strings([n.since for _, n in rows]),
            "sources": lists([n.sources for _, n in rows]),
        }
    )


def _templates(families: tuple[TemplateFile, ...], layout: int) -> pa.Table:
    rows = [(f, t) for f in families for t in f.templates]
    marks = {"paraphrase_of": strings([t.paraphrase_of for _, t in rows])} if layout > 1 else {}
    if layout > 2:
        marks["opposite_of"] = strings([t.opposite_of for _, t in rows])
    return table(
        {
            "template_id": strings([t.id for _, t in rows]),
            "template": strings([t.text for _, t in rows]),
            "family": strings([f.family for f, _ in rows]),
            "first_turn_only": booleans([t.first_turn_only for _, t in rows]),
            "must_be_noun": booleans([t.must_be_noun for _, t in rows]),
            "since": strings([t.since for _, t in rows]),
            "sources": lists([t.sources for _, t in rows]),
            **marks,
        }
    )
