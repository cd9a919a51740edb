"""The commit of a folder of terms. Imports nothing from the package, because the build of a wheel runs it too."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

COMMIT = "commit.txt"  # next to the terms in an installed package


def source_commit(root: Path, terms: Iterable[str]) -> str | None:
    """The commit of the terms in a folder, read from git or from the file in an installed package.

    ``terms`` are the names of folders and files in ``root``. None if they have
    uncommitted changes, if the repository does not track them, or without git.
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


def run_git(root: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    """The output of a git command in a folder, or None if it fails; raises ``FileNotFoundError`` without git.

    ``given`` is what the command reads.
    """
    # no optional locks: a build that is stopped must leave nothing in the repository
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, check=False, input=given)  # noqa: S603 - the user's own git, without a shell
    return done.stdout if done.returncode == 0 else None
