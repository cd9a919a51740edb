"""Text spans: the parts of texts whose likelihood is computed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import ClassVar, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.terms.grammar import capitalised
from holisticbias_eval.arrays import Int32s, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.models.store.keys import Rows, distinct_rows, table_of

_AT_ONCE = 16_384


class TextRows(Sequence[str]):
    """Rows of an Arrow array of texts: the array has about their UTF-8 bytes, a Python string 50 bytes more for each.

    ``rows`` are positions in the array, None for all of it. Selecting rows copies no text.
    """

    def __init__(self, array: pa.Array | pa.ChunkedArray, rows: Ints | None = None) -> None:
        chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        self._array = chunked.cast(pa.large_string())
        self._rows = rows

    def __len__(self) -> int:
        return len(self._array) if self._rows is None else len(self._rows)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        text: str = self._array[int(place if self._rows is None else self._rows[place])].as_py()
        return text

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self._part(start, start + _AT_ONCE).to_pylist()

    def __reduce__(self) -> tuple[type["TextRows"], tuple[pa.ChunkedArray]]:
        """Another process gets the selected rows, not the array that they are rows of."""
        return TextRows, (self.column() if self._rows is not None else self._array,)

    def take(self, rows: Ints) -> "TextRows":
        """Select rows by position, in the given order."""
        if self._array.num_chunks > 1:
            self._array = pa.chunked_array([self._array.combine_chunks()])
        return TextRows(self._array, rows if self._rows is None else self._rows[rows])

    def column(self) -> pa.ChunkedArray:
        """The texts as an Arrow column of type ``large_string``."""
        return self._part(0, len(self))

    def strings(self, stop: int) -> pa.ChunkedArray:
        """The texts before position ``stop`` as an Arrow column of type ``string``; it shares their bytes in memory."""
        parts = (self._part(start, min(start + _AT_ONCE, stop)) for start in range(0, stop, _AT_ONCE))
        return pa.chunked_array([_as_strings(chunk) for part in parts for chunk in part.chunks], pa.string())

    def lengths(self) -> Int32s:
        """The number of characters of each text."""
        counted: Int32s = pc.utf8_length(self._array).to_numpy().astype(np.int32)
        return counted if self._rows is None else counted[self._rows]

    def _part(self, start: int, stop: int) -> pa.ChunkedArray:
        if self._rows is None:
            return self._array.slice(start, stop - start)
        return self._array.take(pa.array(self._rows[start:stop]))


def _as_strings(texts: pa.LargeStringArray) -> pa.StringArray:
    """Texts as strings with 32-bit offsets into the same bytes."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    shared = data.slice(ends[0], ends[-1] - ends[0]) if data else pa.py_buffer(b"")
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer((ends - ends[0]).astype(np.int32)), shared)


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

    def take(self, rows: Ints) -> "Repeated":
        """The text, once for each row."""
        return Repeated(self.text, len(rows))


def joined_texts(one: Sequence[str], other: Sequence[str]) -> Sequence[str]:
    """The texts of both, one after the other."""
    if isinstance(one, TextRows) and isinstance(other, TextRows):
        return TextRows(
            pa.chunked_array([*one.column().chunks, *other.column().chunks], pa.large_string()).combine_chunks()
        )
    if isinstance(one, Repeated) and isinstance(other, Repeated) and one.text == other.text:
        return Repeated(one.text, len(one) + len(other))
    return [*one, *other]


def text_lengths(texts: Sequence[str]) -> Int32s:
    """The number of characters of each text."""
    return texts.lengths() if isinstance(texts, TextRows) else np.fromiter(map(len, texts), np.int32, len(texts))


def text_column(texts: Sequence[str]) -> pa.Array | pa.ChunkedArray:
    """Texts as an Arrow column of type ``large_string``."""
    if isinstance(texts, Repeated):
        return pa.repeat(pa.scalar(texts.text, pa.large_string()), len(texts))
    return texts.column() if isinstance(texts, TextRows) else pa.array(list(texts), pa.large_string())


_COMPARED = 1 << 16


