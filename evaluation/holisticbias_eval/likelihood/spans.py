"""Text spans: the parts of texts whose likelihood is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Int32s, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.store.keys import distinct_rows

SPAN_FIELDS = (
    ("text", pa.large_string()),
    ("start", pa.int32()),
    ("stop", pa.int32()),
    ("context", pa.large_string()),
)


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
        return Spans([self.text[i] for i in rows], self.start[rows], self.stop[rows], [self.context[i] for i in rows])

    def table(self) -> pa.Table:
        """The spans as an Arrow table with the columns ``SPAN_FIELDS``."""
        columns = (list(self.text), self.start, self.stop, list(self.context))
        arrays = [pa.array(values, kind) for values, (_, kind) in zip(columns, SPAN_FIELDS, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(SPAN_FIELDS))


def whole(texts: Sequence[str], context: Sequence[str] | None = None) -> Spans:
    """One span per text, from its first character to its last."""
    lengths = np.fromiter(map(len, texts), np.int32, len(texts))
    return Spans(texts, np.zeros(len(texts), np.int32), lengths, context or [""] * len(texts))


def parts(texts: Sequence[str], phrases: Sequence[str], context: Sequence[str] | None = None) -> Spans:
    """The first occurrence of each phrase in its text; the phrase's first letter may be a capital there.

    Raises ``SelectionError`` if a phrase is empty or is not in its text.
    """
    found = [_find(text, phrase) for text, phrase in zip(texts, phrases, strict=True)]
    start = np.array(found, np.int32).reshape(-1)
    lengths = np.fromiter(map(len, phrases), np.int32, len(texts))
    return Spans(texts, start, start + lengths, context or [""] * len(texts))


def _find(text: str, phrase: str) -> int:
    places = [text.find(p) for p in (phrase, phrase[:1].upper() + phrase[1:]) if phrase]
    known = [p for p in places if p >= 0]
    if not known:
        raise SelectionError(f"the phrase {phrase!r} is not in the text {text!r}")
    return min(known)


def joined(one: Spans, other: Spans) -> Spans:
    """The rows of both, one after the other."""
    return Spans(
        [*one.text, *other.text],
        np.concatenate((one.start, other.start)),
        np.concatenate((one.stop, other.stop)),
        [*one.context, *other.context],
    )


def unique_spans(spans: Spans) -> tuple[Spans, Ints]:
    """The distinct spans, in order of first occurrence, and for each row the position of its distinct span."""
    first, rows = distinct_rows(spans.table())
    return (spans if len(first) == len(spans) else spans.take(first)), rows
