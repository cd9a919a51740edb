"""Retire, reword and move entries: published versions keep them as they were."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from holisticbias.contribute.authoring import Edit, Field, check_edits, edited_files, entry_file, new_entry, written
from holisticbias.contribute.diff import Difference, compare
from holisticbias.contribute.revisions import Revision
from holisticbias.errors import SourceError
from holisticbias.rules.validate import validate_files
from holisticbias.source.folder import is_new, kind_files, read_source
from holisticbias.source.layout import canonical_text, format_text, read_editable
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor, Entry
from holisticbias.terms.file_kinds import DescriptorFile, Kind, entries_key
from holisticbias.terms.versions import holds


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry, its kind, and whether a published version has it."""

    entry: Entry
    kind: Kind
    published: bool


def find_entry(catalog: Catalog, entry_id: str) -> FoundEntry:
    """The entry with an id; raises ``SourceError`` if there is none, or if it is retired."""
    entries = {entry.id: (file.kind, entry) for file, entry in catalog.entries()}
    if entry_id not in entries:
        close = difflib.get_close_matches(entry_id, entries, n=3)
        hint = f"; close to it: {', '.join(close)}" if close else "; holisticbias show TEXT prints the ids of a term"
        raise SourceError(f"no entry has the id {entry_id!r}{hint}")
    kind, entry = entries[entry_id]
    if entry.until is not None:
        raise SourceError(f"{entry_id} is retired since version {entry.until}, so it cannot change")
    return FoundEntry(entry, kind, any(holds(v, entry.since, entry.until) for v in catalog.published))


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


def _editable(root: Path, found: FoundEntry) -> tuple[Path, CommentedMap, CommentedMap]:
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


_LIST = "descriptors:\n"
_REFERRING: tuple[Kind, ...] = ("specifications", "subsets", "intersections")


@dataclass(frozen=True, slots=True)
class Move:
    """A descriptor, where it is, where it goes, and the version from which it is there."""

    entry: Descriptor
    axis: DescriptorFile
    target: DescriptorFile
    bucket: str | None
    version: str
    published: bool

    @property
    def new_id(self) -> str:
        """The id at the new place: that of the old one, with the new axis."""
        return f"{self.target.axis}.{self.entry.id.partition('.')[2]}"


def plan_move(catalog: Catalog, entry_id: str, axis: str, bucket: str | None, version: str) -> Move:
    """The move of a descriptor; raises ``SourceError`` if the entry, the axis or the bucket is unknown."""
    found = [(file, d) for file in catalog.axes for d in file.descriptors if d.id == entry_id]
    targets = [file for file in catalog.axes if file.axis == axis]
    if not found:
        raise SourceError(f"no descriptor has the id {entry_id!r}: holisticbias show TERM prints the ids of a term")
    if not targets:
        raise SourceError(f"there is no axis {axis!r}: name one of {', '.join(file.axis for file in catalog.axes)}")
    (file, entry), target = found[0], targets[0]
    if entry.until is not None:
        raise SourceError(f"{entry_id} is retired, so it cannot be moved")
    if bucket is None and entry.bucket in target.buckets and target is not file:
        bucket = entry.bucket
    if bucket not in (target.buckets or (None,)):
        raise SourceError(f"name a bucket of {axis} with --bucket: {', '.join(target.buckets) or 'it has none'}")
    if target is file and bucket == entry.bucket:
        raise SourceError(f"{entry_id} is in that place already")
    published = any(holds(v, entry.since, entry.until) for v in catalog.published)
    return Move(entry, file, target, bucket, version, published)


