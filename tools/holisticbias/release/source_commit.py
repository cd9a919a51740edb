"""Which commit a folder of terms is at. It imports nothing of the package: building a wheel runs it too."""

from __future__ import annotations

import shutil
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
    git = shutil.which("git")
    if git is None:
        return None
    names = tuple(terms)
    kept = _git(git, root, "ls-files", "--", *names)
    changed = _git(git, root, "status", "--porcelain", "--", *names)
    return None if not kept or changed is None or changed else _git(git, root, "rev-parse", "HEAD")


def _git(git: str, root: Path, *arguments: str) -> str | None:
    # no optional locks: a build that is stopped must leave nothing in the repository
    command = [git, "--no-optional-locks", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - git, as we call it
    return done.stdout.strip() if done.returncode == 0 else None
