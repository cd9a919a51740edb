"""Words of texts as arrays: phrases, frequent runs, the longest common run, and distinct words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import gammaln

from holisticbias_eval.arrays import Bools, Floats, Int32s, Ints

_APOSTROPHES = "['’‘ʼ`´]"  # noqa: RUF001 - as people write them
_APART = rf"(?!{_APOSTROPHES})[\W_]"
"""What is not part of a word: apostrophes are if they stand inside it."""


@dataclass(frozen=True, slots=True)
class WordArrays:
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

    def take(self, rows: Ints) -> "WordArrays":
        """Select texts by position, in the given order."""
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        return WordArrays(self.codes[np.repeat(self.starts[:-1][rows], lengths) + within], starts, self.vocabulary)


def known_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts, with null as the empty text."""
    return pc.fill_null(column.cast(pa.large_string()), pa.scalar("", pa.large_string()))


def split_words(*columns: pa.ChunkedArray) -> tuple[WordArrays, ...]:
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
        WordArrays(codes[starts[a] : starts[b]], starts[a : b + 1] - starts[a], encoded.dictionary)
        for a, b in pairwise(ends.tolist())
    )


def _normalised(column: pa.ChunkedArray) -> pa.LargeStringArray:
    """The words of each text with one blank between them."""
    texts = pc.replace_substring_regex(known_texts(column), _APOSTROPHES, "'")
    texts = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC"))
    texts = pc.replace_substring_regex(texts, r"[^\p{L}\p{M}\p{N}']+", " ")
    for edge in (r"(^| )'+", r"'+( |$)"):
        texts = pc.replace_substring_regex(texts, edge, r"\1")
    texts = pc.replace_substring_regex(texts, " +", " ")
    texts = pc.utf8_trim_whitespace(texts)
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def has_phrase(words: WordArrays, phrase: str) -> Bools:
    """Whether each text has the words of a phrase one after the other: shape ``[texts]``."""
    (own,) = split_words(pa.chunked_array([pa.array([phrase], pa.large_string())]))
    places = pc.index_in(own.vocabulary.take(own.codes), words.vocabulary)
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


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """The pattern whose first group is a phrase of a text as it was written, if the text has it by ``has_phrase``."""
    words = (re.escape(word).replace("'", _APOSTROPHES) for word in phrase.split(" "))
    written = rf"{_APOSTROPHES}*{_APART}[\W_]*".join(words)
    return re.compile(rf"(?:^|{_APART}){_APOSTROPHES}*({written})(?!{_APOSTROPHES}*[^\W_])", re.IGNORECASE)


def starts_with(words: WordArrays, beginnings: WordArrays) -> Bools:
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


@dataclass(frozen=True, slots=True)
class Ngrams:
    """Runs of words, and the texts that have them.

    Run ``i`` is ``length[i]`` words from word ``at[i]`` of ``words`` on. ``row``
    and ``gram`` have an entry for each text and each run that it has: shape ``[occurrences]``.
    """

    words: WordArrays
    at: Ints
    length: Ints
    row: Ints
    gram: Ints

    def __len__(self) -> int:
        return len(self.at)

    def codes(self, gram: int) -> tuple[int, ...]:
        """The words of a run, as places in the vocabulary."""
        start = int(self.at[gram])
        return tuple(self.words.codes[start : start + int(self.length[gram])].tolist())

    def text(self, gram: int) -> str:
        """The words of a run with a blank between them."""
        return " ".join(self.words.vocabulary[code].as_py() for code in self.codes(gram))


def frequent_ngrams(words: WordArrays, longest: int, least: int) -> Ngrams:
    """Runs of up to ``longest`` words that at least ``least`` texts have.

    A run can only be frequent if it is frequent without its last word, so each length starts from the one below.
    """
    rows, places = words.rows, np.arange(len(words.codes))
    ends = np.repeat(words.starts[1:], words.lengths)
    gram = np.zeros(len(places), np.int64)
    parts = []
    known = 0
    for length in range(1, longest + 1):
        kept = (gram >= 0) & (places + length <= ends)
        rows, places, ends, gram = rows[kept], places[kept], ends[kept], gram[kept]
        key = gram * len(words.vocabulary) + words.codes[places + length - 1]
        _, first, gram = np.unique(key, return_index=True, return_inverse=True)
        row, found = np.divmod(_distinct(rows * max(len(first), 1) + gram), max(len(first), 1))
        frequent = np.bincount(found, minlength=len(first)) >= least
        place = np.where(frequent, np.cumsum(frequent) - 1, -1)
        kept = frequent[found]
        parts.append((places[first[frequent]], length, row[kept], place[found[kept]] + known))
        known += int(frequent.sum())
        gram = place[gram]
    at, lengths, rows_of, grams = zip(*parts, strict=True)
    counts = [len(a) for a in at]
    return Ngrams(words, np.concatenate(at), np.repeat(lengths, counts), np.concatenate(rows_of), np.concatenate(grams))


