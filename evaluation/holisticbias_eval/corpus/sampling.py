"""Draw distinct texts of a stream at random, in bounded memory."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from hashlib import blake2b
from typing import Generic, Literal, TypeVar

T = TypeVar("T")
Offered = Literal["held", "repeated", "not drawn"]


class Reservoir(Generic[T]):
    """Holds at most ``size`` of the distinct texts that it is offered, each with its first value.

    Each text has a random number, which depends on the text and the seed alone, and the texts with the smallest numbers
    stay. They are a random draw of all distinct texts, without replacement, whatever their order and repeats; the draw
    of a smaller size is its beginning. Source: bottom-k sketches, Cohen and Kaplan 2007.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._key = size, str(seed).encode()[:64]  # the longest key of blake2b
        self._values: dict[str, T] = {}
        self._largest: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._values)

    def offer(self, text: str, value: T) -> Offered:
        """Take a text; the answer is ``repeated`` if it is held already."""
        if text in self._values:
            return "repeated"
        number = -int.from_bytes(blake2b(text.encode(), digest_size=8, key=self._key).digest(), "big")
        if len(self._values) < self._size:
            heapq.heappush(self._largest, (number, text))
        elif self._largest and number > self._largest[0][0]:
            del self._values[heapq.heapreplace(self._largest, (number, text))[1]]
        else:
            return "not drawn"
        self._values[text] = value
        return "held"

    def drawn(self) -> Mapping[str, T]:
        """The texts that are held with their values, in random order."""
        return {text: self._values[text] for _, text in sorted(self._largest, reverse=True)}
