"""Compile sentences with two descriptors into tables of bounded size, column by column."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import Int32s, Int64s, integers, strings, table, take_texts
from holisticbias.compile.pairs import Around, Pairs, around
from holisticbias.compile.phrases import sentence_columns
from holisticbias.compile.random_words import random_words
from holisticbias.compile.table_forms import DESCRIPTOR, NOUN, column_values
from holisticbias.errors import ReleaseError
from holisticbias.terms.entries import Descriptor
from holisticbias.terms.grammar import with_article

ROWS = 1 << 19

Run = tuple[int, int]  # the indices of its first pair and of the pair after its last


def cut_runs(weights: Int64s, limit: int) -> tuple[Run, ...]:
    """Cut pairs into runs with a total weight of at most ``limit``; a heavier pair is a run by itself."""
    ends = np.concatenate([[0], np.cumsum(weights)])
    runs: list[Run] = []
    start = 0
    while start < len(weights):
        end = max(start + 1, int(np.searchsorted(ends, ends[start] + limit, side="right")) - 1)
        runs.append((start, end))
        start = end
    return tuple(runs)


def even_quotas(sentences: Int64s, n: int, seed: int) -> Int64s:
    """Divide ``n`` sentences evenly among pairs: the same number each, or all sentences of a pair with fewer.

    Pairs drawn at random get the remainder.
    """
    if not 0 < n <= int(sentences.sum()):
        raise ReleaseError(f"cannot draw {n:,} sentences from {int(sentences.sum()):,}")
    ordered = np.sort(sentences)
    below = np.concatenate([[0], np.cumsum(ordered)])[:-1]
    taken = below + ordered * np.arange(len(ordered), 0, -1)
    k = int(np.searchsorted(taken, n, side="right"))
    each = 0 if k == len(ordered) else int((n - below[k]) // (len(ordered) - k))
    quotas = np.minimum(sentences, each) if k < len(ordered) else sentences.copy()
    open_pairs = np.flatnonzero(sentences > quotas)
    drawn = np.argsort(random_words(seed, 0, len(sentences))[open_pairs], kind="stable")[: n - int(quotas.sum())]
    quotas[open_pairs[drawn]] += 1
    return quotas


def draw(sentences: Int64s, quotas: Int64s, start: int, seed: int) -> tuple[Int64s, Int64s]:
    """Draw ``quotas`` distinct numbers below ``sentences`` for each pair; return pair and number of each, sorted.

    Floyd's algorithm (Bentley and Floyd 1987) on all pairs at once. ``start`` is
    the index of the first pair among all pairs: a pair's draw depends on its index.
    """
    most = int(quotas.max(initial=0))
    chosen = np.full((len(quotas), most), -1, np.int64)
    for k in range(most):
        top = sentences - quotas + k
        word = random_words(seed, k + 1, len(quotas), start) >> np.uint64(11)
        number = np.minimum((word.astype(np.float64) * 2.0**-53 * (top + 1)).astype(np.int64), top)
        number = np.where((chosen[:, :k] == number[:, None]).any(axis=1), top, number)
        chosen[:, k] = np.where(k < quotas, number, -1)
    pair, place = np.nonzero(chosen >= 0)
    number = chosen[pair, place]
    order = np.lexsort((number, pair))
    return pair[order], number[order]


class PairCompiler:
    """Compile runs of pairs into tables; the columns that all runs share are made once."""

    def __init__(self, pairs: Pairs, quotas: Int64s | None = None, seed: int = 0) -> None:
        self.pairs = pairs
        self.quotas = quotas
        self.seed = seed
        nouns = [n for _, n in pairs.nouns]
        singular = [*(n.text for n in nouns), *(with_article(n.text, pairs.rule, n.article) for n in nouns), ""]
        self._singular = strings(singular)
        self._plural = strings([*(n.plural for n in nouns), *(n.plural for n in nouns), ""])

    def runs(self, rows: int = ROWS) -> tuple[Run, ...]:
        """Cut the pairs into runs of at most ``rows`` sentences each, and at least one.

        In a sample nearly every sentence has a different phrase, which takes several times the memory, so a run has
        a quarter of the rows.
        """
        phrases = self.pairs.phrases.astype(np.int64)
        if self.quotas is None:
            return cut_runs(phrases * len(self.pairs.templates), rows)
        runs = cut_runs(np.maximum(self.quotas, phrases // 4), rows // 4)
        return tuple(run for run in runs if self.quotas[slice(*run)].any())

    def table(self, run: Run) -> pa.Table:
        """The sentences of a run of pairs, template by template."""
        where = slice(*run)
        pair, noun = self._phrases(where)
        chosen = self._chosen(where, run[0])
        if chosen is None:
            phrases = self._phrase_columns(where, pair, noun)
            return pa.concat_tables(self._batch(i, phrases) for i in range(len(self.pairs.templates)))
        used = np.unique(np.concatenate(chosen))
        phrases = self._phrase_columns(where, pair[used], noun[used])
        places = [integers(np.searchsorted(used, rows).astype(np.int32)) for rows in chosen]
        return pa.concat_tables(
            self._batch(i, {name: column.take(rows) for name, column in phrases.items()})
            for i, rows in enumerate(places)
            if len(rows)
        )

    def _phrases(self, where: slice) -> tuple[Int32s, Int32s]:
        """Every phrase as indices of its pair in the run and of its noun (-1 for no noun)."""
        goes = np.asarray(self.pairs.goes[self.pairs.first[where]] & self.pairs.goes[self.pairs.second[where]])
        alone = np.logical_not(goes.any(axis=1, keepdims=True))
        pair, noun = np.nonzero(np.concatenate([goes, alone], axis=1))
        return pair.astype(np.int32), np.where(noun == goes.shape[1], -1, noun).astype(np.int32)

    def _chosen(self, where: slice, start: int) -> list[Int32s] | None:
        """The phrases of each template in a sample; None if all are taken."""
        if self.quotas is None:
            return None
        phrases = self.pairs.phrases[where].astype(np.int64)
        pair, number = draw(phrases * len(self.pairs.templates), self.quotas[where], start, self.seed)
        template, phrase = np.divmod(number, phrases[pair])
        first = np.concatenate([[0], np.cumsum(phrases)])[:-1]
        rows = (first[pair] + phrase).astype(np.int32)
        return [rows[template == i] for i in range(len(self.pairs.templates))]

    def _phrase_columns(self, where: slice, pair: Int32s, noun: Int32s) -> dict[str, pa.Array]:
        p, d = self.pairs, [d for _, d in self.pairs.descriptors]
        values = column_values(DESCRIPTOR, p.descriptors, p.layout)
        first, second = p.first[where], p.second[where]
        columns = {
            f"{name}_{number}": take_texts(texts, place[pair])
            for number, place in ((1, first), (2, second))
            for name, texts in values.items()
        }
        columns |= {name: take_texts(texts, noun) for name, texts in column_values(NOUN, p.nouns, p.layout).items()}
        places = list(zip(first.tolist(), second.tolist(), strict=True))
        types = np.array([PHRASE_TYPES.index(phrase_type(d[i], d[j])) for i, j in places], np.int32)
        singular, plural = self._texts([around(d[i], d[j], p.rule) for i, j in places], pair, noun)
        return {
            **columns,
            "noun_phrase": singular,
            "plural_noun_phrase": plural,
            "noun_phrase_type": take_texts(PHRASE_TYPES, types[pair]),
        }

    def _texts(self, forms: list[Around], pair: Int32s, noun: Int32s) -> tuple[pa.DictionaryArray, pa.DictionaryArray]:
        """The text of every phrase, singular and plural."""
        count = len(self.pairs.nouns)
        own = np.fromiter((form.article_is_the_nouns for form in forms), bool, len(forms))[pair]
        place = integers(np.where(noun < 0, 2 * count, noun + count * own).astype(np.int32))
        at, nothing = integers(pair), strings([""])[0]
        every = integers(np.arange(len(pair), dtype=np.int32))

        def filled(before: list[str], nouns: pa.StringArray, after: list[str]) -> pa.DictionaryArray:
            parts = strings(before).take(at), nouns.take(place), strings(after).take(at)
            return pa.DictionaryArray.from_arrays(every, pc.binary_join_element_wise(*parts, nothing))

        return (
            filled([f.before for f in forms], self._singular, [f.after for f in forms]),
            filled([f.plural_before for f in forms], self._plural, [f.plural_after for f in forms]),
        )

    def _batch(self, index: int, phrases: dict[str, pa.Array]) -> pa.Table:
        made = sentence_columns(self.pairs.templates, index, phrases)
        return table({"text": made["text"], **phrases, **made})


PHRASE_TYPES = ("descriptor_noun", "noun_descriptor", "descriptor_noun_descriptor", "fixed_phrase")


def phrase_type(first: Descriptor, second: Descriptor) -> str:
    """``noun_phrase_type`` of a pair: both terms before the noun, both after, one on each side, or one alone."""
    where = {first.position, second.position}
    if "standalone" in where:
        return "fixed_phrase"
    if len(where) > 1:
        return "descriptor_noun_descriptor"
    return "descriptor_noun" if first.position == "before" else "noun_descriptor"
