"""The table ``history``: the entries of all versions up to a given one, as worded in each version."""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa

from holisticbias.compile.table_forms import table_form, table_of
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule, Entry
from holisticbias.terms.file_kinds import CompanionFile, TermFile
from holisticbias.terms.version_files import WITH_PROMPTS
from holisticbias.terms.versions import version_key

KINDS = {
    "descriptors": "descriptor",
    "nouns": "noun",
    "templates": "template",
    "collections": "group",
    "prompts": "prompt",
    "specifications": "specification",
}
_TERMS = ("descriptor", "noun", "template")
_NOT_DETAILS = {"id", "text", "since", "until", "replaced_by", "reason", "history", "sources", "assessments"}
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
        if self.kind in _TERMS:
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


def _rows(catalog: Catalog, version: str, layout: int) -> Iterator[tuple[TermFile | CompanionFile, HistoryRow]]:
    for past in catalog.versions:
        if version_key(past) > version_key(version):
            return
        held, rule = catalog.at(past), catalog.release(past).article_rule
        for file, entry in held.entries():
            kind = KINDS[file.kind]
            if kind in _TERMS or layout >= WITH_PROMPTS:
                yield file, HistoryRow(past, rule, kind, entry)


class Changes(NamedTuple):
    """Number of entries of one kind that a version added, changed and removed."""

    added: int
    changed: int
    removed: int


def changes(history: pa.Table) -> tuple[str, Mapping[str, Changes]] | None:
    """The version before the newest, and changes since then by kind of entry; null for a first version."""
    rows = history.to_pylist()
    versions = list(dict.fromkeys(row["version"] for row in rows))
    if len(versions) < 2:
        return None
    kinds = [kind for kind in KINDS.values() if kind in _TERMS or any(row["kind"] == kind for row in rows)]
    return versions[-2], {kind: _changes(rows, versions[-2:], kind) for kind in kinds}


def _changes(rows: list[dict[str, object]], versions: list[str], kind: str) -> Changes:
    """Compare the entries of a kind in two versions; the article rule does not count."""
    old, new = (
        {
            r["entry_id"]: {**r, "version": "", "article_rule": ""}
            for r in rows
            if (r["version"], r["kind"]) == (v, kind)
        }
        for v in versions
    )
    shared = old.keys() & new.keys()
    return Changes(len(new.keys() - old.keys()), sum(old[i] != new[i] for i in shared), len(old.keys() - new.keys()))
