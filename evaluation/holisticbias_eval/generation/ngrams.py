"""Tokens that would repeat a sequence of a response, or of several responses side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


class RepeatedNgrams:
    """The sequences of ``length`` tokens of one response so far; the prompt is no part of it."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._tokens: list[int] = []
        self._after: dict[tuple[int, ...], set[int]] = defaultdict(set)

    def add(self, token: int) -> None:
        """Append a token to the response."""
        self._tokens.append(token)
        if len(self._tokens) >= self._length:
            *before, last = self._tokens[-self._length :]
            self._after[tuple(before)].add(last)

    def blocked(self) -> set[int]:
        """The tokens that would repeat a sequence if they came next."""
        start = len(self._tokens) - self._length + 1
        return self._after.get(tuple(self._tokens[start:]), set()) if start >= 0 else set()


def blocked_after(tokens: Sequence[int], length: int) -> set[int]:
    """The tokens that would repeat a sequence of ``length`` tokens if they followed these tokens."""
    seen = RepeatedNgrams(length)
    for token in tokens:
        seen.add(token)
    return seen.blocked()
