"""Compile one version of a catalog into the tables of a release, column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import pyarrow as pa

from holisticbias.compile.columns import booleans, lists, lists_of_records, strings, table
from holisticbias.compile.lazy_tables import InMemory, LazyTable
from holisticbias.compile.phrases import Sentences, compile_phrases
from holisticbias.errors import ReleaseError
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule
from holisticbias.terms.file_kinds import DescriptorFile, NounFile, SubsetFile, TemplateFile


def compile_tables(
    catalog: Catalog, version: str, subset: str | None = None, beside: Sequence[SubsetFile] = ()
) -> Mapping[str, LazyTable]:
    """The tables ``sentences``, ``descriptors``, ``nouns``, ``templates`` and ``noun_phrases`` of one version.

    Sentences are made when they are asked for. Each subset in ``beside`` gets a table with its sentences. Raises
    ``UnknownVersionError`` for an unknown version or subset, and ``ReleaseError`` if no sentences result.
    """
    release = catalog.release(version)
    held = catalog.at(version, subset)
    sentences = compile_sentences(held, release.article_rule, labels=release.layout > 2)
    return {
        "sentences": sentences,
        **{name: InMemory(table) for name, table in _entries(held, release.layout).items()},
        "noun_phrases": sentences.phrases,
        **{part.subset: sentences.of_descriptors(part.descriptors) for part in beside},
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


def compile_sentences(held: Catalog, rule: ArticleRule, *, labels: bool = False) -> Sentences:
    """The sentences of one version's catalog; ``ReleaseError`` if it would have no sentences.

    ``labels`` adds the column ``axis_label``, which sentences have from layout 3 on.
    """
    phrases = compile_phrases(held, rule, labels=labels)
    templates = tuple(chain.from_iterable(f.templates for f in held.families))
    if not phrases.blocks or not templates:
        raise ReleaseError("the version would have no sentences")
    return Sentences(phrases, templates)


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
