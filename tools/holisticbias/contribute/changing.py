"""Retire, reword and move entries: published versions keep them as they were."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from holisticbias.contribute import proposals
from holisticbias.contribute.authoring import OpenTerms, new_entry
from holisticbias.contribute.entry_text import Change, Edit, Field, edit_entries, edit_nodes, read_entry, written
from holisticbias.errors import SourceError
from holisticbias.source.layout import Node
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor, Entry
from holisticbias.terms.file_kinds import TERMS, DescriptorFile, HeldFile, Kind


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry, its file, and whether a published version has it."""

    entry: Entry
    file: HeldFile
    published: bool


def find_entry(catalog: Catalog, entry_id: str) -> FoundEntry:
    """The entry with an id; raises ``SourceError`` if there is none, or if it is retired."""
    found = next(((file, entry) for file, entry in catalog.entries() if entry.id == entry_id), None)
    if found is None:
        raise SourceError(proposals.unknown_id(entry_id, (entry for _, entry in catalog.entries())))
    file, entry = found
    if entry.until is not None:
        raise SourceError(f"{entry_id} is retired since version {entry.until}, so it cannot change")
    return FoundEntry(entry, file, entry.since in catalog.published)


def retire(terms: OpenTerms, entry_id: str, replaced_by: str | None, reason: str) -> tuple[Edit, ...]:
    """The edits that retire an entry from a version in preparation on.

    An entry that no published version has is removed. Raises ``SourceError`` if the entry or its replacement is
    unknown or retired, or if the replacement is of another kind.
    """
    found = find_entry(terms.catalog, entry_id)
    same = replaced_by == entry_id
    if replaced_by is not None and (same or find_entry(terms.catalog, replaced_by).file.kind != found.file.kind):
        raise SourceError(f"{replaced_by} cannot replace {entry_id}: name another entry of {found.file.kind}/")
    change = _retired(terms, replaced_by, reason) if found.published else None
    return edit_entries(terms.root, [found.file.kind], {entry_id: change})


def _retired(terms: OpenTerms, replaced_by: str | None, reason: str) -> Change:
    """The change that retires a published entry."""
    keys = written({"until": terms.version, "replaced_by": replaced_by, "reason": reason})
    return lambda entry: entry.update(keys)


def reword(terms: OpenTerms, entry_id: str, values: Mapping[str, Field], reason: str) -> tuple[Edit, ...]:
    """The edits that give keys of an entry other values from a version in preparation on.

    A published entry keeps its earlier values in ``history``; a null value removes the key. Raises ``SourceError`` if
    the entry is unknown, its kind has no such key, or nothing changes.
    """
    found = find_entry(terms.catalog, entry_id)
    keys = type(found.entry).model_fields
    unknown = [key for key in values if key not in keys]
    if unknown:
        raise SourceError(f"an entry of {found.file.kind}/ has no key {unknown[0]!r}")
    before = {key: getattr(found.entry, key) for key in values}
    text, position = (values.get(key, getattr(found.entry, key, "standalone")) for key in ("text", "position"))
    stated = {key: proposals.stated(key, value, str(text), position) for key, value in values.items()}
    changed = {key: stated[key] for key, value in values.items() if before[key] not in (value, stated[key])}
    if not changed:
        raise SourceError(f"nothing changes: {entry_id} has these values already, or they follow from its text")
    for key, value in changed.items():
        if value is None and keys[key].is_required():
            raise SourceError(f"{key} cannot be removed: every entry of {found.file.kind}/ has one")

    def change(entry: CommentedMap) -> None:
        if found.published:
            _keep(entry, {key: before[key] for key in changed}, changed, reason, terms.version)
        for key, value in changed.items():
            if value == keys[key].default:
                entry.pop(key, None)
            else:
                entry.update(written({key: value}))

    return edit_entries(terms.root, [found.file.kind], {entry_id: change})


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