def move_edits(root: Path, move: Move) -> tuple[Edit, ...]:
    """The edits that move a descriptor.

    On its axis, it gets the new bucket, and a published one keeps the old one in its history. On another axis, a
    published descriptor is retired and replaced by a new entry; an unpublished one moves with its comments,
    and the files that name it name its new id.
    """
    path = entry_file(root, "descriptors", move.entry.id)
    text = path.read_text("utf-8")
    start, end = _place(text, move.entry.id)
    block = text[start:end]
    if move.target is move.axis:
        changed = text[:start] + _edited(block, lambda entry: _set_bucket(entry, move)) + text[end:]
        return (Edit(path, "descriptors", format_text(changed, "descriptors")),)
    moved = _parsed(block)
    _become_new(moved, move)
    if move.published:
        left: str | None = text[:start] + _edited(block, lambda entry: _retire(entry, move)) + text[end:]
    else:
        comments = _comments_before(text, start)
        left = text[:comments] + text[end:]
        left = None if is_new(path) and left.rstrip().endswith("descriptors:") else left
    added = new_entry(root, "descriptors", move.target.axis, moved)
    former = Edit(path, "descriptors", None if left is None else format_text(left, "descriptors"))
    return (former, added, *_references(root, move))


def _place(text: str, entry_id: str) -> tuple[int, int]:
    """Start and end of an entry in a file in canonical layout, without the comments before and after it."""
    start = re.search(rf"^  - id: ['\"]?{re.escape(entry_id)}['\"]?[ \t]*(#.*)?$", text, re.MULTILINE)
    if start is None:
        raise SourceError(f"{entry_id} cannot be found in its file: run holisticbias fmt first")
    following = re.compile(r"^(  - |\S)", re.MULTILINE).search(text, start.end())
    end = _comments_before(text, following.start()) if following else len(text)
    return start.start(), end


def _comments_before(text: str, start: int) -> int:
    """The start of the comments and blank lines directly before a line."""
    lines = text[:start].split("\n")[:-1]
    kept = len(lines)
    while kept and (not lines[kept - 1].strip() or lines[kept - 1].lstrip().startswith("#")):
        kept -= 1
    return sum(len(line) + 1 for line in lines[:kept])


def _edited(block: str, change: Callable[[CommentedMap], None]) -> str:
    """The lines of an entry after a change."""
    entry = _parsed(block)
    change(entry)
    return canonical_text(CommentedMap(descriptors=CommentedSeq([entry])), "descriptors").removeprefix(_LIST)


def _parsed(block: str) -> CommentedMap:
    """The entry in some lines of a file."""
    entry: CommentedMap = read_editable(_LIST + block)["descriptors"][0]  # a copy would lose its comments
    return entry


def _set_bucket(entry: CommentedMap, move: Move) -> None:
    if move.published:
        history = entry.setdefault("history", CommentedSeq())
        wording = next((w for w in history if w.get("until") == move.version), None)
        if wording is None:
            wording = CommentedMap(until=move.version, bucket=entry.get("bucket"), reason="moved to another bucket")
            wording.fa.set_flow_style()
            history.append(wording)
        elif "bucket" not in wording:
            wording.insert(1, "bucket", entry.get("bucket"))
    entry["bucket"] = move.bucket


def _become_new(entry: CommentedMap, move: Move) -> None:
    entry["id"] = move.new_id
    entry["bucket"] = move.bucket
    if move.bucket is None:
        del entry["bucket"]
    if move.published:
        entry["since"] = move.version
        entry.pop("history", None)
        for assessment in entry.get("assessments", ()):
            assessment.pop("since", None)


def _retire(entry: CommentedMap, move: Move) -> None:
    entry["until"] = move.version
    entry["replaced_by"] = move.new_id


def _references(root: Path, move: Move) -> Iterator[Edit]:
    """The files that name a moved entry: they name the new id, beside the old one if that was published."""
    paths = [(kind, path) for kind in _REFERRING for path in (root / f"{kind}.yaml", *kind_files(root, kind))]
    for kind, path in paths:
        text = path.read_text("utf-8") if path.is_file() else ""
        if move.entry.id in text and not (kind == "specifications" and move.published):
            content = read_editable(text)
            _rename(content, move)
            yield Edit(path, kind, canonical_text(content, kind))


def _rename(node: object, move: Move) -> None:
    if isinstance(node, CommentedMap):
        for value in node.values():
            _rename(value, move)
    elif isinstance(node, CommentedSeq):
        for k, value in enumerate(tuple(node)):
            if value == move.entry.id and move.published:
                node.insert(k + 1, move.new_id)
            elif value == move.entry.id:
                node[k] = move.new_id
            else:
                _rename(value, move)
