"""Many texts in little memory: rows of an Arrow array, or one text many times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Int32s, Ints

_AT_ONCE = 16_384


class Texts(Sequence[str]):
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

    def __reduce__(self) -> tuple[type[Texts], tuple[pa.ChunkedArray]]:
        """Another process gets the selected rows, not the array that they are rows of."""
        return Texts, (self.column() if self._rows is not None else self._array,)

    def take(self, rows: Ints) -> Texts:
        """Select rows by position, in the given order."""
        if self._array.num_chunks > 1:
            self._array = pa.chunked_array([self._array.combine_chunks()])
        return Texts(self._array, rows if self._rows is None else self._rows[rows])

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


def joined_texts(one: Sequence[str], other: Sequence[str]) -> Sequence[str]:
    """The texts of both, one after the other."""
    if isinstance(one, Texts) and isinstance(other, Texts):
        return Texts(
            pa.chunked_array([*one.column().chunks, *other.column().chunks], pa.large_string()).combine_chunks()
        )
    if isinstance(one, Repeated) and isinstance(other, Repeated) and one.text == other.text:
        return Repeated(one.text, len(one) + len(other))
    return [*one, *other]


def taken_texts(texts: Sequence[str], rows: Ints) -> Sequence[str]:
    """Select texts by position, in the given order."""
    if isinstance(texts, Repeated):
        return Repeated(texts.text, len(rows))
    return texts.take(rows) if isinstance(texts, Texts) else [texts[i] for i in rows]


def text_lengths(texts: Sequence[str]) -> Int32s:
    """The number of characters of each text."""
    return texts.lengths() if isinstance(texts, Texts) else np.fromiter(map(len, texts), np.int32, len(texts))


def text_column(texts: Sequence[str]) -> pa.Array | pa.ChunkedArray:
    """Texts as an Arrow column of type ``large_string``."""
    if isinstance(texts, Repeated):
        return pa.repeat(pa.scalar(texts.text, pa.large_string()), len(texts))
    return texts.column() if isinstance(texts, Texts) else pa.array(list(texts), pa.large_string())