def _distinct(values: Ints) -> Ints:
    """The distinct values in ascending order; sorting takes a fraction of the time of ``np.unique``, which hashes."""
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


_CELLS_AT_ONCE = 1 << 21


def longest_common_runs(first: WordArrays, second: WordArrays) -> Ints:
    """The length in words of the longest run that each text of ``first`` shares with that of ``second``: ``[texts]``.

    Both have the same vocabulary and the same number of texts. Texts are
    compared in batches of similar length: one step per word of ``first`` compares it with
    all words of ``second`` and lengthens the runs that ended one word earlier.
    """
    found = np.zeros(len(first), np.int64)
    for rows in _batches(first.lengths, second.lengths):
        found[rows] = _longest(_padded(first.take(rows), -1), _padded(second.take(rows), -2))
    return found


def _batches(one: Ints, other: Ints) -> Iterator[Ints]:
    """Rows in which both texts have words, sorted by length, with at most ``_CELLS_AT_ONCE`` words each."""
    rows = np.flatnonzero((one > 0) & (other > 0))
    order = rows[np.lexsort((one[rows], other[rows]))]
    start = 0
    while start < len(order):
        # the widest row is the last of a batch, so the size is settled by looking back from a guess
        end = min(len(order), start + max(1, _CELLS_AT_ONCE // int(other[order[start]])))
        widest = int(other[order[end - 1]])
        end = min(end, start + max(1, _CELLS_AT_ONCE // widest))
        yield order[start:end]
        start = end


def _padded(words: WordArrays, padding: int) -> Int32s:
    """Words as a rectangle: shape ``[texts, longest]``."""
    lengths = words.lengths
    found = np.full((len(words), int(lengths.max(initial=0))), padding, np.int32)
    found[np.arange(found.shape[1]) < lengths[:, None]] = words.codes
    return found


def _longest(first: Int32s, second: Int32s) -> Int32s:
    ended = np.zeros((len(second), second.shape[1] + 1), np.int32)
    longest = np.zeros(len(second), np.int32)
    for place in range(first.shape[1]):
        # a run that ends at this word is one longer than the run that ended one word earlier in both texts
        ended[:, 1:] = np.where(first[:, place, None] == second, ended[:, :-1] + 1, 0)
        np.maximum(longest, ended.max(axis=1), out=longest)
    return longest


def expected_distinct(group: Ints, item: Ints, groups: int, size: int) -> Floats:
    """The expected number of distinct items among ``size`` drawn from each group: shape ``[groups]``.

    ``group`` and ``item`` have shape ``[occurrences]``. A draw is without
    replacement, so the result is exact, with no random numbers: the sum over items of ``1 - C(N - n, size) / C(N,
    size)``, with N occurrences in the group and n of the item (Hurlbert 1971). NaN for
    groups with fewer occurrences than ``size``.
    """
    width = int(item.max(initial=0)) + 1
    pairs, n = np.unique(group * width + item, return_counts=True)
    own, total = pairs // width, np.bincount(group, minlength=groups)
    found = np.bincount(own, _chance_to_occur(n, total[own], size), minlength=groups)
    return np.where(total >= size, found, np.nan)


def distinct_of_counts(counts: Ints, size: int) -> float:
    """The expected number of distinct items among ``size`` drawn from items that occur this often: see above."""
    total = counts.sum()
    return float(_chance_to_occur(counts[counts > 0], total, size).sum()) if total >= size else float("nan")


def distinct_without_blocks(item: Ints, block: Ints, blocks: int, items: int, size: int) -> Floats:
    """The expected number of distinct items without the occurrences of each block in turn: shape ``[blocks]``."""
    counts = np.bincount(item, minlength=items)
    return np.array(
        [distinct_of_counts(counts - np.bincount(item[block == b], minlength=items), size) for b in range(blocks)]
    )


def _chance_to_occur(n: Ints, total: Ints, size: int) -> Floats:
    """The probability that an item with ``n`` of ``total`` occurrences is among ``size`` drawn: shape ``[items]``."""

    def log_choose(of: Ints) -> Floats:
        return gammaln(of + 1.0) - gammaln(np.maximum(of - size, 0) + 1.0) - gammaln(size + 1.0)

    rest = total - n
    with np.errstate(invalid="ignore"):
        absent = np.where(rest >= size, np.exp(log_choose(rest) - log_choose(total)), 0.0)
    return 1 - absent
