"""Give free memory back to the system."""

from __future__ import annotations

import sys
from ctypes import CDLL

import pyarrow as pa


def free_memory() -> None:
    """Give memory that this process has freed, and still holds, back to the system.

    Arrow and the C library keep it for later; after a step that needed hundreds of megabytes more than is kept,
    the peaks of several steps would add up.
    """
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(CDLL(None), "malloc_trim", None)  # of the GNU library
        if trim is not None:
            trim(0)
