"""Words of texts as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Ints


@dataclass(frozen=True, slots=True)
class Words:
    """Words of texts: text ``i`` has the words ``codes[starts[i]:starts[i + 1]]``, places in ``vocabulary``.

    ``codes`` has shape ``[words]``, ``starts`` shape ``[texts + 1]``.
    """

    codes: Ints
    starts: Ints
    vocabulary: pa.LargeStringArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """The number of words of each text: shape ``[texts]``."""
        return np.diff(self.starts)

    @property
    def rows(self) -> Ints:
        """The text of each word: shape ``[words]``."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: Ints) -> Words:
        """Select texts by position, in the given order."""
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        return Words(self.codes[np.repeat(self.starts[:-1][rows], lengths) + within], starts, self.vocabulary)


def split_words(*columns: pa.ChunkedArray) -> tuple[Words, ...]:
    """Split the texts of each column into words of one vocabulary.

    A word is a run of letters, digits and apostrophes within them; case, other
    characters and the form of apostrophes are ignored. A null has no words.
    """
    texts = pa.concat_arrays([_normalised(column) for column in columns])
    found = pc.split_pattern(texts, " ")
    lengths = np.where(pc.binary_length(texts).to_numpy() > 0, pc.list_value_length(found).to_numpy(), 0)
    values = pc.list_flatten(found)
    encoded = pc.dictionary_encode(values.filter(pc.greater(pc.binary_length(values), 0)))
    codes, starts = encoded.indices.to_numpy().astype(np.int64), np.concatenate([[0], np.cumsum(lengths)])
    ends = np.cumsum([0, *(len(column) for column in columns)])
    return tuple(
        Words(codes[starts[a] : starts[b]], starts[a : b + 1] - starts[a], encoded.dictionary)
        for a, b in pairwise(ends.tolist())
    )


def _normalised(column: pa.ChunkedArray) -> pa.LargeStringArray:
    """The words of each text with one blank between them."""
    texts = pc.fill_null(column.cast(pa.large_string()), pa.scalar("", pa.large_string()))
    texts = pc.replace_substring_regex(texts, "[’‘ʼ`´]", "'")  # noqa: RUF001 - apostrophes as people write them
    texts = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC"))
    texts = pc.replace_substring_regex(texts, r"[^\p{L}\p{M}\p{N}']+", " ")
    for edge in (r"(^| )'+", r"'+( |$)"):
        texts = pc.replace_substring_regex(texts, edge, r"\1")
    texts = pc.utf8_trim_whitespace(texts)
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def has_phrase(words: Words, phrase: Sequence[str]) -> Bools:
    """Whether each text has these words one after the other: shape ``[texts]``."""
    places = pc.index_in(pa.array(list(phrase), pa.large_string()), words.vocabulary)
    found = np.zeros(len(words), bool)
    if places.null_count or not len(places):
        return found
    wanted = places.to_numpy()
    at = np.flatnonzero(words.codes == wanted[0])
    row = np.searchsorted(words.starts, at, side="right") - 1
    inside = at + len(wanted) <= words.starts[row + 1]
    at, row = at[inside], row[inside]
    for offset, code in enumerate(wanted[1:].tolist(), 1):
        same = words.codes[at + offset] == code
        at, row = at[same], row[same]
    found[row] = True
    return found


def starts_with(words: Words, beginnings: Words) -> Bools:
    """Whether each text starts with the words of its beginning; never if that has none: shape ``[texts]``.

    Both have the same vocabulary and the same number of texts.
    """
    lengths = beginnings.lengths
    long_enough = np.flatnonzero((lengths > 0) & (words.lengths >= lengths))
    wanted = beginnings.take(long_enough)
    within = np.arange(len(wanted.codes)) - np.repeat(wanted.starts[:-1], wanted.lengths)
    same = words.codes[np.repeat(words.starts[:-1][long_enough], wanted.lengths) + within] == wanted.codes
    different = np.bincount(wanted.rows[~same], minlength=len(long_enough))
    found = np.zeros(len(words), bool)
    found[long_enough] = different == 0
    return found
