"""Files that are read: regular ones, and the one line in which an unreadable file is refused."""

import errno
import hashlib
import re
import reprlib
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from holisticbias.errors import HolisticBiasError, in_one_line

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


@contextmanager
def refuse_unreadable(source: Path | str, error: type[HolisticBiasError], remedy: str = "") -> Iterator[None]:
    """Raise ``error`` with the remedy if the system or Arrow cannot read a file within the block.

    ``source`` names what is read; a file that it does not name is added.
    """
    try:
        yield
    except (OSError, _arrow_error()) as cause:  # the tuple is made when an error is raised
        reason = getattr(cause, "strerror", None) or in_one_line(cause)
        file = getattr(cause, "filename", None)
        said = f"{source} cannot be read: {reason}" + (f" ({file})" if file and str(file) not in str(source) else "")
        raise error(f"{said}; {remedy}" if remedy else said) from cause


def _arrow_error() -> type[Exception]:
    """The base class of Arrow's errors: most commands on terms never import it."""
    from pyarrow import ArrowException

    return cast(type[Exception], ArrowException)


def path_of(argument: str, value: object, error: type[HolisticBiasError]) -> Path:
    """The path of a file or folder that a caller names; raises ``error`` for anything else."""
    if not isinstance(value, str | Path):
        raise error(f"{argument}: it must be the name of a file or folder, not {type(value).__name__}")
    refuse_broken(argument, str(value), error)
    return Path(value)


def has_file(name: str) -> Callable[[Path], bool]:
    """A test of whether a folder holds the file by which a command knows the folders that it wrote."""
    return lambda folder: (folder / name).is_file()


def truth_of(argument: str, value: object, error: type[HolisticBiasError]) -> bool:
    """Whether a caller gives True, or 1, not False or 0; raises ``error`` for anything else."""
    if isinstance(value, int) or type(value).__name__ in ("bool", "bool_"):  # numpy has its own
        return bool(value)
    raise error(f"{argument}: it must be True or False, not {type(value).__name__}")


def whole_text(text: str) -> str:
    """The text with U+FFFD in place of half a character, which no file can hold."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def refuse_broken(argument: str, text: str, error: type[HolisticBiasError]) -> None:
    """Raise ``error`` for a text that no file and no name of a file can hold."""
    broken = "half a character" if _HALF_CHARACTER.search(text) else "a null character" if "\0" in text else None
    if broken:
        raise error(f"{argument}: {text[:80]!r} has {broken}, which no file can hold: remove it")


def texts_of(argument: str, value: object, error: type[HolisticBiasError], *, some: bool = False) -> tuple[str, ...]:
    """A text, or several, that a caller gives, at least one if ``some``; raises ``error`` for anything else."""
    try:
        texts = (value,) if isinstance(value, str) else tuple(cast(Iterable[object], value))
    except TypeError:  # an array without a dimension says that it can be iterated over
        texts = (value,)
    if (some and not texts) or not all(isinstance(text, str) for text in texts):
        raise error(f"{argument}: it must be a text, or a list of texts, not {in_one_line(reprlib.repr(value))}")
    found = cast(tuple[str, ...], texts)
    for text in found:
        refuse_broken(argument, text, error)
    return found


def require_file(path: Path, largest: int | None = None) -> Path:
    """The path of a regular file; raises ``OSError`` if it is a pipe, a device or a folder, or too large."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if largest is not None and found.st_size > largest:
        raise OSError(errno.EFBIG, f"it has {found.st_size:,} bytes, more than {largest:,}", str(path))
    return path


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, as 64 hexadecimal digits; raises ``OSError`` if it is a pipe, a device or a folder."""
    with require_file(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_sha256(paths: Iterable[Path]) -> str:
    """SHA-256 of several files: of a line for each with its digest and its name, as sha256sum writes it."""
    lines = "".join(f"{file_sha256(path)}  {path.name}\n" for path in paths)
    return hashlib.sha256(lines.encode()).hexdigest()


Stamp = tuple[int, int, int] | None


def file_stamp(path: Path) -> Stamp:
    """The size of a file, its time of change and its number in the file system; null if it is missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino
