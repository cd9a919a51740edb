"""The table ``history``: the entries of all versions up to a given one, as worded in each version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from holisticbias.compile.columns import booleans, lists, strings, table
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule, Entry
from holisticbias.terms.file_kinds import WITH_PROMPTS
from holisticbias.terms.versions import version_key

TEXTS = ("text", "plural", "article", "position", "bucket", "noun_gender", "preference", "paraphrase_of")
FROM_LAYOUT_3 = ("opposite_of",)
FLAGS = ("without_noun", "first_turn_only", "must_be_noun")
KINDS = ("descriptor", "noun", "template")
COMPANIONS = {"collections": "group", "prompts": "prompt", "specifications": "specification"}
_KINDS = {"descriptors": "descriptor", "nouns": "noun", "templates": "template", **COMPANIONS}
_NOT_DETAILS = {"id", "text", "since", "until", "replaced_by", "reason", "history", "sources", "assessments"}


@dataclass(frozen=True, slots=True)
class Held:
    """An entry in one version; ``group`` is its axis, gender, family, collection or domain."""

    version: str
    article_rule: ArticleRule
    kind: str
    group: str
    entry: Entry


def history_table(catalog: Catalog, version: str) -> pa.Table:
    """One row for each entry of each version up to ``version``, oldest version first.

    The rows of a version and its article rule determine its sentences. Keys
    that a kind of entry does not have are null. From layout 4 on the table also
    has groups, prompts and specifications, whose other keys are JSON in ``details``.
    """
    rows = tuple(_held(catalog, version))
    columns: dict[str, pa.Array] = {
        name: strings([getattr(row, name) for row in rows]) for name in ("version", "article_rule", "kind", "group")
    }
    columns["entry_id"] = strings([row.entry.id for row in rows])
    texts = TEXTS if catalog.release(version).layout < 3 else (*TEXTS, *FROM_LAYOUT_3)
    columns |= {name: strings([getattr(row.entry, name, None) for row in rows]) for name in texts}
    columns |= {name: booleans([getattr(row.entry, name, None) for row in rows]) for name in FLAGS}
    columns["not_with"] = lists([getattr(row.entry, "not_with", ()) for row in rows])
    if catalog.release(version).layout >= WITH_PROMPTS:
        columns["details"] = strings([_details(row) for row in rows])
    return table(columns)


def _details(row: Held) -> str | None:
    if row.kind in KINDS:
        return None
    keys = row.entry.model_dump(mode="json", exclude=_NOT_DETAILS, exclude_defaults=True)
    return json.dumps(keys, ensure_ascii=False, separators=(",", ":"))


def _held(catalog: Catalog, version: str) -> Iterator[Held]:
    for past in catalog.versions:
        if version_key(past) > version_key(version):
            return
        held, rule = catalog.at(past), catalog.release(past).article_rule
        companions = held.companions if catalog.release(version).layout >= WITH_PROMPTS else ()
        files = (*held.axes, *held.genders, *held.families, *companions)
        yield from (Held(past, rule, _KINDS[f.kind], f.group, entry) for f in files for entry in f.entries)


@dataclass(frozen=True, slots=True)
class Changes:
    """Number of entries of one kind that a version added, changed and removed."""

    added: int
    changed: int
    removed: int


def changes(history: pa.Table) -> tuple[str, Mapping[str, Changes]] | None:
    """The version before the newest, and changes since then by kind of entry; null for a first version."""
    rows = history.to_pylist()
    versions = list(dict.fromkeys(str(row["version"]) for row in rows))
    if len(versions) < 2:
        return None
    before, after = (_entries(rows, version) for version in versions[-2:])
    more = (kind for kind in COMPANIONS.values() if any(row["kind"] == kind for row in rows))
    return versions[-2], {kind: _changes(before, after, kind) for kind in (*KINDS, *more)}


_WHICH = ("version", "article_rule", "kind", "entry_id")
_Entries = Mapping[tuple[str, str], tuple[str, ...]]


def _entries(rows: list[dict[str, object]], version: str) -> _Entries:
    return {
        (str(r["kind"]), str(r["entry_id"])): tuple(str(value) for name, value in r.items() if name not in _WHICH)
        for r in rows
        if r["version"] == version
    }


def _changes(before: _Entries, after: _Entries, kind: str) -> Changes:
    old, new = ({key for key in entries if key[0] == kind} for entries in (before, after))
    return Changes(len(new - old), sum(before[key] != after[key] for key in old & new), len(old - new))
