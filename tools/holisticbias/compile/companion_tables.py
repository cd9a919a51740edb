"""The tables ``collections``, ``prompts`` and ``specifications`` of one version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias.compile.columns import booleans, integers, lists, optional_integers, strings, table
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import WITH_FORMS, WITH_PROMPTS, CollectionFile, SpecificationFile
from holisticbias.terms.specification_entries import Specification

COMPANIONS = ("collections", "prompts", "specifications")


def companion_tables(catalog: Catalog, version: str) -> Mapping[str, pa.Table]:
    """The tables of a version in layout 4 or later; a kind without entries has no table."""
    layout = catalog.release(version).layout
    if layout < WITH_PROMPTS:
        return {}
    held = catalog.at(version)
    tables = {
        "collections": _collections(held.collections, layout),
        "prompts": _prompts(held),
        "specifications": _specifications(held, layout),
    }
    return {name: made for name, made in tables.items() if made.num_rows}


def _collections(files: Sequence[CollectionFile], layout: int) -> pa.Table:
    rows = [(c, g) for c in files for g in c.groups]
    forms = {"forms": lists([g.forms.words if g.forms else () for _, g in rows])} if layout >= WITH_FORMS else {}
    return table(
        {
            "collection": strings([c.collection for c, _ in rows]),
            "group_id": strings([g.id for _, g in rows]),
            "group": strings([g.text for _, g in rows]),
            "domain": strings([g.domain for _, g in rows]),
            "terms": lists([g.terms for _, g in rows]),
            **forms,
            "titles": lists([g.pages.titles for _, g in rows]),
            "lists": lists([g.pages.lists for _, g in rows]),
            "categories": lists([g.pages.categories for _, g in rows]),
            "needs_person": booleans([g.needs_person for _, g in rows]),
            "prompt_words": integers(np.array([c.prompt_words for c, _ in rows], np.int32)),
            "term_within": integers(np.array([c.term_within for c, _ in rows], np.int32)),
            "least_words": integers(np.array([c.least_words for c, _ in rows], np.int32)),
            "sources": lists([g.sources for _, g in rows]),
            "since": strings([g.since for _, g in rows]),
        }
    )


def _prompts(held: Catalog) -> pa.Table:
    names = {g.id: g.text for c in held.collections for g in c.groups}
    rows = [(f, p) for f in held.prompts for p in f.prompts]
    return table(
        {
            "prompt_id": strings([p.id for _, p in rows]),
            "domain": strings([f.domain for f, _ in rows]),
            "domain_label": strings([f.label for f, _ in rows]),
            "group_id": strings([p.group for _, p in rows]),
            "group": strings([names.get(p.group) for _, p in rows]),
            "prompt": strings([p.text for _, p in rows]),
            "continuation": strings([p.continuation for _, p in rows]),
            "subject": strings([p.subject for _, p in rows]),
            "sources": lists([p.sources for _, p in rows]),
            "since": strings([p.since for _, p in rows]),
        }
    )


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part of a specification: a group, a term of a slot, a word form, an attribute, a pair of opposites, a template.

    ``name`` is the group or the set of attributes that it belongs to; null for a template. Of a pair of opposites it
    is the set of the negative attribute, which is the term. The slot of a word form is the first with the term that is
    written in its place; null if no term is.
    """

    file: SpecificationFile
    entry: Specification
    part: str
    name: str | None = None
    label: str | None = None
    slot: int | None = None
    form: str | None = None
    term: str | None = None
    descriptor_id: str | None = None
    stereotype: str | None = None
    gender: str | None = None
    held_out: bool | None = None
    valence: str | None = None
    opposite: str | None = None


_TEXTS = ("name", "label")
_MORE = ("form", "term", "descriptor_id", "stereotype", "gender")


def _specifications(held: Catalog, layout: int) -> pa.Table:
    texts = {d.id: d.text for d in held.descriptors}
    entries = [(f, s) for f in held.specifications for s in f.specifications]
    rows = [
        part for f, s in entries for part in _parts(f, s, texts) if part.part != "word_form" or layout >= WITH_FORMS
    ]
    return table(
        {
            "specification_id": strings([r.entry.id for r in rows]),
            "specification": strings([r.entry.text for r in rows]),
            "family": strings([r.file.family for r in rows]),
            "part": strings([r.part for r in rows]),
            **{name: strings([getattr(r, name) for r in rows]) for name in _TEXTS},
            "slot": optional_integers([r.slot for r in rows]),
            **{name: strings([getattr(r, name) for r in rows]) for name in _MORE},
            "held_out": booleans([r.held_out for r in rows]),
            "valence": strings([r.valence for r in rows]),
            "opposite": strings([r.opposite for r in rows]),
            "control": booleans([r.entry.control for r in rows]),
            "published_as": strings([r.entry.published_as for r in rows]),
            "sources": lists([r.entry.sources for r in rows]),
            "since": strings([r.entry.since for r in rows]),
        }
    )


def _parts(file: SpecificationFile, entry: Specification, texts: Mapping[str, str]) -> Iterator[PartRow]:
    """Groups, the terms slot by slot, word forms, attributes, opposites, templates; a missing term has no row."""
    for group in entry.groups:
        yield PartRow(
            file,
            entry,
            "group",
            group.name,
            group.label,
            stereotype=group.stereotype,
            gender=group.gender,
            held_out=group.held_out,
        )
    for k, slot in enumerate(entry.slots):
        terms = slot.terms or tuple(texts.get(name) for name in slot.descriptors)
        for group, term, descriptor in zip(entry.groups, terms, slot.descriptors or (None,) * len(terms), strict=True):
            if term is not None:
                yield PartRow(file, entry, "term", group.name, group.label, k, slot.form, term, descriptor)
    yield from _word_forms(file, entry)
    for chosen in entry.attributes:
        for term in chosen.terms:
            yield PartRow(file, entry, "attribute", chosen.name, chosen.label, term=term, valence=chosen.valence)
    sets = {term: chosen for chosen in reversed(entry.attributes) for term in chosen.terms}
    for negative, positive in entry.opposites:
        own = sets.get(negative)
        name, label = (None, None) if own is None else (own.name, own.label)
        yield PartRow(file, entry, "opposite", name, label, term=negative, opposite=positive)
    for template in entry.templates:
        yield PartRow(file, entry, "template", term=template)


def _word_forms(file: SpecificationFile, entry: Specification) -> Iterator[PartRow]:
    groups = {group.name: group for group in entry.groups}
    for forms in entry.forms:
        place = next(
            (
                (k, group)
                for k, slot in enumerate(entry.slots)
                for group, term in zip(entry.groups, slot.terms or slot.descriptors, strict=True)
                if term is not None and term == forms.of
            ),
            None,
        )
        slot, group = (None, groups[forms.group or ""]) if place is None else place
        form = None if slot is None else entry.slots[slot].form
        yield from (
            PartRow(file, entry, "word_form", group.name, group.label, slot, form, word) for word in forms.words
        )
