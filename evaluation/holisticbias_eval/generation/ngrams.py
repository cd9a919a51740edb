"""Tokens that would repeat a sequence of a response."""

from __future__ import annotations

from collections.abc import Sequence


def blocked_after(tokens: Sequence[int], length: int) -> set[int]:
    """The tokens that would repeat a sequence of ``length`` tokens if they followed ``tokens``."""
    start = len(tokens) - length + 1
    if start <= 0:
        return set()
    last = tuple(tokens[start:])
    return {tokens[i + length - 1] for i in range(start) if tuple(tokens[i : i + length - 1]) == last}
