"""The files in a commit or a merge, read from git without a checkout, and the commit where a contribution starts."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from holisticbias.errors import SourceError
from holisticbias.release.source_commit import run_git
from holisticbias.source.folder import FOLDERS, SINGLE_FILES, SourceFile, is_source, read_source
from holisticbias.source.reading_rules import MAX_BYTES

_REGULAR = ("100644", "100755")  # not links, which may lead anywhere
_SUFFIXES = (".yaml", ".json")
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


@dataclass(frozen=True, slots=True)
class Merge:
    """The result of a merge: its tree, and the files in which both sides changed the same place."""

    tree: str
    conflicts: tuple[str, ...]


def merge_commits(base: str, head: str, root: Path) -> Merge:
    """Merge a commit into another one without a checkout; raises ``SourceError`` if git cannot merge them."""
    for name in (base, head):
        if _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}") is None:
            raise SourceError(f"{name!r} is not a commit of {root}")
    command = ["git", "--no-optional-locks", "-C", str(root), "merge-tree", "--write-tree", "-z", "--name-only"]
    done = subprocess.run([*command, "--no-messages", base, head], capture_output=True, check=False)  # noqa: S603 - no shell
    if done.returncode not in (0, 1):
        reason = " ".join(done.stderr.decode(errors="replace").split())
        raise SourceError(f"git cannot merge {head} into {base}: {reason or 'git 2.38 or newer is needed'}")
    tree, *files = filter(None, done.stdout.decode("utf-8", "replace").split("\0"))
    return Merge(tree, tuple(dict.fromkeys(files)) if done.returncode == 1 else ())


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


def common_commit(root: Path, head: str = "HEAD") -> tuple[str, str]:
    """The default branch, and the newest commit that it and ``head`` have in common.

    Raises ``SourceError`` if no default branch is known, or if it has no such commit.
    """
    for branch in _DEFAULT_BRANCHES:
        commit = _git(root, "merge-base", "--end-of-options", head, branch)
        if commit is not None:
            name = _git(root, "rev-parse", "--abbrev-ref", branch) or branch.encode()
            return name.decode().strip(), commit.decode().strip()
    raise SourceError(
        f"{root} has no commit in common with a default branch, such as origin/main: name a version, "
        "a git revision or a folder to compare with, for example HEAD"
    )


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
        path = PurePosixPath(file)
        if mode in _REGULAR and path.suffix in _SUFFIXES and ".." not in path.parts:
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
