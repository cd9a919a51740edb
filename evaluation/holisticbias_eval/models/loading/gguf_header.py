"""The header of a GGUF file, checked before a library reads it: a few bytes can declare values without end."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from holisticbias_eval.errors import ModelError

MOST_VALUES = 5_000_000
"""Values and tensors of a header; a vocabulary of 262,144 tokens takes 1.3 million."""
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_TEXT, _LIST = 8, 9
_CUT = "its header ends in the middle"
_DEEPEST = 4  # lists within lists
_MOST_DIMENSIONS = 8


def check_header(path: Path) -> None:
    """Raise ``ModelError`` if a header declares more than its file has bytes for, or than a model needs."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            _GgufHeader(content).check()
    except struct.error as error:
        raise ModelError(f"{path} cannot be read as GGUF: {_CUT}") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read as GGUF: {error}") from error


class _GgufHeader:
    """Reads a header from its beginning; raises ``ValueError`` or ``struct.error`` if it cannot be right."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content, self._place, self._values, self._order = content, 4, 0, "<"

    def check(self) -> None:
        version = self._number("I")
        self._order = "<" if version & 0xFFFF else ">"
        tensors, pairs = self._number("Q"), self._number("Q")
        self._count(tensors + pairs)
        for _ in range(pairs):
            self._skip_text()
            self._skip_value(self._number("I"), 0)
        for _ in range(tensors):
            self._skip_text()
            dimensions = self._number("I")
            if dimensions > _MOST_DIMENSIONS:
                raise ValueError(f"it has a tensor of {dimensions:,} dimensions")
            self._skip(8 * dimensions + 4 + 8)

    def _number(self, kind: str) -> int:
        number: int = struct.unpack_from(self._order + kind, self._content, self._place)[0]
        self._place += struct.calcsize(self._order + kind)
        return number

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            raise ValueError(f"its header declares more than {MOST_VALUES:,} values")

    def _skip(self, size: int) -> None:
        self._place += size
        if self._place > len(self._content):
            raise ValueError(_CUT)

    def _skip_text(self) -> None:
        self._skip(self._number("Q"))

    def _skip_value(self, kind: int, depth: int) -> None:
        if kind == _TEXT:
            self._skip_text()
        elif kind == _LIST and depth < _DEEPEST:
            inner, count = self._number("I"), self._number("Q")
            self._count(count)
            if inner in _SIZES:
                self._skip(count * _SIZES[inner])
            else:
                for _ in range(count):
                    self._skip_value(inner, depth + 1)
        elif kind in _SIZES:
            self._skip(_SIZES[kind])
        else:
            raise ValueError(f"its header has a value of kind {kind}")
