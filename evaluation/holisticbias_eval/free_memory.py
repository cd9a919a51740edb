"""Give free memory back to the system: the peaks of several steps would add up."""

from __future__ import annotations

import sys
from ctypes import CDLL

import pyarrow as pa


def free_memory() -> None:
    """Give memory back that this process has freed, and that Arrow and the C library keep for later."""
    pa.default_memory_pool().release_unused()
    trim = getattr(CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # only the GNU library has it
        trim(0)
