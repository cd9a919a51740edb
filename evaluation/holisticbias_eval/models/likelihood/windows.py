"""Windows of texts that are longer than a model can read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holisticbias_eval.arrays import Int32s
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.likelihood.tokens import TextEncoder

_LEAST = 4
"""The fewest tokens of a window: below it a text is not cut further."""


@dataclass(frozen=True, slots=True)
class TextWindow:
    """A part of a text: the model reads its characters from ``begin`` to ``stop``, and those from ``start`` count."""

    begin: int
    start: int
    stop: int


def uncut(text: str) -> tuple[TextWindow, ...]:
    """One window with the whole text."""
    return (TextWindow(0, 0, len(text)),)


def token_windows(encoder: TextEncoder, texts: Sequence[str], room: int) -> list[tuple[TextWindow, ...]]:
    """The windows of each text in which at most ``room`` tokens are read; one window if the text fits.

    Every character counts in one window. Later windows begin half a window earlier, so that what they count has
    context. A text is not cut if the tokenizer does not say where tokens begin.
    """
    lengths = encoder.encode(whole(texts), first_is_scored=True).lengths
    return [
        uncut(text) if length <= room else _cut(encoder, text, room)
        for text, length in zip(texts, lengths.tolist(), strict=True)
    ]


def _cut(encoder: TextEncoder, text: str, room: int) -> tuple[TextWindow, ...]:
    """Cut a text at its tokens; a part can have more tokens than it had in the text, and is then cut smaller."""
    begins = encoder.token_begins(text)
    if begins is None:
        return uncut(text)
    size = room
    while True:
        windows = tuple(_windows(text, begins, size))
        parts = whole([text[w.begin : w.stop] for w in windows])
        longest = int(encoder.encode(parts, first_is_scored=True).lengths.max())
        if longest <= room or size <= _LEAST:
            return windows
        size = max(_LEAST, size - max(1, longest - room))


def _windows(text: str, begins: Int32s, size: int) -> Iterator[TextWindow]:
    step = size - size // 2
    stop = 0
    for first in range(0, len(begins), step):
        start, after = stop, first + size
        stop = _before_space(text, int(begins[after])) if after < len(begins) else len(text)
        if stop > start:
            yield TextWindow(_before_space(text, int(begins[first])) if first else 0, start, stop)
        if after >= len(begins):
            return


def _before_space(text: str, place: int) -> int:
    """The place before the spaces that end there: in most vocabularies a word's token has the space before it."""
    while place and text[place - 1].isspace():
        place -= 1
    return place
