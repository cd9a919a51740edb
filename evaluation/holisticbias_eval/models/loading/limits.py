"""Limits of a model's configuration and GGUF header, checked before a library makes anything of them."""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from holisticbias_eval.errors import ModelError

MOST_LAYERS = 10_000
MOST_LABELS = 1_000_000
LARGEST_SIZE = 100_000_000
ATTENTION = frozenset({None, "eager", "sdpa", "flex_attention", "flash_attention_2", "flash_attention_3"})
"""The attention that transformers itself implements; another name is a repository whose code would be run."""

_ATTENTION_KEY = re.compile(r"_?attn_implementation(_internal)?")
_LIMITS = (
    (re.compile(r"^layers?$"), MOST_LAYERS),
    (re.compile(r"^labels$"), MOST_LABELS),
    (re.compile(r"size|dim|d_model|d_ff|d_kv|embd|inner|heads?|experts"), LARGEST_SIZE),
)


def check_config(name: str, config: object) -> None:
    """Raise ``ModelError`` if a configuration, as read from its file, is absurdly large or names code to download."""
    if not isinstance(config, Mapping):
        raise ModelError(f"{name}: its configuration is not a JSON object")
    _check_architectures(name, config.get("architectures"))
    for key, value in _nested(config):
        if _ATTENTION_KEY.fullmatch(key):
            _check_attention(name, key, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            words = key.rpartition("_")[2] if key not in ("d_model", "d_ff", "d_kv") else key
            limits = (number for form, number in _LIMITS if form.search(words))
            limit = next(limits, None)
            if limit is not None and value > limit:
                raise ModelError(f"{name}: its configuration has {key} {value:,}; at most {limit:,} is accepted")


def _check_architectures(name: str, architectures: object) -> None:
    names = architectures if isinstance(architectures, list) else [] if architectures is None else [None]
    if not all(isinstance(one, str) for one in names):
        raise ModelError(f"{name}: its configuration has architectures that are not a list of names")


def _check_attention(name: str, key: str, value: object) -> None:
    for part in value.values() if isinstance(value, Mapping) else (value,):
        if not isinstance(part, str | None) or part not in ATTENTION:
            raise ModelError(
                f"{name}: its configuration names the attention {str(part)[:80]!r} in {key}, whose code is never run "
                "here: remove the key, or write sdpa or eager"
            )


def _nested(config: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in config.items():
        yield str(key), value
        if isinstance(value, Mapping) and not _ATTENTION_KEY.fullmatch(str(key)):
            yield from _nested(value)


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
