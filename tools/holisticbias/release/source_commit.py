"""Which commit a folder of terms is at. It imports nothing of the package: building a wheel runs it too."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

COMMIT = "commit.txt"  # beside the terms in a built package


def source_commit(root: Path, terms: Iterable[str]) -> str | None:
    """The commit whose terms, folders and files by name, a folder holds unchanged.

    Missing with changes, without git, and where the terms are not what the
    repository around them keeps, as those of an installed package are not;
    such a package brings the commit it was built from in a file.
    """
    if (root / COMMIT).is_file():
        return (root / COMMIT).read_text("utf-8").strip()
    names = tuple(terms)
    try:
        kept = run_git(root, "ls-files", "--", *names)
        changed = run_git(root, "status", "--porcelain", "--", *names)
        head = run_git(root, "rev-parse", "HEAD")
    except FileNotFoundError:
        return None
    return head.decode().strip() if head and kept and changed == b"" else None


def run_git(root: Path, *arguments: str) -> bytes | None:
    """The output of a git command in a folder, or None if it fails; raises ``FileNotFoundError`` without git."""
    # no optional locks: a build that is stopped must leave nothing in the repository
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - the user's own git, without a shell
    return done.stdout if done.returncode == 0 else None
