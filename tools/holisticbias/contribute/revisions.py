"""Revisions of the terms: a version, a folder, or a git revision, which is read without a checkout."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from holisticbias.errors import SourceError
from holisticbias.release.source_commit import run_git
from holisticbias.rules.language import slot
from holisticbias.source.findings import Finding
from holisticbias.source.folder import (
    LOCK_SUFFIX,
    NAMES,
    NEW,
    SourceFile,
    find_source,
    is_source,
    is_yaml,
    read_source,
)
from holisticbias.source.reading_rules import MAX_BYTES, MISSING_KEY, SCHEMA, UNKNOWN_KEY
from holisticbias.source.records import Repository, parse_files
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import is_version

_SCHEMA = (SCHEMA.id, MISSING_KEY.id, UNKNOWN_KEY.id, slot.id)
_COMMIT = re.compile(r"[0-9a-f]{40}")


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


def named_files(name: str, root: Path) -> Files:
    """The files of a version of the terms in ``root``, of a folder of terms, or of a git revision of ``root``, by name.

    Raises ``SourceError`` if the name is none of these.
    """
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


def given_files(old: str | None, new: str | None, source: Path | None) -> tuple[Files, Files]:
    """The files of two names; NEW defaults to the folder of terms, and OLD to what a contribution started from.

    That is the newest commit in common with the default branch.
    """
    root = source or find_source()
    newer = folder_files(root) if new is None else named_files(new, root)
    if old is not None:
        return named_files(old, root), newer
    branch, commit = common_commit(root)
    return replace(named_files(commit, root), name=branch), newer


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
    catalog = repository.catalog().changed(lambda entry: None if entry.id in left_out else entry)
    if not catalog.versions:
        raise SourceError(f"{files.name} has no version in releases/")
    return Revision(files.name, catalog, files.version or catalog.versions[-1])


_REGULAR = ("100644", "100755")  # not links, which may lead anywhere
_LARGEST = 64_000_000  # bytes of all terms; they have one or two million
_DEFAULT_BRANCHES = (
    *(f"{remote}/{branch}" for remote in ("upstream", "origin") for branch in ("HEAD", "main", "master")),
    *("main", "master"),
)


def read_commit(name: str, root: Path) -> tuple[SourceFile, ...]:
    """The files of terms in a git revision, by their paths in it; raises ``SourceError`` if it has none."""
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{tree}}")
    if commit is None:
        raise SourceError(f"{name!r} is not a version in releases/, a folder, or a git revision of {root}")
    with tempfile.TemporaryDirectory() as folder:
        for path, content in _term_files(name, commit.decode().strip(), root):
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        if not is_source(Path(folder)):
            raise SourceError(f"{name} has no terms: it needs descriptors/, nouns/ and templates/")
        return read_source(Path(folder), relative=True)


def merge_commits(base: str, head: str, root: Path) -> tuple[str, tuple[str, ...]]:
    """Merge a commit into another one without a checkout; raises ``SourceError`` if git cannot merge them.

    Returns the tree, and the files in which both sides changed the same place.
    """
    for name in (base, head):
        if _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}") is None:
            raise SourceError(f"{name!r} is not a commit of {root}")
    command = ["git", "--no-optional-locks", "-C", str(root), "merge-tree", "--write-tree", "-z", "--name-only"]
    done = subprocess.run([*command, "--no-messages", base, head], capture_output=True, check=False)  # noqa: S603 - no shell
    if done.returncode not in (0, 1):
        reason = " ".join(done.stderr.decode(errors="replace").split())
        raise SourceError(f"git cannot merge {head} into {base}: {reason or 'git 2.38 or newer is needed'}")
    tree, *files = filter(None, done.stdout.decode("utf-8", "replace").split("\0"))
    return tree, tuple(dict.fromkeys(files)) if done.returncode == 1 else ()


def start_of(head: str, base: str, root: Path) -> Files:
    """The files at the newest common commit of two commits that git can merge, under the name of ``base``."""
    commit = _git(root, "merge-base", "--end-of-options", base, head) or b""
    return replace(named_files(commit.decode().strip(), root), name=base)


def read_blob(name: str, path: str, root: Path) -> bytes | None:
    """The content of a file in a git revision; None if it does not have it, or if it is large or not a plain file."""
    entry = (_git(root, "ls-tree", "-z", "--long", name, "--", path) or b"").decode("utf-8", "replace")
    found = re.match(r"(\d+) blob ([0-9a-f]+) +(\d+)\t", entry)
    if not found or found[1] not in _REGULAR or int(found[3]) > MAX_BYTES:
        return None
    return _git(root, "cat-file", "blob", found[2])


def changed_paths(old: str, new: str, root: Path) -> tuple[str, ...]:
    """The paths of the files that differ between two git revisions."""
    listed = _git(root, "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new) or b""
    return tuple(filter(None, listed.decode("utf-8", "replace").split("\0")))


def common_commit(root: Path) -> tuple[str, str]:
    """The default branch, and the newest commit that it and the current one have in common.

    Raises ``SourceError`` if no default branch is known, or if it has no such commit.
    """
    for branch in _DEFAULT_BRANCHES:
        commit = _git(root, "merge-base", "--end-of-options", "HEAD", branch)
        if commit is not None:
            name = _git(root, "rev-parse", "--abbrev-ref", branch) or branch.encode()
            return name.decode().strip(), commit.decode().strip()
    if _git(root, "rev-parse", "HEAD") is None:
        versions = "a version (holisticbias releases lists them)"
        raise SourceError(f"{root} has no git commits: name {versions} or a folder to compare with")
    raise SourceError(
        f"{root} has no commit in common with a default branch, such as origin/main: name a version, "
        "a git revision or a folder to compare with, for example HEAD"
    )


def _term_files(name: str, commit: str, root: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The files of terms in a commit; raises ``SourceError`` if they are too large.

    Blobs are read, not an archive: ``.gitattributes`` of the commit can leave files out of an archive.
    """
    listing = _git(root, "ls-tree", "-r", "-z", "--long", commit, "--", *NAMES) or b""
    blobs: list[tuple[PurePosixPath, str, int]] = []
    for entry in filter(None, listing.decode("utf-8", "surrogateescape").split("\0")):
        about, _, file = entry.partition("\t")
        mode, _, blob, length = about.split()
        path = PurePosixPath(file)
        read = is_yaml(path) or path.name.endswith(LOCK_SUFFIX) or path.parts[1:2] == (NEW,)
        if mode in _REGULAR and read and ".." not in path.parts:
            blobs.append((path, blob, int(length)))
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
