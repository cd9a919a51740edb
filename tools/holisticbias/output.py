"""Folders and files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holisticbias.errors import OutputError

PLAN = ".plan.json"


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


@contextmanager
def resumed_folder(target: Path, plan: str, may_replace: Callable[[Path], bool]) -> Iterator[Path]:
    """A folder to fill over several runs, which takes the target's place when the block ends well.

    It lies beside the target and is kept on failure: the next run with the same
    ``plan`` finds it as it was, one with another begins anew. Only one run at a
    time may fill it. Raises ``OutputError``.
    """
    target = target.absolute()
    _refuse(target, may_replace)
    part = target.parent / f".{target.name}.part"
    try:
        part.mkdir(parents=True, exist_ok=True)
        with _only_one(part, target):
            if not (part / PLAN).exists() or (part / PLAN).read_text("utf-8") != plan:
                for old in part.iterdir():
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
                (part / PLAN).write_text(plan, "utf-8")
            yield part
            (part / PLAN).unlink()
            _refuse(target, may_replace)
            _swap(part, target)
    except OSError as error:
        done = f"; what is done is kept in {part}, and the same command goes on from there"
        raise OutputError(f"cannot write {target}: {error.strerror or error}{done}") from error


@contextmanager
def _only_one(folder: Path, target: Path) -> Iterator[None]:
    """Holds the folder's lock, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise OutputError(f"another build is writing {target}: wait until it is done") from error
    try:
        yield
    finally:
        os.close(handle)


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
