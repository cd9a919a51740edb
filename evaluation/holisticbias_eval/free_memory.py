"""Give free memory back to the system: the peaks of several steps would add up."""

from __future__ import annotations

import sys
from ctypes import CDLL

import pyarrow as pa

_MMAP_THRESHOLD = -3  # of mallopt in the GNU library
_LARGE = 1 << 20


def return_large_blocks() -> None:
    """Let the C library give blocks of more than a megabyte back as soon as they are free, for the rest of the process.

    By default it keeps blocks of up to 32 megabytes after the first one was freed.
    """
    _of_library("mallopt", _MMAP_THRESHOLD, _LARGE)


def free_memory() -> None:
    """Give memory back that this process has freed, and that Arrow and the C library keep for later."""
    pa.default_memory_pool().release_unused()
    _of_library("malloc_trim", 0)


def _of_library(function: str, *arguments: int) -> None:
    """Call a function that only the GNU library has."""
    found = getattr(CDLL(None), function, None) if sys.platform == "linux" else None
    if found is not None:
        found(*arguments)
