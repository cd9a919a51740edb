"""Git repositories of the tests."""

import subprocess
from pathlib import Path

_SETTINGS = ("user.name=a", "user.email=a@b.c", "core.hooksPath=/dev/null")


def git(folder: Path, *arguments: str) -> str:
    """The output of a git command in a folder, which must end well."""
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    command = ["git", "-C", str(folder), *settings, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {arguments}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def commit_all(folder: Path, message: str = "x") -> str:
    """Commit all files of a folder, first made a repository if needed, and return the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "-qb", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD")
