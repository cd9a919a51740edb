"""Folders and files that appear whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except FileExistsError as error:
        raise OutputError(f"cannot write to {target.parent}: it is not a folder") from error
    except OSError as error:
        raise OutputError(f"cannot write to {target.parent}: {error.strerror}") from error
    try:
        made.chmod(0o755)
        yield made
        _refuse(target, may_replace)
        _swap(made, target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _refuse(target: Path, may_replace: Callable[[Path], bool]) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise OutputError(f"{target} is not a folder: choose another name")
    if target.is_dir() and any(target.iterdir()) and not may_replace(target):
        raise OutputError(f"{target} holds something else: choose another folder, or remove it first")


def _swap(made: Path, target: Path) -> None:
    """Put the new folder in the target's place; an old one steps aside first and comes back on failure."""
    if not target.exists():
        made.rename(target)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    target.rename(aside / "old")
    try:
        made.rename(target)
    except BaseException:
        (aside / "old").rename(target)
        raise
    finally:
        with suppress(OSError):
            shutil.rmtree(aside)
