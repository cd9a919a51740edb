"""Move a term to another axis or bucket: published versions keep it where it was."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from holisticbias.contribute.authoring import Edit, entry_file, new_entry
from holisticbias.errors import SourceError
from holisticbias.source.folder import is_new, kind_files
from holisticbias.source.layout import canonical_text, format_text, read_editable
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor
from holisticbias.terms.file_kinds import DescriptorFile, Kind
from holisticbias.terms.versions import holds

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
