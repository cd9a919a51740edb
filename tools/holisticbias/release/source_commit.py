"""The commit of a folder of terms. Building a wheel runs this file, so it imports nothing from the package."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

COMMIT = "commit.txt"  # next to the terms in a built package


def source_commit(root: Path, terms: Iterable[str]) -> str | None:
    """The commit of the terms in a folder, null if they have uncommitted changes or are not in git.

    ``terms`` are the names of the folders and files of terms. An installed
    package has the commit that it was built from in the file ``commit.txt``.
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
    # without locks, an interrupted build leaves nothing in the repository
    command = [git, "--no-optional-locks", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed arguments of git
    return done.stdout.strip() if done.returncode == 0 else None
