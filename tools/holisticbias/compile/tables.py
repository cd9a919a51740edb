"""Compile one version of a catalog, and the history of its entries, into the tables of a release, column by column."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from holisticbias.compile.lazy_tables import InMemory, LazyTable
from holisticbias.compile.phrases import Sentences, compile_phrases
from holisticbias.compile.table_forms import FORMS, Rows, entry_rows, table_form, table_of
from holisticbias.errors import ReleaseError
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import OF_VERSIONS, SUPPORT, ArticleRule, Entry
from holisticbias.terms.file_kinds import COMPANIONS, TERMS, HeldFile, SpecificationFile, entries_key
from holisticbias.terms.prompt_entries import Group, Prompt
from holisticbias.terms.specification_entries import AttributeSet, Specification, TargetGroup
from holisticbias.terms.version_files import WITH_FORMS, WITH_PROMPTS
from holisticbias.terms.versions import version_key

KINDS = {kind: entries_key(kind).removesuffix("s") for kind in (*TERMS, *COMPANIONS)}
"""The name of an entry of each kind of file."""
KINDS_OF_TERMS = tuple(KINDS[name] for name in TERMS)
_NOT_DETAILS = {"id", "text", *OF_VERSIONS, *SUPPORT}
_HISTORY = table_form(
    "version article_rule kind group=file.group entry_id=entry.id text=entry.text plural=entry.plural "
    "article=entry.article position=entry.position bucket=entry.bucket noun_gender=entry.noun_gender "
    "preference=entry.preference paraphrase_of=entry.paraphrase_of opposite_of=entry.opposite_of+3 "
    "without_noun=entry.without_noun:truth first_turn_only=entry.first_turn_only:truth "
    f"must_be_noun=entry.must_be_noun:truth not_with=entry.not_with:list details+{WITH_PROMPTS}"
)


class HistoryRow(NamedTuple):
    """An entry in one version."""

    version: str
    article_rule: ArticleRule
    kind: str
    entry: Entry

    @property
    def details(self) -> str | None:
        """The keys that have no column, as JSON; null for descriptors, nouns and templates."""
        if self.kind in KINDS_OF_TERMS:
            return None
        keys = self.entry.model_dump(mode="json", exclude=_NOT_DETAILS, exclude_defaults=True)
        return json.dumps(keys, ensure_ascii=False, separators=(",", ":"))


def history_table(catalog: Catalog, version: str) -> pa.Table:
    """One row for each entry of each version up to ``version``, oldest version first.

    The rows of a version and its article rule determine its sentences. Keys
    that a kind of entry does not have are null. From layout 4 on the table also
    has groups, prompts and specifications, whose other keys are JSON in ``details``.
    """
    layout = catalog.release(version).layout
    return table_of(_HISTORY, list(_rows(catalog, version, layout)), layout)


def _rows(catalog: Catalog, version: str, layout: int) -> Iterator[tuple[HeldFile, HistoryRow]]:
    for past in catalog.versions:
        if version_key(past) > version_key(version):
            return
        held, rule = catalog.at(past), catalog.release(past).article_rule
        for file, entry in held.entries():
            kind = KINDS[file.kind]
            if kind in KINDS_OF_TERMS or layout >= WITH_PROMPTS:
                yield file, HistoryRow(past, rule, kind, entry)


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part of a specification: a group, a term of a slot, a word form, an attribute, a pair of opposites, a template.

    ``name`` is the group or the set of attributes that it belongs to; null for a template. Of a pair of opposites it
    is the set of the negative attribute, which is the term. The slot of a word form is the first with the term that is
    written in its place; null if no term is.
    """

    entry: Specification
    part: str
    of: TargetGroup | AttributeSet | None = None
    slot: int | None = None
    form: str | None = None
    term: str | None = None
    descriptor_id: str | None = None
    stereotype: str | None = None
    gender: str | None = None
    held_out: bool | None = None
    valence: str | None = None
    opposite: str | None = None


def specification_rows(held: Catalog, layout: int) -> Iterator[tuple[SpecificationFile, PartRow]]:
    """Groups, terms slot by slot, word forms, attributes, opposites, templates; a missing term has no row."""
    texts = {d.id: d.text for d in held.descriptors}
    for file in held.specifications:
        for entry in file.specifications:
            forms = _word_forms(entry) if layout >= WITH_FORMS else ()
            rows = (*_group_rows(entry, texts), *forms, *_attribute_rows(entry))
            yield from ((file, row) for row in rows)


def _group_rows(entry: Specification, texts: Mapping[str, str]) -> Iterator[PartRow]:
    for group in entry.groups:
        marks = group.stereotype, group.gender, group.held_out
        yield PartRow(entry, "group", group, None, None, None, None, *marks)
    for k, slot in enumerate(entry.slots):
        terms = slot.terms or tuple(texts.get(name) for name in slot.descriptors)
        for group, term, descriptor in zip(entry.groups, terms, slot.descriptors or (None,) * len(terms), strict=True):
            if term is not None:
                yield PartRow(entry, "term", group, k, slot.form, term, descriptor)


def _word_forms(entry: Specification) -> Iterator[PartRow]:
    places: dict[str | None, tuple[TargetGroup, int | None, str | None]] = {}
    for k, slot in enumerate(entry.slots):
        for group, term in zip(entry.groups, slot.terms or slot.descriptors, strict=True):
            places.setdefault(term, (group, k, slot.form))
    groups = {group.name: group for group in entry.groups}
    for forms in entry.forms:
        place = (groups[forms.group or ""], None, None) if forms.of is None else places[forms.of]
        yield from (PartRow(entry, "word_form", *place, word) for word in forms.words)


def _attribute_rows(entry: Specification) -> Iterator[PartRow]:
    for chosen in entry.attributes:
        for term in chosen.terms:
            yield PartRow(entry, "attribute", chosen, term=term, valence=chosen.valence)
    sets = {term: chosen for chosen in reversed(entry.attributes) for term in chosen.terms}
    for negative, positive in entry.opposites:
        yield PartRow(entry, "opposite", sets.get(negative), term=negative, opposite=positive)
    for template in entry.templates:
        yield PartRow(entry, "template", term=template)


def compile_tables(catalog: Catalog, version: str, *, whole: bool = True) -> Mapping[str, LazyTable]:
    """The tables of one version.

    Sentences are made when they are asked for. With ``whole`` there is a table with the sentences of each subset,
    the companions, if the version has such entries, and the history. Raises ``UnknownVersionError`` for an unknown
    version, and ``ReleaseError`` if no sentences result.
    """
    release = catalog.release(version)
    held = catalog.at(version)
    phrases = compile_phrases(held, release.article_rule, release.layout)
    if not phrases.blocks or not held.templates:
        raise ReleaseError("the version would have no sentences")
    sentences = Sentences(phrases, held.templates)
    terms = _in_memory(_terms(held, release.layout))
    tables: dict[str, LazyTable] = {"sentences": sentences, **terms, "noun_phrases": phrases}
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
    files = {"descriptors": held.axes, "nouns": held.genders, "templates": held.families}
    return {name: table_of(FORMS[name], entry_rows(of_kind), layout) for name, of_kind in files.items()}


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