_REFERRING: tuple[Kind, ...] = ("subsets", "intersections", "specifications")


def move(terms: OpenTerms, entry_id: str, axis: str, bucket: str | None, reason: str) -> tuple[str, tuple[Edit, ...]]:
    """The new place of a descriptor in words, and the edits that move it there; for its bucket see ``new_bucket``.

    On its axis, it gets the new bucket, and a published one keeps the old one in its history. On another axis, a
    published descriptor is retired and replaced by a new entry; an unpublished one moves with its comments,
    and the files that name it name its new id.
    """
    found = find_entry(terms.catalog, entry_id)
    entry, file, published = found.entry, found.file, found.published
    if axis == file.group:
        edits = reword(terms, entry_id, {"bucket": bucket}, reason)
        return f"in the bucket {bucket} from version {terms.version} on", edits
    new_id = f"{axis}.{entry_id.partition('.')[2]}"
    moved = read_entry(terms.root, "descriptors", entry_id)
    moved.update(written({"id": new_id, "bucket": bucket, "since": terms.version if published else entry.since}))
    if bucket is None:
        moved.pop("bucket", None)
    if published:
        moved.pop("history", None)
        for assessment in moved.get("assessments", ()):
            assessment.pop("since", None)
    changes: dict[str, Change | None] = {entry_id: _retired(terms, new_id, reason)}
    if not published:
        replaced = [other.id for _, other in terms.catalog.entries() if other.replaced_by == entry_id]
        changes = {**dict.fromkeys(replaced, lambda entry: entry.update(replaced_by=new_id)), entry_id: None}
    former = edit_entries(terms.root, TERMS, changes)
    own = {source.id: source for source in file.sources if source.id in entry.sources}
    added = new_entry(terms.root, "descriptors", axis, moved, [*own.values()])
    names = [entry_id, new_id] if published else [new_id]
    said = f"retired in version {terms.version}, and {new_id} replaces it" if published else f"now {new_id}"
    return said, (*former, added, *_references(terms.root, entry_id, names))


def new_bucket(catalog: Catalog, found: FoundEntry, axis: str, bucket: str | None) -> str | None:
    """The bucket of a descriptor on an axis: the one that is given, else one of the same name.

    Raises ``SourceError`` for another entry, if the axis or the bucket is unknown, or if it is there already.
    """
    entry, former = found.entry, found.file
    if not isinstance(entry, Descriptor) or not isinstance(former, DescriptorFile):
        raise SourceError(f"{entry.id} is in {former.kind}/: only descriptors can be moved")
    axes = {file.axis: proposals.possible_buckets(file, entry.position) for file in catalog.axes}
    if axis not in axes:
        raise SourceError(f"there is no axis {axis!r}: name one of {', '.join(axes)}")
    if bucket is None and entry.bucket in axes[axis] and axis != former.axis:
        bucket = entry.bucket
    elif bucket is not None and axes[axis]:
        bucket = proposals.find_bucket(axis, axes[axis], bucket)
    if bucket not in (axes[axis] or (None,)):
        raise SourceError(f"name a bucket of {axis} with --bucket: {', '.join(axes[axis]) or 'it has none'}")
    if (axis, bucket) == (former.axis, entry.bucket):
        raise SourceError(f"{entry.id} is in that place already")
    return bucket


def _references(root: Path, entry_id: str, names: Sequence[str]) -> Iterator[Edit]:
    """The files that name a moved entry, with ``names`` in its place.

    Specifications keep the old name if that stays too: their slots have one term of each group.
    """

    def rename(values: Node) -> bool:
        if not isinstance(values, CommentedSeq):
            return False
        found = [place for place, value in enumerate(values) if value == entry_id]
        for place in reversed(found):
            values[place] = names[0]
            for name in names[1:]:
                values.insert(place + 1, name)
        return bool(found)

    return edit_nodes(root, _REFERRING[:2] if len(names) > 1 else _REFERRING, entry_id, rename)
