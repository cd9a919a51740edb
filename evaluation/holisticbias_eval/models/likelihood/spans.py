"""Text spans: the parts of texts whose likelihood is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Int32s, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.models.likelihood.texts import (
    Repeated,
    Texts,
    joined_texts,
    taken_texts,
    text_column,
    text_lengths,
)
from holisticbias_eval.models.store.keys import distinct_rows

SPAN_FIELDS = (
    ("text", pa.large_string()),
    ("start", pa.int32()),
    ("stop", pa.int32()),
    ("context", pa.large_string()),
)
_COMPARED = 1 << 16


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
        return Spans(taken_texts(self.text, rows), self.start[rows], self.stop[rows], taken_texts(self.context, rows))

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
        """The spans as an Arrow table with the columns ``SPAN_FIELDS``."""
        columns = (text_column(self.text), pa.array(self.start), pa.array(self.stop), text_column(self.context))
        arrays = [values.cast(kind) for values, (_, kind) in zip(columns, SPAN_FIELDS, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(SPAN_FIELDS))


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
    places = [text.find(p) for p in (phrase, phrase[:1].upper() + phrase[1:]) if phrase]
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
    if isinstance(spans.text, Texts) and plain:
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
