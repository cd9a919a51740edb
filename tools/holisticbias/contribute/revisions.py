"""Revisions of the terms: a version, a git revision, or a folder."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from holisticbias.errors import SourceError
from holisticbias.release.source_commit import run_git
from holisticbias.rules.validate import validate_files
from holisticbias.source.folder import FOLDERS, SINGLE_FILES, find_source, is_source, read_source
from holisticbias.terms.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Revision:
    """One version of a catalog, with the name that it was given."""

    name: str
    catalog: Catalog
    version: str


def open_revision(name: str, root: Path | None = None) -> Revision:
    """Open a version of the terms in ``root``, a folder of terms, or a git revision of ``root``, by name.

    A folder or git revision stands for its newest version. The terms need not be
    valid: entries that break the schema and templates without a slot are left
    out. Raises ``SourceError`` if the name is none of these.
    """
    root = root or find_source()
    catalog = _read(root)
    if name in catalog.versions:
        return Revision(name, catalog, name)
    if name and Path(name).is_dir():
        return _newest(name, _read(Path(name)))
    return _newest(name, _read_commit(name, root))


def open_folder(root: Path) -> Revision:
    """Open the newest version of a folder of terms, named by its path relative to the current folder."""
    return _newest(os.path.relpath(root), _read(root))


def newest_published(root: Path | None = None) -> str:
    """The newest published version in a folder of terms; raises ``SourceError`` if there is none."""
    published = _read(root or find_source()).published
    if not published:
        raise SourceError("no version is published yet: give the version, folder or revision to compare with")
    return published[-1]


def _newest(name: str, catalog: Catalog) -> Revision:
    if not catalog.versions:
        raise SourceError(f"{name} has no version in releases/")
    return Revision(name, catalog, catalog.versions[-1])


def _read(folder: Path) -> Catalog:
    catalog, findings = validate_files(read_source(folder))
    slotless = {f.entry for f in findings if f.rule == "slot"}
    families = (
        family.model_copy(update={"templates": tuple(t for t in family.templates if t.id not in slotless)})
        for family in catalog.families
    )
    return replace(catalog, families=tuple(families))


def _read_commit(name: str, root: Path) -> Catalog:
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if commit is None:
        raise SourceError(f"{name!r} is not a version in releases/, a folder, or a git revision of {root}")
    archive = _git(root, "archive", "--format=tar", commit.decode().strip())
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive or b"")) as files:
            files.extractall(folder, [m for m in files if _is_term(m)], filter="data")
        if not is_source(Path(folder)):
            raise SourceError(f"{name} has no terms: it needs descriptors/, nouns/ and templates/")
        return _read(Path(folder))


def _is_term(member: tarfile.TarInfo) -> bool:
    first, *rest = Path(member.name).parts
    return member.isreg() and (first in FOLDERS if rest else Path(first).stem in SINGLE_FILES)


def _git(root: Path, *arguments: str) -> bytes | None:
    try:
        return run_git(root, *arguments)
    except FileNotFoundError as error:
        raise SourceError("git is not installed, so no revision can be read") from error
