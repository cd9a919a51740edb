"""Figures and names as people read them."""

from __future__ import annotations

import math
import unicodedata
from typing import Literal

from holisticbias_eval.figures import P_RESOLUTION

Kind = Literal[
    "text", "count", "share", "known_share", "points", "effect", "perplexity", "nats", "tokens", "difference",
    "interval", "points_interval", "rank", "rank_interval", "p_value",
]  # fmt: skip
Cell = str | int | float | tuple[float, float] | None

MISSING = {
    "share": "none to test", "known_share": "not computed", "text": "", "perplexity": "missing", "nats": "missing",
    "rank": "not ranked", "rank_interval": "not ranked", "points": "not known", "points_interval": "not known",
    "p_value": "not known",
}  # fmt: skip
INTERVALS: dict[Kind, Kind] = {"interval": "share", "points_interval": "points", "rank_interval": "rank"}
_NEVER_SHOWN = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def show(value: Cell, kind: Kind) -> str:
    """A cell as text; a missing figure says that it is missing, an interval names its two ends."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, tuple):
        low, high = (show(end, INTERVALS.get(kind, kind)) for end in value)
        return f"{low.removesuffix(' points')} to {high}"
    if value is None or math.isnan(value):
        return MISSING.get(kind, "not defined")
    return "infinite" if math.isinf(value) else _number(value, kind)


def _number(value: float, kind: Kind) -> str:
    if kind in ("share", "known_share"):
        return f"{value:.1%}"
    if kind == "points":
        return f"{100 * value:+z.1f} points"
    if kind == "effect":
        return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
    if kind == "difference":
        return f"{value:+z.2f}"
    if kind == "perplexity":
        return _perplexity(value)
    if kind == "nats":
        return f"{value:,.1f}"
    if kind == "p_value":
        return f"{value:.3f}" if value >= P_RESOLUTION else f"< {P_RESOLUTION:g}"
    return f"{value:,g}" if kind == "tokens" else f"{value:,}"


def _perplexity(value: float) -> str:
    if value >= 1e7:
        return f"{value:.2e}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def printable(text: str) -> str:
    """Text with what would move a cursor, turn the reading direction or end a line shown as a replacement mark."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("\ufffd" if unicodedata.category(c) in _NEVER_SHOWN or c in _DIRECTIONS else c for c in text)


def title(key: str) -> str:
    """The key of an axis or a bucket as words."""
    words = key.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def model_title(name: str) -> str:
    """A model's name as a heading: a folder's or a file's own name, a repository's whole one."""
    is_path = name.startswith(("/", "./", "../", "~")) or "\\" in name or name.count("/") > 1 or name.endswith(".gguf")
    return (name.replace("\\", "/").rstrip("/").rpartition("/")[2] if is_path else name) or name


def shorten(text: str, length: int) -> str:
    """Text of at most ``length`` characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
