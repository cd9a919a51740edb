"""Folders and files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
    if target.parent.is_dir():
        with _locked(target.parent):  # or another build could be taking its place just now
            _refuse(target, may_replace)
    made = _beside(target)
    try:
        _make(made)
        yield made
        _replace(made, target, may_replace)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def resumed_folder(target: Path, plan: str, may_replace: Callable[[Path], bool]) -> Iterator[Path]:
    """A folder to fill over several runs, which takes the target's place when the block ends well.

    It lies beside the target and is kept on failure: the next run with the same
    ``plan`` finds it as it was, one with another begins anew. Only one run at a
    time may fill it. Raises ``OutputError``; an interruption says where it lies.
    """
    target = target.absolute()
    if target.parent.is_dir():
        with _locked(target.parent):  # or another build could be taking its place just now
            _refuse(target, may_replace)
    part = target.parent / f".{target.name}.part"
    kept = f"what is done is kept in {part}, and the same command goes on from there"
    try:
        part.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {target.parent}: {error.strerror}") from error
    try:
        with _locked(part, f"another build is writing {target}: wait until it is done"):
            if not (part / PLAN).exists() or (part / PLAN).read_text("utf-8") != plan:
                for old in part.iterdir():
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
                (part / PLAN).write_text(plan, "utf-8")
            yield part
            (part / PLAN).unlink()
            _replace(part, target, may_replace)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}; {kept}") from error
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(kept) from error


@contextmanager
def _locked(folder: Path, message: str | None = None) -> Iterator[None]:
    """Holds the folder's lock, where the system has such locks; fails with the message rather than wait for it."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if message is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise OutputError(message or str(error)) from error
    finally:
        os.close(handle)


def write_file(target: Path, content: bytes) -> None:
    """Write a file, whole or not at all, over an old one of that name. Raises ``OutputError``."""
    with new_file(target) as path:
        path.write_bytes(content)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """A file to fill, which takes the place of an old one when the block ends well. Raises ``OutputError``."""
    if target.is_dir():
        raise OutputError(f"{target} is a folder: name a file")
    made = _beside(target.absolute())
    try:
        _make(made)
        yield made / "new"
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


def write_files(texts: Mapping[Path, str]) -> None:
    """Write texts to files, each with its folder, all or none; raises ``OutputError``."""
    made: dict[Path, Path] = {}
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            made[path] = path.with_name(f".{path.name}.new")
            made[path].write_text(text, "utf-8")
        for path, new in made.items():
            new.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {error.filename or 'the files'}: {error.strerror or error}") from error
    finally:
        for new in made.values():
            new.unlink(missing_ok=True)


def _refuse(target: Path, may_replace: Callable[[Path], bool]) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise OutputError(f"{target} is not a folder: choose another name")
    if target.exists() and target.samefile(Path.cwd()):
        raise OutputError(f"{target} is the current folder, which cannot be replaced: name a folder in it")
    if target.is_dir() and any(target.iterdir()) and not may_replace(target):
        raise OutputError(f"{target} holds something else: choose another folder, or remove it first")


def _replace(made: Path, target: Path, may_replace: Callable[[Path], bool]) -> None:
    """One build at a time takes its place."""
    with _locked(target.parent):
        _refuse(target, may_replace)
        _swap(made, target)


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
