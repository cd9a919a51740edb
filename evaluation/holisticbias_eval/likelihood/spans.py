"""Text spans: the parts of texts whose likelihood is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Int32s, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.store.keys import distinct_rows

SPAN_FIELDS = (
    ("text", pa.large_string()),
    ("start", pa.int32()),
    ("stop", pa.int32()),
    ("context", pa.large_string()),
)
_AT_ONCE = 16_384


class Texts(Sequence[str]):
    """Texts in an Arrow array: about their UTF-8 bytes each, where a Python string takes 50 bytes more."""

    def __init__(self, array: pa.Array | pa.ChunkedArray) -> None:
        chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        self.array = chunked.cast(pa.large_string())

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        found: str = self.array[int(place)].as_py()
        return found

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self.array.slice(start, _AT_ONCE).to_pylist()


class Repeated(Sequence[str]):
    """One text, ``size`` times."""

    def __init__(self, text: str, size: int) -> None:
        self.text = text
        self._size = size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        places = range(self._size)[place]
        return Repeated(self.text, len(places)) if isinstance(places, range) else self.text

    def __iter__(self) -> Iterator[str]:
        return repeat(self.text, self._size)


def _taken(texts: Sequence[str], rows: Ints) -> Sequence[str]:
    if isinstance(texts, Repeated):
        return Repeated(texts.text, len(rows))
    return Texts(texts.array.take(pa.array(rows))) if isinstance(texts, Texts) else [texts[i] for i in rows]


def _lengths(texts: Sequence[str]) -> Int32s:
    """The number of characters of each text."""
    if isinstance(texts, Texts):
        counted: Int32s = pc.utf8_length(texts.array).to_numpy().astype(np.int32)
        return counted
    return np.fromiter(map(len, texts), np.int32, len(texts))


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of texts, one per row; every field has shape ``[rows]``.

    Row ``i`` is the characters ``start[i]`` to ``stop[i]`` (excluded) of
    ``text[i]``. ``context[i]`` is what the model reads before the text and what
    is never scored: the encoder's input of an encoder-decoder model; for every
    other model the beginning of the text, joined without a space.
    """

    text: Sequence[str]
    start: Int32s
    stop: Int32s
    context: Sequence[str]

    def __len__(self) -> int:
        return len(self.text)

    def take(self, rows: Ints) -> Spans:
        """Select rows by position, in the given order."""
        return Spans(_taken(self.text, rows), self.start[rows], self.stop[rows], _taken(self.context, rows))

    def lengths(self) -> Int32s:
        """The number of characters of each text."""
        return _lengths(self.text)

    def table(self) -> pa.Table:
        """The spans as an Arrow table with the columns ``SPAN_FIELDS``."""
        columns = (_as_arrow(self.text), pa.array(self.start), pa.array(self.stop), _as_arrow(self.context))
        arrays = [values.cast(kind) for values, (_, kind) in zip(columns, SPAN_FIELDS, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(SPAN_FIELDS))


def _as_arrow(texts: Sequence[str]) -> pa.Array | pa.ChunkedArray:
    if isinstance(texts, Repeated):
        return pa.repeat(pa.scalar(texts.text, pa.large_string()), len(texts))
    return texts.array if isinstance(texts, Texts) else pa.array(list(texts), pa.large_string())


def _joined(one: Sequence[str], other: Sequence[str]) -> Sequence[str]:
    if isinstance(one, Texts) and isinstance(other, Texts):
        return Texts(pa.chunked_array([*one.array.chunks, *other.array.chunks], pa.large_string()))
    if isinstance(one, Repeated) and isinstance(other, Repeated) and one.text == other.text:
        return Repeated(one.text, len(one) + len(other))
    return [*one, *other]


def whole(texts: Sequence[str], context: Sequence[str] | None = None) -> Spans:
    """One span per text, from its first character to its last."""
    return Spans(texts, np.zeros(len(texts), np.int32), _lengths(texts), context or Repeated("", len(texts)))


def parts(texts: Sequence[str], phrases: Sequence[str], context: Sequence[str] | None = None) -> Spans:
    """The first occurrence of each phrase in its text; the phrase's first letter may be a capital there.

    Raises ``SelectionError`` if a phrase is empty or is not in its text.
    """
    found = [_find(text, phrase) for text, phrase in zip(texts, phrases, strict=True)]
    start = np.array(found, np.int32).reshape(-1)
    lengths = np.fromiter(map(len, phrases), np.int32, len(texts))
    return Spans(texts, start, start + lengths, context or Repeated("", len(texts)))


def _find(text: str, phrase: str) -> int:
    places = [text.find(p) for p in (phrase, phrase[:1].upper() + phrase[1:]) if phrase]
    known = [p for p in places if p >= 0]
    if not known:
        raise SelectionError(f"the phrase {phrase!r} is not in the text {text!r}")
    return min(known)


def joined(one: Spans, other: Spans) -> Spans:
    """The rows of both, one after the other."""
    return Spans(
        _joined(one.text, other.text),
        np.concatenate((one.start, other.start)),
        np.concatenate((one.stop, other.stop)),
        _joined(one.context, other.context),
    )


def unique_spans(spans: Spans) -> tuple[Spans, Ints]:
    """The distinct spans, in order of first occurrence, and for each row the position of its distinct span."""
    plain = _is_plain(spans)
    if isinstance(spans.text, Texts) and plain:
        encoded = pc.dictionary_encode(spans.text.array).combine_chunks()
        rows: Ints = encoded.indices.to_numpy().astype(np.int64)
        return whole(Texts(encoded.dictionary)), rows
    first, rows = distinct_rows(spans.table(), ["text"] if plain else None)
    return (spans if len(first) == len(spans) else spans.take(first)), rows


def _is_plain(spans: Spans) -> bool:
    """Whether all spans are whole texts without a context."""
    return not any(spans.context) and not spans.start.any() and bool((spans.stop == spans.lengths()).all())
