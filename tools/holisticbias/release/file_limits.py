"""Limits on the files of a release, checked before they are read: a release may come from anybody."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

LARGEST_MANIFEST = 64_000_000  # bytes


def require_file(path: Path, largest: int | None = None) -> Path:
    """The path of a regular file; raises ``OSError`` if it is a pipe, a device or a folder, or too large."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if largest is not None and found.st_size > largest:
        raise OSError(errno.EFBIG, f"it has {found.st_size:,} bytes, more than {largest:,}", str(path))
    return path
