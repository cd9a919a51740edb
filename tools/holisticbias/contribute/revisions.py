"""Revisions of the terms: a version, a git revision, or a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from holisticbias.contribute.commits import common_commit, read_blob, read_commit
from holisticbias.errors import SourceError
from holisticbias.rules.language import slot
from holisticbias.source.findings import Finding
from holisticbias.source.folder import SourceFile, find_source, read_source
from holisticbias.source.reading_rules import MISSING_KEY, SCHEMA, UNKNOWN_KEY
from holisticbias.source.records import Repository, parse_files
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Record
from holisticbias.terms.versions import is_version

_SCHEMA = (SCHEMA.id, MISSING_KEY.id, UNKNOWN_KEY.id, slot.id)
_COMMIT = re.compile(r"[0-9a-f]{40}")
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Revision:
    """One version of a catalog, with the name that it was given."""

    name: str
    catalog: Catalog
    version: str


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one side of a comparison; ``version`` is null for their newest version.

    ``root`` is the folder of terms or the repository; ``revision`` is the commit or tree in it, null for the folder.
    """

    name: str
    files: tuple[SourceFile, ...]
    version: str | None = None
    root: Path | None = None
    revision: str | None = None

    def read(self, path: str) -> bytes | None:
        """The content of a file by its path in the repository, or as its document names it; None if it is missing."""
        if self.root is None:
            return None
        if self.revision is not None:
            return read_blob(self.revision, path, self.root)
        found = next((p for p in (self.root / path, Path(path)) if p.is_file()), None)
        return found.read_bytes() if found else None


@dataclass(frozen=True, slots=True)
class Sides:
    """Two revisions to compare; ``unread`` has the findings of the newer one's files that cannot be read.

    ``not_compared`` has the paths of these files, and the entries that break the schema, each with its file.
    """

    old: Revision
    new: Revision
    unread: tuple[Finding, ...]
    not_compared: tuple[str, ...] = ()


def named_files(name: str, root: Path | None = None) -> Files:
    """The files of a version of the terms in ``root``, of a folder of terms, or of a git revision of ``root``, by name.

    Raises ``SourceError`` if the name is none of these.
    """
    root = root or find_source()
    if is_version(name):
        files = read_source(root)
        if any(isinstance(f.document.data, dict) and f.document.data.get("version") == name for f in files):
            return Files(name, files, name, root)
    if name and Path(name).is_dir():
        return Files(name, read_source(Path(name)), None, Path(name))
    shown = name[:9] if _COMMIT.fullmatch(name) else name
    return Files(shown, read_commit(name, root), None, root, name)


def folder_files(root: Path) -> Files:
    """The files of a folder of terms, named by its path relative to the current folder."""
    return Files(os.path.relpath(root), read_source(root), None, root)


def base_files(root: Path | None = None) -> Files:
    """The files that a contribution started from: the newest commit in common with the default branch."""
    root = root or find_source()
    branch, commit = common_commit(root)
    return replace(named_files(commit, root), name=branch)


def given_files(old: str | None, new: str | None, source: Path | None) -> tuple[Files, Files]:
    """The files of two names: OLD defaults to the default branch (``base_files``), NEW to the folder of terms."""
    root = source or find_source()
    newer = folder_files(root) if new is None else named_files(new, root)
    return base_files(root) if old is None else named_files(old, root), newer


def open_sides(old: Files, new: Files) -> Sides:
    """Open two revisions, each at its version.

    The terms need not be valid. A file that cannot be read is taken from the other side, and entries that break the
    schema and templates without a slot are left out of both, so that neither looks like a change. Raises
    ``SourceError`` if a side has no version.
    """
    before, after = parse_files(old.files), parse_files(new.files)
    both = _repaired(before[0], old, new), _repaired(after[0], new, old)
    left_out = {entry for repository in both for entry in _left_out(repository)}
    unread = tuple(f for f in after[1] if f.path in after[0].unread_paths)
    broken = [f"{f.entry or 'an entry'} in {f.path}" for f in after[1] if f.rule in _SCHEMA and f not in unread]
    not_compared = (*dict.fromkeys(f.path for f in unread), *dict.fromkeys(broken))
    return Sides(_revision(old, both[0], left_out), _revision(new, both[1], left_out), unread, not_compared)


def _repaired(repository: Repository, mine: Files, other: Files) -> Repository:
    """The repository with the other side's files in place of unreadable ones."""
    if not repository.unread_paths:
        return repository
    names = {(f.kind, Path(f.document.path).name) for f in mine.files if f.document.path in repository.unread_paths}
    kept = [f for f in mine.files if f.document.path not in repository.unread_paths]
    added = [f for f in other.files if (f.kind, Path(f.document.path).name) in names]
    return parse_files(sorted((*kept, *added), key=lambda f: (f.kind, Path(f.document.path).name)))[0]


def _left_out(repository: Repository) -> Iterable[str]:
    return {*repository.left_out, *(finding.entry for finding in slot.findings(repository))}


def _revision(files: Files, repository: Repository, left_out: set[str]) -> Revision:
    catalog = _without(repository.catalog(), left_out)
    if not catalog.versions:
        raise SourceError(f"{files.name} has no version in releases/")
    return Revision(files.name, catalog, files.version or catalog.versions[-1])


def _without(catalog: Catalog, ids: set[str]) -> Catalog:
    """The catalog without some entries."""

    def kept(files: Iterable[R], key: str) -> tuple[R, ...]:
        return tuple(f.model_copy(update={key: tuple(e for e in getattr(f, key) if e.id not in ids)}) for f in files)

    if not ids:
        return catalog
    return replace(
        catalog,
        axes=kept(catalog.axes, "descriptors"),
        genders=kept(catalog.genders, "nouns"),
        families=kept(catalog.families, "templates"),
        collections=kept(catalog.collections, "groups"),
        prompts=kept(catalog.prompts, "prompts"),
        specifications=kept(catalog.specifications, "specifications"),
    )