@dataclass(frozen=True, slots=True)
class Spans(Rows):
    """Spans of texts, one per row; every field has shape ``[rows]``.

    Row ``i`` is the characters ``start[i]`` to ``stop[i]`` (excluded) of
    ``text[i]``. ``context[i]`` is what the model reads before the text and what
    is never scored: the encoder's input of an encoder-decoder model; for every
    other model the beginning of the text, joined without a space.
    """

    FIELDS: ClassVar = (
        ("text", pa.large_string()),
        ("start", pa.int32()),
        ("stop", pa.int32()),
        ("context", pa.large_string()),
    )

    text: Sequence[str]
    start: Int32s
    stop: Int32s
    context: Sequence[str]

    def lengths(self) -> Int32s:
        """The number of characters of each text."""
        return text_lengths(self.text)

    def order(self) -> Ints:
        """The rows in the order of what the model reads, so that shared beginnings are next to each other."""
        texts = text_column(self.text)
        if not isinstance(self.context, Repeated):
            texts = pc.binary_join_element_wise(text_column(self.context), texts, pa.scalar("", pa.large_string()))
        ordered: Ints = pc.sort_indices(texts).to_numpy().astype(np.int64)
        return ordered

    def table(self) -> pa.Table:
        """The spans as an Arrow table with the columns ``FIELDS``."""
        return table_of(self.FIELDS, (text_column(self.text), self.start, self.stop, text_column(self.context)))


def whole(texts: Sequence[str], context: Sequence[str] | None = None) -> Spans:
    """One span per text, from its first character to its last."""
    return Spans(texts, np.zeros(len(texts), np.int32), text_lengths(texts), context or Repeated("", len(texts)))


def parts(texts: Sequence[str], phrases: Sequence[str], context: Sequence[str] | None = None) -> Spans:
    """The first occurrence of each phrase in its text; the phrase's first letter may be a capital there.

    Raises ``SelectionError`` if a phrase is empty or is not in its text.
    """
    places = [_find(text, phrase) for text, phrase in zip(texts, phrases, strict=True)]
    start = np.array(places, np.int32).reshape(-1)
    lengths = np.fromiter(map(len, phrases), np.int32, len(texts))
    return Spans(texts, start, start + lengths, context or Repeated("", len(texts)))


def _find(text: str, phrase: str) -> int:
    places = [text.find(p) for p in (phrase, capitalised(phrase)) if phrase]
    inside = [p for p in places if p >= 0]
    if not inside:
        raise SelectionError(f"the phrase {phrase!r} is not in the text {text!r}")
    return min(inside)


def joined(one: Spans, other: Spans) -> Spans:
    """The rows of both, one after the other."""
    return Spans(
        joined_texts(one.text, other.text),
        np.concatenate((one.start, other.start)),
        np.concatenate((one.stop, other.stop)),
        joined_texts(one.context, other.context),
    )


def unique_spans(spans: Spans) -> tuple[Spans, Ints]:
    """The distinct spans, in order of first occurrence, and for each row the position of its distinct span."""
    plain = _is_plain(spans)
    if isinstance(spans.text, TextRows) and plain:
        first, rows = _distinct_texts(spans.text.column())
    else:
        first, rows = distinct_rows(spans.table(), ["text"] if plain else None)
    return (spans if len(first) == len(spans) else spans.take(first)), rows


def _distinct_texts(texts: pa.ChunkedArray) -> tuple[Ints, Ints]:
    """The first row of each distinct text, and for each row the position of its text among the distinct ones.

    Only texts of the same length can be equal: they are compared length by length, so that few are copied at once.
    """
    first = np.empty(len(texts), np.int64)
    for rows in _rows_by_size(pc.binary_length(texts).to_numpy()):
        which = pc.dictionary_encode(texts.take(pa.array(rows)).combine_chunks()).indices.to_numpy()
        first[rows] = rows[np.unique(which, return_index=True)[1]][which]
    is_first = first == np.arange(len(first))
    return np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[first]


def _rows_by_size(sizes: Ints) -> Iterator[Ints]:
    """The rows in groups of about the same number, in order within a size; all rows of a size are in one group."""
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    start = 0
    while start < len(order):
        last = ordered[min(start + _COMPARED, len(order)) - 1]
        stop = int(np.searchsorted(ordered, last, "right"))
        yield order[start:stop]
        start = stop


def _is_plain(spans: Spans) -> bool:
    """Whether all spans are whole texts without a context."""
    return not any(spans.context) and not spans.start.any() and bool((spans.stop == spans.lengths()).all())


@dataclass(frozen=True, slots=True)
class TextWindow:
    """A part of a text: the model reads its characters from ``begin`` to ``stop``, and those from ``start`` count."""

    begin: int
    start: int
    stop: int


def uncut(text: str) -> tuple[TextWindow, ...]:
    """One window with the whole text."""
    return (TextWindow(0, 0, len(text)),)
