"""Which commit a folder of terms is at."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from holisticbias.source import FOLDERS


def source_commit(root: Path) -> str | None:
    """The commit whose terms a folder holds unchanged; missing without git, or with changes."""
    git = shutil.which("git")
    if git is None:
        return None
    changed = _git(git, root, "status", "--porcelain", "--", *FOLDERS, "*.yaml")
    commit = _git(git, root, "rev-parse", "HEAD")
    return None if changed is None or changed else commit or None


def _git(git: str, root: Path, *arguments: str) -> str | None:
    # no optional locks: a build that is stopped must leave nothing in the repository
    command = [git, "--no-optional-locks", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - git, as we call it
    return done.stdout.strip() if done.returncode == 0 else None
