"""Open the dump of a wiki as a stream of bytes, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from holisticbias_eval.errors import CollectError
from holisticbias_eval.models.loading.source import file_sha256

_MAGIC = {b"BZh": "bz2", b"\x1f\x8b": "gz", b"7z\xbc\xaf": "7z", b"PK\x03\x04": "zip", b"\xfd7zXZ": "xz"}
_MAGIC |= {b"\x28\xb5\x2f\xfd": "zst"}
_HASHED = 1 << 30  # bytes: a larger file is identified by its name and size
DAMAGES = (EOFError, zlib.error, gzip.BadGzipFile)
"""What the decompressors raise for a damaged file; ``bz2`` also raises ``OSError`` without a number."""


@dataclass(frozen=True, slots=True)
class DumpFile:
    """A dump on disk; ``size`` in bytes, and ``sha256`` null for files of more than 1 GiB."""

    path: Path
    size: int
    sha256: str | None


@dataclass(frozen=True, slots=True)
class DumpStream:
    """The dump's XML in ``content``; ``raw`` is the file itself, whose position says how much is read."""

    content: BinaryIO | IO[bytes]
    raw: BinaryIO | IO[bytes]


def find_dump(path: Path) -> DumpFile:
    """The dump at a path. Raises ``CollectError`` if it is not a readable file, is empty, or is of no known form."""
    try:
        if not path.is_file():
            raise CollectError(f"{path} does not exist or is not a file: name the dump of a wiki, as .xml, .bz2 or .gz")
        size = path.stat().st_size
        if not size:
            raise CollectError(f"{path} is empty: it is not the dump of a wiki")
        kind = _compression(path)
        if kind in {"7z", "zip", "xz", "zst"}:
            raise CollectError(f"{path} is a {kind} file, which is not read: unpack it, or take the .bz2 dump")
        if path.suffix in {".bz2", ".gz"} and kind != path.suffix[1:]:
            raise CollectError(f"{path} is not a {path.suffix[1:]} file: correct its name, or download it again")
        return DumpFile(path, size, file_sha256(path) if size <= _HASHED else None)
    except OSError as error:
        raise CollectError(f"{path} cannot be read: {error.strerror}") from error


@contextmanager
def open_dump(path: Path) -> Iterator[DumpStream]:
    """Open a dump; its first bytes say whether it is compressed."""
    with path.open("rb") as raw:
        kind = _compression(path)
        if kind == "bz2":
            with bz2.open(raw) as content:
                yield DumpStream(cast(IO[bytes], content), raw)
        elif kind == "gz":
            with gzip.open(raw) as unpacked:
                yield DumpStream(cast(IO[bytes], unpacked), raw)
        else:
            yield DumpStream(raw, raw)


def _compression(path: Path) -> str | None:
    with path.open("rb") as file:
        start = file.read(8)
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
