"""Text from releases and models, made safe and short enough to show."""

from __future__ import annotations

import unicodedata

_NEVER_SHOWN = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """Text in which characters that move the cursor, end the line or turn the reading direction are replaced."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("\ufffd" if unicodedata.category(c) in _NEVER_SHOWN or c in _DIRECTIONS else c for c in text)


def shorten(text: str, length: int) -> str:
    """Text of at most ``length`` characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def model_title(name: str) -> str:
    """A model's name as a heading: the last part of a path, or the whole name of a repository."""
    is_path = name.startswith(("/", "./", "../", "~")) or "\\" in name or name.count("/") > 1 or name.endswith(".gguf")
    return (name.replace("\\", "/").rstrip("/").rpartition("/")[2] if is_path else name) or name
