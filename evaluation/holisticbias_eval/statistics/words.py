"""Words of texts as arrays: phrases, frequent runs, the longest common run, and distinct words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import gammaln

from holisticbias_eval.arrays import Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class WordArrays:
    """Words of texts: text ``i`` has the words ``codes[starts[i]:starts[i + 1]]``, places in ``vocabulary``.

    ``codes`` has shape ``[words]``, ``starts`` shape ``[texts + 1]``. ``texts`` have their words with one blank between
    them.
    """

    codes: Ints
    starts: Ints
    vocabulary: pa.LargeStringArray
    texts: pa.LargeStringArray

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

    def by_text(self) -> Iterator[list[int]]:
        """The words of each text, as places in the vocabulary."""
        return (self.codes[start:end].tolist() for start, end in pairwise(self.starts.tolist()))

    def take(self, rows: Ints) -> WordArrays:
        """Select texts by position, in the given order."""
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        codes = self.codes[np.repeat(self.starts[:-1][rows], lengths) + within]
        return WordArrays(codes, starts, self.vocabulary, self.texts.take(pa.array(rows)))


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
        WordArrays(codes[starts[a] : starts[b]], starts[a : b + 1] - starts[a], encoded.dictionary, texts[a:b])
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
    texts = pc.replace_substring_regex(texts, " +", " ")
    texts = pc.utf8_trim_whitespace(texts)
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def has_phrase(words: WordArrays, phrase: str) -> Bools:
    """Whether each text has the words of a phrase one after the other: shape ``[texts]``."""
    wanted = split_words(pa.chunked_array([[phrase]]))[0].texts[0].as_py()
    found: Bools = pc.match_substring_regex(words.texts, f"(^| ){wanted}( |$)").to_numpy(zero_copy_only=False)
    return found if wanted else np.zeros(len(words), bool)


def starts_with(words: WordArrays, beginnings: WordArrays) -> Bools:
    """Whether each text starts with the words of its beginning; never if that has none: shape ``[texts]``.

    Both have the same vocabulary and the same number of texts.
    """
    pairs = zip(words.by_text(), beginnings.by_text(), strict=True)
    return np.array([bool(beginning) and text[: len(beginning)] == beginning for text, beginning in pairs], bool)


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

    def text(self, gram: int) -> str:
        """The words of a run with a blank between them."""
        codes = self.words.codes[self.at[gram] : self.at[gram] + self.length[gram]]
        return " ".join(self.words.vocabulary[code].as_py() for code in codes.tolist())


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


def longest_common_runs(first: WordArrays, second: WordArrays) -> Ints:
    """The length in words of the longest run that each text of ``first`` shares with that of ``second``: ``[texts]``.

    Both have the same vocabulary and the same number of texts.
    """
    pairs = zip(first.by_text(), second.by_text(), strict=True)
    found = (SequenceMatcher(None, one, other, autojunk=False).find_longest_match().size for one, other in pairs)
    return np.fromiter(found, np.int64, len(first))


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
