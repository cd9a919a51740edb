"""Locks: a digest of each entry of a published version, to detect changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Entry
from holisticbias.terms.file_kinds import LockFile

_HISTORY = {"until", "replaced_by", "reason", "history"}


def lock(catalog: Catalog, version: str) -> LockFile:
    """The lock of a version: a digest of each entry as it was then, by id, in the order of the files.

    A key without a dot is an axis, whose digest is that of its label, or a file of collections or prompts, whose
    digest is that of the values that its entries share.
    """
    return next(locks(catalog, [version]))


def locks(catalog: Catalog, versions: Iterable[str]) -> Iterator[LockFile]:
    """The locks of several versions; an entry that is the same in several is digested once."""
    known: dict[int, tuple[Entry, str]] = {}  # keeps the entries alive, so that their ids stay unique
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
    for file in held.companions:
        if file.shared:
            yield file.place, _digest(file.shared)
        yield from _digests(file.place, file.entries, known)


def _digests(group: str, entries: Iterable[Entry], known: dict[int, tuple[Entry, str]]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        if id(entry) not in known:
            worded = entry.model_dump(exclude=_HISTORY, exclude_defaults=True)
            known[id(entry)] = entry, _digest([group, worded])
        yield entry.id, known[id(entry)][1]


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
