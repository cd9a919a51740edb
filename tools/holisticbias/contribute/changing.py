"""Retire and reword entries: published versions keep them as they were."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from holisticbias.contribute.authoring import Edit, Field, check_edits, edited_files, entry_file, written
from holisticbias.contribute.diff import Difference, compare
from holisticbias.contribute.revisions import Revision
from holisticbias.errors import SourceError
from holisticbias.rules.validate import validate_files
from holisticbias.source.folder import is_new, read_source
from holisticbias.source.layout import canonical_text, read_editable
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Entry
from holisticbias.terms.file_kinds import Kind, entries_key
from holisticbias.terms.versions import holds


@dataclass(frozen=True, slots=True)
class Found:
    """An entry, its kind, and whether a published version has it."""

    entry: Entry
    kind: Kind
    published: bool


def find_entry(catalog: Catalog, entry_id: str) -> Found:
    """The entry with an id; raises ``SourceError`` if there is none, or if it is retired."""
    entries = {entry.id: (kind, entry) for kind, entry in catalog.entries()}
    if entry_id not in entries:
        close = difflib.get_close_matches(entry_id, entries, n=3)
        hint = f"; close to it: {', '.join(close)}" if close else "; holisticbias show TEXT prints the ids of a term"
        raise SourceError(f"no entry has the id {entry_id!r}{hint}")
    kind, entry = entries[entry_id]
    if entry.until is not None:
        raise SourceError(f"{entry_id} is retired since version {entry.until}, so it cannot change")
    return Found(entry, kind, any(holds(v, entry.since, entry.until) for v in catalog.published))


def retire(
    root: Path, catalog: Catalog, entry_id: str, replaced_by: str | None, reason: str, version: str
) -> tuple[Edit, ...]:
    """The edit that retires an entry from a version in preparation on.

    An entry that no published version has is removed. Raises ``SourceError`` if the entry or its replacement is
    unknown or retired, or if the replacement is of another kind.
    """
    found = find_entry(catalog, entry_id)
    if replaced_by is not None and (replaced_by == entry_id or find_entry(catalog, replaced_by).kind != found.kind):
        raise SourceError(f"{replaced_by} cannot replace {entry_id}: name another entry of {found.kind}/")
    path, content, entry = _editable(root, found)
    if found.published:
        entry.update(written({"until": version, "replaced_by": replaced_by, "reason": reason}))
    else:
        content[entries_key(found.kind)].remove(entry)
    empty = not content[entries_key(found.kind)]
    return (Edit(path, found.kind, None if is_new(path) and empty else canonical_text(content, found.kind)),)


def reword(
    root: Path, catalog: Catalog, entry_id: str, values: Mapping[str, Field], reason: str, version: str
) -> tuple[Edit, ...]:
    """The edit that gives keys of an entry other values from a version in preparation on.

    A published entry keeps its earlier values in ``history``; a null value removes the key. Raises ``SourceError`` if
    the entry is unknown, its kind has no such key, or nothing changes.
    """
    found = find_entry(catalog, entry_id)
    unknown = [key for key in values if key not in type(found.entry).model_fields]
    if unknown:
        raise SourceError(f"an entry of {found.kind}/ has no key {unknown[0]!r}")
    before = {key: getattr(found.entry, key) for key in values}
    changed = {key: value for key, value in values.items() if value != before[key]}
    if not changed:
        raise SourceError(f"nothing changes: {entry_id} has these values already")
    path, content, entry = _editable(root, found)
    if found.published:
        _keep(entry, {key: before[key] for key in changed}, changed, reason, version)
    defaults = {key: type(found.entry).model_fields[key].default for key in changed}
    for key, value in changed.items():
        entry.pop(key, None)
        entry.update(written({key: None if value == defaults[key] else value}))
    return (Edit(path, found.kind, canonical_text(content, found.kind)),)


def _editable(root: Path, found: Found) -> tuple[Path, CommentedMap, CommentedMap]:
    """The file of an entry, its content, and the entry in it."""
    path = entry_file(root, found.kind, found.entry.id)
    content = read_editable(path.read_text("utf-8"))
    entries = content[entries_key(found.kind)]
    return path, content, next(entry for entry in entries if entry["id"] == found.entry.id)


def _keep(
    entry: CommentedMap, before: Mapping[str, Field], after: Mapping[str, Field], reason: str, version: str
) -> None:
    """Write earlier values to the history; a value that a published version has is kept, and not written again."""
    history = entry.setdefault("history", CommentedSeq())
    wording = next((known for known in history if known["until"] == version), None)
    if wording is None:
        wording = CommentedMap(until=version)
        wording.fa.set_flow_style()
        history.append(wording)
    for key, value in before.items():
        if key not in wording:
            wording.insert(1, key, None if value is None else written({key: value})[key])
        elif wording[key] == after[key]:
            del wording[key]
    if set(wording) <= {"until", "reason"}:
        history.remove(wording)
    else:
        wording.pop("reason", None)
        wording.update(written({"reason": reason}))
    if not history:
        del entry["history"]


def difference(root: Path, catalog: Catalog, edits: Sequence[Edit], version: str, samples: int = 6) -> Difference:
    """The difference that edits make to a version; raises ``SourceError`` if they break a rule."""
    check_edits(root, edits)
    after = validate_files(edited_files(read_source(root), edits))[0]
    before = version if version in catalog.versions else catalog.versions[-1]
    return compare(Revision(before, catalog, before), Revision(version, after, version), samples)
