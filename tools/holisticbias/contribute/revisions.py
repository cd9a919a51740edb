"""Revisions of the terms: a version, a git revision, or a folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from holisticbias.errors import SourceError
from holisticbias.release.source_commit import run_git
from holisticbias.rules.validate import validate_files
from holisticbias.source.folder import FOLDERS, SINGLE_FILES, find_source, is_source, read_source
from holisticbias.terms.catalog import Catalog

_REGULAR = ("100644", "100755")  # not links, which may lead anywhere
_SUFFIXES = (".yaml", ".json")
_LARGEST = 64_000_000  # bytes of all terms; they have one or two million


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
    with tempfile.TemporaryDirectory() as folder:
        for path, content in _term_files(name, commit.decode().strip(), root):
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        if not is_source(Path(folder)):
            raise SourceError(f"{name} has no terms: it needs descriptors/, nouns/ and templates/")
        return _read(Path(folder))


def _term_files(name: str, commit: str, root: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The files of terms in a commit; raises ``SourceError`` if they are too large.

    Blobs are read, not an archive: ``.gitattributes`` of the commit can leave files out of an archive.
    """
    names = [*FOLDERS, *(f"{kind}.yaml" for kind in SINGLE_FILES)]
    listing = _git(root, "ls-tree", "-r", "-z", "--long", commit, "--", *names) or b""
    blobs: list[tuple[PurePosixPath, str, int]] = []
    for entry in filter(None, listing.decode("utf-8", "surrogateescape").split("\0")):
        about, _, file = entry.partition("\t")
        mode, _, blob, length = about.split()
        if mode in _REGULAR and PurePosixPath(file).suffix in _SUFFIXES:
            blobs.append((PurePosixPath(file), blob, int(length)))
    large = max(blobs, key=lambda one: one[2], default=None)
    if large is not None and sum(size for _, _, size in blobs) > _LARGEST:
        raise SourceError(f"the terms of {name} have more than {_LARGEST:,} bytes; the largest file is {large[0]}")
    content = _git(root, "cat-file", "--batch", given="".join(f"{blob}\n" for _, blob, _ in blobs).encode()) or b""
    place = 0
    for path, _, size in blobs:
        begin = content.index(b"\n", place) + 1
        yield path, content[begin : begin + size]
        place = begin + size + 1


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    try:
        return run_git(root, *arguments, given=given)
    except FileNotFoundError as error:
        raise SourceError("git is not installed, so no revision can be read") from error
