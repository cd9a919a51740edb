"""What a published version held: a digest of each entry, so that nothing of it changes unseen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Entry
from holisticbias.terms.file_kinds import LockFile

_HISTORY = {"until", "replaced_by", "history"}


def lock(catalog: Catalog, version: str) -> LockFile:
    """Each entry of a version by its id, in the order of the files, with a digest of how it stood.

    A key without a dot is an axis; its digest is that of the axis's label.
    """
    return next(locks(catalog, [version]))


def locks(catalog: Catalog, versions: Iterable[str]) -> Iterator[LockFile]:
    """The locks of several versions; an entry that stood alike in them is digested once."""
    known: dict[int, tuple[Entry, str]] = {}  # holds the entries, so that no other can get the id of one
    for version in versions:
        yield LockFile(version=version, entries=dict(_entries(catalog.at(version), known)))


def render_lock(locked: LockFile) -> str:
    """The content of ``releases/VERSION.lock.json``."""
    return json.dumps(locked.model_dump(), indent=1) + "\n"


def _entries(held: Catalog, known: dict[int, tuple[Entry, str]]) -> Iterator[tuple[str, str]]:
    for axis in held.axes:
        yield axis.axis, _digest(axis.label)
        yield from _digests(axis.axis, axis.descriptors, known)
    for gender in held.genders:
        yield from _digests(gender.gender, gender.nouns, known)
    for family in held.families:
        yield from _digests(family.family, family.templates, known)


def _digests(group: str, entries: Iterable[Entry], known: dict[int, tuple[Entry, str]]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        if id(entry) not in known:
            stood = entry.model_dump(exclude=_HISTORY, exclude_defaults=True)
            known[id(entry)] = entry, _digest([group, stood])
        yield entry.id, known[id(entry)][1]


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
