"""The documentation's files: in the clone, or at the tag of a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from holisticbias.release.source_commit import run_git

FRONT = ("README.md", "CONTRIBUTING.md", "GOVERNANCE.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "CHANGELOG.md")
"""Pages outside of ``docs/``; the first is the start page."""
LATEST = "latest"


class DocsTree(ABC):
    """The repository's files at a version: ``version`` names it in addresses, ``ref`` is its branch or tag."""

    version: str
    ref: str

    @abstractmethod
    def has(self, path: str) -> bool:
        """Whether a path of the repository is a file or a folder."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """The content of a file."""

    @abstractmethod
    def _files(self, folder: str) -> Iterable[str]:
        """The paths of all files below a folder."""

    def pages(self) -> tuple[str, ...]:
        """The paths of all Markdown files of the documentation, sorted after those of ``FRONT``."""
        front = [path for path in FRONT if self.has(path)]
        return (*front, *sorted(path for path in self._files("docs") if PurePosixPath(path).suffix == ".md"))


class FolderTree(DocsTree):
    """The files of a clone, as they are now."""

    version, ref = LATEST, "main"

    def __init__(self, root: Path) -> None:
        self._root = root

    def has(self, path: str) -> bool:
        """Whether a path of the repository is a file or a folder."""
        return (self._root / path).exists()

    def read(self, path: str) -> bytes:
        """The content of a file."""
        return (self._root / path).read_bytes()

    def _files(self, folder: str) -> Iterable[str]:
        return (path.relative_to(self._root).as_posix() for path in (self._root / folder).rglob("*") if path.is_file())


class TagTree(DocsTree):
    """The files at the tag of a release."""

    def __init__(self, root: Path, version: str) -> None:
        self.version, self.ref, self._root = version, f"v{version}", root
        listed = run_git(root, "ls-tree", "-r", "--name-only", "-z", "--full-tree", f"refs/tags/{self.ref}") or b""
        self._paths = frozenset(path for path in listed.decode("utf-8", "replace").split("\0") if path)
        self._folders = frozenset(str(parent) for path in self._paths for parent in PurePosixPath(path).parents)

    def has(self, path: str) -> bool:
        """Whether a path of the repository is a file or a folder."""
        return path in self._paths or path in self._folders

    def read(self, path: str) -> bytes:
        """The content of a file."""
        return run_git(self._root, "cat-file", "blob", f"refs/tags/{self.ref}:{path}") or b""

    def _files(self, folder: str) -> Iterable[str]:
        return (path for path in self._paths if path.startswith(f"{folder}/"))


def docs_trees(root: Path, versions: Iterable[str]) -> tuple[DocsTree, ...]:
    """The documentation of a clone: of the working tree, then of each version whose tag exists, the newest first.

    Returns nothing if the folder has no ``docs``, as in an installed package. ``versions`` are in ascending order.
    """
    if not (root / "docs").is_dir():
        return ()
    tagged = [version for version in reversed(tuple(versions)) if _is_tagged(root, version)]
    return (FolderTree(root), *(TagTree(root, version) for version in tagged))


def _is_tagged(root: Path, version: str) -> bool:
    try:
        return bool(run_git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/v{version}^{{tree}}"))
    except FileNotFoundError:  # without git there are no tags
        return False
