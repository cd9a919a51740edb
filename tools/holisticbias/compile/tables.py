"""Compile one version of a catalog into the tables of a release, column by column."""

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from holisticbias.compile.history_table import history_table
from holisticbias.compile.lazy_tables import InMemory, LazyTable
from holisticbias.compile.phrases import Sentences, compile_phrases
from holisticbias.compile.specification_rows import specification_rows
from holisticbias.compile.table_forms import FORMS, Rows, entry_rows, table_of
from holisticbias.errors import ReleaseError
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule
from holisticbias.terms.prompt_entries import Group, Prompt
from holisticbias.terms.version_files import WITH_PROMPTS

TERMS = ("descriptors", "nouns", "templates")
COMPANIONS = ("collections", "prompts", "specifications")


def compile_tables(
    catalog: Catalog, version: str, subset: str | None = None, *, whole: bool = True
) -> Mapping[str, LazyTable]:
    """The tables of one version, or of the part with the descriptors of a subset.

    Sentences are made when they are asked for. With ``whole`` there is a table with the sentences of each subset,
    the companions, if the version has such entries, and the history. Raises ``UnknownVersionError`` for an unknown
    version or subset, and ``ReleaseError`` if no sentences result.
    """
    release = catalog.release(version)
    held = catalog.at(version, subset)
    sentences = compile_sentences(held, release.article_rule, labels=release.layout > 2)
    terms = _in_memory(_terms(held, release.layout))
    tables: dict[str, LazyTable] = {"sentences": sentences, **terms, "noun_phrases": sentences.phrases}
    if whole:
        tables |= {part.subset: sentences.of_descriptors(part.descriptors) for part in catalog.subsets}
        tables |= _in_memory(_companions(held, release.layout))
        tables["history"] = InMemory(history_table(catalog, version))
    return tables


def _in_memory(tables: Mapping[str, pa.Table]) -> dict[str, LazyTable]:
    return {name: InMemory(table) for name, table in tables.items()}


def compile_entries(catalog: Catalog, version: str) -> Mapping[str, pa.Table]:
    """The tables ``descriptors``, ``nouns`` and ``templates`` of one version."""
    return _terms(catalog.at(version), catalog.release(version).layout)


def _terms(held: Catalog, layout: int) -> Mapping[str, pa.Table]:
    files = (held.axes, held.genders, held.families)
    return {name: table_of(FORMS[name], entry_rows(f), layout) for name, f in zip(TERMS, files, strict=True)}


class PromptRow(NamedTuple):
    """A prompt, and its group in the same version."""

    prompt: Prompt
    group: Group | None


def _companions(held: Catalog, layout: int) -> Mapping[str, pa.Table]:
    """The tables of layout 4 and later; a kind without entries has no table."""
    groups = {group.id: group for file in held.collections for group in file.groups}
    rows: Mapping[str, Rows] = {
        "collections": entry_rows(held.collections),
        "prompts": [(f, PromptRow(p, groups.get(p.group))) for f in held.prompts for p in f.prompts],
        "specifications": list(specification_rows(held, layout)),
    }
    found = [name for name in COMPANIONS if rows[name] and layout >= WITH_PROMPTS]
    return {name: table_of(FORMS[name], rows[name], layout) for name in found}


def compile_sentences(held: Catalog, rule: ArticleRule, *, labels: bool = False) -> Sentences:
    """The sentences of one version's catalog; ``ReleaseError`` if it would have no sentences.

    ``labels`` adds the column ``axis_label``, which sentences have from layout 3 on.
    """
    phrases = compile_phrases(held, rule, labels=labels)
    if not phrases.blocks or not held.templates:
        raise ReleaseError("the version would have no sentences")
    return Sentences(phrases, held.templates)
