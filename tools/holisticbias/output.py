"""Folders and files that appear whole or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from holisticbias.errors import OutputError


@contextmanager
def new_folder(target: Path, may_replace: Callable[[Path], bool]) -> Iterator[Path]:
    """A folder to fill, which takes the target's place when the block ends well.

    A target that is there already is replaced only if it is empty or
    ``may_replace`` says so. Whatever goes wrong leaves the target as it was and
    nothing beside it. Raises ``OutputError``.
    """
    target = target.absolute()
    _refuse(target, may_replace)
    made = _beside(target)
    try:
        _make(made)
        yield made
        _refuse(target, may_replace)
        _swap(made, target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def write_file(target: Path, content: bytes) -> None:
    """Write a file, whole or not at all, over an old one of that name. Raises ``OutputError``."""
    if target.is_dir():
        raise OutputError(f"{target} is a folder: name a file")
    made = _beside(target.absolute())
    _make(made)
    try:
        (made / "new").write_bytes(content)
        (made / "new").replace(target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _beside(target: Path) -> Path:
    """A new name beside the target, known before the folder is made: an interruption in between leaves nothing."""
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}")


def _make(folder: Path) -> None:
    parent = folder.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except FileExistsError as error:
        raise OutputError(f"cannot write to {parent}: it is not a folder") from error
    except OSError as error:
        raise OutputError(f"cannot write to {parent}: {error.strerror}") from error


def _refuse(target: Path, may_replace: Callable[[Path], bool]) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise OutputError(f"{target} is not a folder: choose another name")
    if target.exists() and target.samefile(Path.cwd()):
        raise OutputError(f"{target} is the current folder, which cannot be replaced: name a folder in it")
    if target.is_dir() and any(target.iterdir()) and not may_replace(target):
        raise OutputError(f"{target} holds something else: choose another folder, or remove it first")


def _swap(made: Path, target: Path) -> None:
    """Put the new folder in the target's place; an old one steps aside first and comes back on failure."""
    if not target.exists():
        made.rename(target)
        return
    aside = _beside(target)
    try:
        target.rename(aside)
        made.rename(target)
    except BaseException:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)
