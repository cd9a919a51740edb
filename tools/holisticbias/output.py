"""Write folders and files whole or not at all, even if the writing process is killed.

A target is written in a work folder beside it, ``.NAME.holisticbias-HEX``, with up to three entries: ``new``, the
content being written; ``old``, the previous target while the two are swapped; and ``lock``, a file that the writing
process keeps locked. The system releases the lock when the process ends, even by a kill. The next command that writes
the target moves ``old`` of an abandoned folder back if the target is missing, and removes the rest.
"""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from holisticbias.errors import OutputError

PLAN = ".plan.json"
_NEW, _OLD, _LOCK = "new", "old", "lock"
_OF_RELEASE = ("manifest.json", "SHA256SUMS")


def never(_: Path) -> bool:
    """Replace no folder with files."""
    return False


def refuse_target(target: Path, may_replace: Callable[[Path], bool] = never, sources: Iterable[Path] = ()) -> None:
    """Clean up after killed commands, and raise ``OutputError`` if ``new_folder`` would refuse the target.

    A folder that holds a source, a file that is read, is refused too.
    """
    target = target.absolute()
    with _errors_name(target):
        _refuse_place(target)
        if target.parent.is_dir():
            with _locked(target.parent) as locked:
                _prepare(target, may_replace, locked)
    _refuse_sources(target, sources)


def refuse_file(target: Path, sources: Iterable[Path] = ()) -> None:
    """Raise ``OutputError`` if ``new_file`` would refuse the target, or if it is a source, a file that is read."""
    with _errors_name(target):
        _refuse_other_than_file(target)
        _refuse_place(target.absolute())
    _refuse_sources(target, sources)


@contextmanager
def new_folder(target: Path, may_replace: Callable[[Path], bool] = never) -> Iterator[Path]:
    """Yield a folder to fill, which replaces the target when the block ends without an error.

    An existing target is replaced only if it is empty or ``may_replace`` returns true. After an error the target is
    unchanged and no other files remain. Raises ``OutputError``.
    """
    target = target.absolute()
    with _errors_name(target), _work_folder(target, may_replace) as work:
        (work / _NEW).mkdir()
        yield work / _NEW
        _replace(work / _NEW, target, work / _OLD, may_replace)


@contextmanager
def resumed_folder(target: Path, plan: str, may_replace: Callable[[Path], bool], done: str = PLAN) -> Iterator[Path]:
    """Yield a folder to fill over several runs, which replaces the target when the block ends without an error.

    On failure the folder stays beside the target: the next run with the same ``plan`` continues it, and a run with
    another plan starts over. ``done`` names a file or folder in it that records what is finished, and that the target
    does not have. Only one run at a time may fill it. Raises ``OutputError``; the message of an interruption names the
    folder.
    """
    target = target.absolute()
    refuse_target(target, may_replace)
    part = target.parent / f".{target.name}.part"
    kept = f"finished work is kept in {part}; run the same command again to continue"
    _make_folder(part, target)
    try:
        with _locked(part, wait=False) as locked:
            if locked is False:
                raise OutputError(f"another build is writing {target}: wait until it ends")
            if not (part / PLAN).exists() or (part / PLAN).read_text("utf-8") != plan:
                for old in part.iterdir():
                    _remove(old)
                (part / PLAN).write_text(plan, "utf-8")
            yield part
            with _work_folder(target) as work:
                _replace(part, target, work / _OLD, may_replace, (done, PLAN))
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}; {kept}") from error
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(kept) from error


def write_file(target: Path, content: bytes) -> None:
    """Write or replace a file, whole or not at all. Raises ``OutputError``."""
    with new_file(target) as path:
        path.write_bytes(content)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield a file to fill, which replaces the target when the block ends without an error; see ``new_folder``."""
    target = target.absolute()
    refuse_file(target)
    with _errors_name(target), _work_folder(target) as work:
        yield work / _NEW
        (work / _NEW).replace(target)


def write_files(texts: Mapping[Path, str]) -> None:
    """Write texts to files, creating folders; an error writes no file. Raises ``OutputError``."""
    with ExitStack() as files:
        for path, text in texts.items():
            files.enter_context(new_file(path)).write_text(text, "utf-8")


def clean_up(paths: Iterable[Path]) -> None:
    """Remove what killed commands that wrote files to the folders of these left there; undo an interrupted swap."""
    for folder in {path.parent for path in paths if path.parent.is_dir()}:
        with _locked(folder) as locked:
            for work, target in _work_folders(folder) if locked else ():
                _recover(work, target)


@contextmanager
def _errors_name(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error


@contextmanager
def _work_folder(target: Path, may_replace: Callable[[Path], bool] | None = None) -> Iterator[Path]:
    """Make and lock a work folder, and remove it at the end; a refused target gets no work folder."""
    _refuse_place(target)
    made = [folder for folder in target.parents if not folder.exists()]
    work = _work_path(target, secrets.token_hex(8))
    with ExitStack() as stack:
        stack.callback(_remove_empty, made)
        _make_folder(target.parent, target)
        for _ in range(2):  # registered first: an interruption can follow, and can end one of the two
            stack.callback(_clean, work, target)
        with _locked(target.parent) as locked:  # until the work folder is locked, it looks abandoned
            _prepare(target, may_replace, locked)
            _make_folder(work, target)
            (work / _LOCK).touch()
            stack.enter_context(_locked(work / _LOCK))
        yield work


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, each inside the next, up to the first that is not empty."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _work_path(target: Path, token: str) -> Path:
    return target.parent / f".{target.name}.holisticbias-{token}"


def _make_folder(folder: Path, target: Path) -> None:
    """Make a folder for the target; errors name the target's parent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {target.parent}: {error.strerror}") from error


@contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[bool | None]:
    """Lock a file or folder: true, false if another process has the lock, None if the system has no locks."""
    try:
        import fcntl
    except ImportError:
        yield None
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        locked: bool | None = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            locked = False
        except OSError:  # some network file systems
            locked = None
        yield locked
    finally:
        os.close(handle)


def _prepare(target: Path, may_replace: Callable[[Path], bool] | None, locked: bool | None) -> None:
    """Clean up after killed commands, and refuse a target that must not be replaced."""
    for work, whose in _work_folders(target.parent) if locked else ():
        if whose == target:
            _recover(work, target)
    if may_replace is not None:
        _refuse(target, may_replace)


def _work_folders(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The work folders in a folder, by their names, each with its target."""
    for path in list(folder.iterdir()):
        named = re.fullmatch(r"\.(.+)\.holisticbias-[0-9a-f]{16}", path.name, re.DOTALL)
        if named and path.is_dir() and not path.is_symlink():
            yield path, folder / named[1]


def _recover(work: Path, target: Path) -> None:
    """Settle an abandoned work folder; leave it if a process holds its lock or it has other content.

    The caller holds the parent's lock.
    """
    with suppress(OSError):
        names = {path.name for path in work.iterdir()}
        if not names:
            work.rmdir()  # killed before locking it, or after clearing it
        elif _LOCK in names and names <= {_NEW, _OLD, _LOCK}:
            with _locked(work / _LOCK, wait=False) as locked:
                if locked:
                    _settle(work, target)


def _clean(work: Path, target: Path) -> None:
    if os.path.lexists(work):  # if ``rmdir`` failed, an interruption meanwhile would leave the lock on
        with suppress(OSError), _locked(target.parent):
            _settle(work, target)


def _settle(work: Path, target: Path) -> None:
    """Undo half a swap, and remove the work folder: the lock last, because it marks the folder as ours."""
    if (work / _OLD).exists() and not target.exists():
        (work / _OLD).rename(target)
    for name in (_NEW, _OLD, _LOCK):
        _remove(work / name)
    work.rmdir()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _refuse(target: Path, may_replace: Callable[[Path], bool]) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise OutputError(f"{target} is not a folder: choose another name")
    if target.exists() and target.samefile(Path.cwd()):
        raise OutputError(f"{target} is the current folder, which cannot be replaced: name a folder in it")
    if target.is_dir() and any(target.iterdir()) and not may_replace(target):
        raise OutputError(f"{target} holds something else: choose another folder, or remove it first")


def _refuse_other_than_file(target: Path) -> None:
    if target.is_dir():
        raise OutputError(f"{target} is a folder: name a file")
    if target.exists() and not target.is_file():
        raise OutputError(f"{target} is a device or a pipe, which cannot be replaced: name a file")


def _refuse_sources(target: Path, sources: Iterable[Path]) -> None:
    """Refuse a target that is one of the sources or holds one."""
    place = Path(os.path.realpath(target))
    for source in sources:
        found = Path(os.path.realpath(source))
        if place == found:
            raise OutputError(f"{target} is read, and would be lost: choose another name")
        if place in found.parents:
            raise OutputError(f"{source} would be lost with {target}, which is replaced: choose another folder")


def _refuse_place(target: Path) -> None:
    """Refuse a target where nothing can be written, or that would be one more file of a release."""
    above = next((parent for parent in target.parents if os.path.lexists(parent)), target)
    if not above.is_dir():
        raise OutputError(f"cannot write to {above}: it is not a folder")
    if not os.access(above, os.W_OK):
        raise OutputError(f"cannot write to {above}: it is read-only")
    with suppress(FileNotFoundError):
        os.lstat(_work_path(target, "0" * 16))  # fails if its name is too long, or if no file in there can be reached
    for parent in target.parents:
        if all((parent / name).is_file() for name in _OF_RELEASE):
            raise OutputError(f"{target} is inside the release {parent}, which it would spoil: choose another folder")


def _replace(
    new: Path, target: Path, old: Path, may_replace: Callable[[Path], bool], unneeded: Iterable[str] = ()
) -> None:
    """Swap the new folder, without what is unneeded, and the target; ``_settle`` undoes half a swap."""
    with _locked(target.parent):
        _refuse(target, may_replace)
        for name in unneeded:
            _remove(new / name)
        if target.exists():
            target.rename(old)
        new.rename(target)
