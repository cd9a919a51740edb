"""Sentences to score: the release's own, their columns and spans, their variants, and their noun phrases alone."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.variants import VARIANTS, vary
from holisticbias.release.release import Release
from holisticbias.terms.grammar import PLURAL_SLOT
from holisticbias_eval.arrays import Int32s, Ints, with_columns
from holisticbias_eval.models.likelihood.scorer import Scores, with_scores
from holisticbias_eval.models.likelihood.spans import Repeated, Spans, TextRows, joined, unique_spans, whole
from holisticbias_eval.prompts.selection import FILTERS, Selection, Skipped, find_selector, having, select_sentences
from holisticbias_eval.prompts.spread import random_order

SENTENCE_COLUMNS = (
    "sentence_id", "text", "axis", "bucket", "descriptor_id", "descriptor", "descriptor_preference", "noun_id", "noun",
    "noun_gender", "template_id", "template", "noun_phrase_type",
)  # fmt: skip
# A table of scores may also have: the axis in words, the gender of a descriptor's nouns, the phrase's own nats, the
# template that the sentence's template paraphrases and the template that it is the opposite of, and what the model read
# before the sentence
OPTIONAL_COLUMNS = ("axis_label", "descriptor_gender", "phrase_nll", "paraphrase_of", "opposite_of", "context")
UNIQUE = ("sentence_id", "text")
"""The columns of which hardly two sentences have the same value."""

NEVER_ASKED = {
    "descriptor": "no noun: the term has sentences with nouns",
    "noun": "no descriptor: control sentences",
}
"""The reason for which sentences with a type of noun phrase are never asked about."""
_NARROW = 1 << 15
_ID_PARTS = ("template_id", "descriptor_id", "noun_id")


def compacted(table: pa.Table) -> pa.Table:
    """Sentences in less memory: codes of repeated texts in 16 bits, and no ids that follow from other columns."""
    for place, field in enumerate(table.schema):
        column = table.column(place)
        if pa.types.is_dictionary(field.type) and all(len(part.dictionary) <= _NARROW for part in column.chunks):
            table = table.set_column(place, field.name, column.cast(pa.dictionary(pa.int16(), pa.string())))
    follow = table["sentence_id"].equals(_sentence_ids(table))
    return table.drop_columns(["sentence_id"]) if follow else table


def restored(table: pa.Table) -> pa.Table:
    """Sentences, or scores of them, as they were before ``compacted``; responses and other tables get no ids."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            kind = pa.dictionary(pa.int32(), pa.string())
            table = table.set_column(place, field.name, table.column(place).cast(kind))
    names = {*table.column_names}
    if names & {"sentence_id", "response_id"} or not names >= {*_ID_PARTS}:
        return table
    return table.add_column(0, "sentence_id", _sentence_ids(table))


def _sentence_ids(table: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(*(table[name].cast(pa.string()) for name in _ID_PARTS), pa.scalar("/"))


def with_axis_labels(sentences: pa.Table, descriptors: pa.Table) -> pa.Table:
    """Add the axis in words, unless the sentences have it (from layout 3 on)."""
    if "axis_label" in sentences.column_names:
        return sentences
    axes = sentences["axis"].cast(pa.string()).dictionary_encode().unify_dictionaries().combine_chunks()
    places = pc.index_in(axes.dictionary, descriptors["axis"].cast(pa.string()).combine_chunks())
    labels = descriptors["axis_label"].cast(pa.string()).combine_chunks().take(places)
    return sentences.append_column("axis_label", pa.DictionaryArray.from_arrays(axes.indices, labels))


Draw = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class AskedSentences:
    """Sentences with a span of each, and optionally a phrase of each sentence, which is scored alone.

    ``together`` are all spans to score: first one for each sentence, then the distinct phrases.
    They are scored in one call, so that shared beginnings run through the model once.
    ``phrase`` is the position of each sentence's phrase among the phrases. ``skipped`` are the sentences that the
    options of the run leave out, and ``share`` is the share of the others that these are: 1 but for a trial.
    """

    sentences: pa.Table
    together: Spans
    phrase: Int32s | None = None
    skipped: tuple[Skipped, ...] = ()
    share: float = 1.0

    def by_sentence(self, rows: Ints) -> Ints:
        """Values of ``together`` for each sentence, and then for the phrase of each sentence."""
        size = self.sentences.num_rows
        return rows if self.phrase is None else np.concatenate((rows[:size], rows[size:][self.phrase]))

    def answer(self, scores: Scores) -> pa.Table:
        """Add the scores to the sentences.

        ``phrase_nll``, the nats of the phrase alone, is null if none of its tokens
        was scored. The column ``context`` is added if any context was given.
        """
        rows = np.arange(self.sentences.num_rows)
        table = with_scores(self.sentences, scores.take(rows))
        context = self.together.context[: len(rows)]
        if any(context):
            table = table.append_column("context", pa.array(list(context), pa.string()))
        if self.phrase is None:
            return table
        alone = scores.take(len(rows) + self.phrase.astype(np.int64))
        nll = pa.array(np.where(alone.tokens > 0, alone.nll, np.nan), from_pandas=True)
        return table.append_column("phrase_nll", nll)


_USED = (
    "descriptor_id", "noun_id", "descriptor", "noun", "plural_noun", "noun_phrase", "plural_noun_phrase",
    "noun_phrase_type",
)  # fmt: skip
_AT_ONCE = 1 << 16
_TRIED = 64


def drawn_variants(seed: int, descriptor: str | None, noun: str | None) -> list[str]:
    """The variants of a descriptor with a noun, each drawn with probability 1/2.

    They are the same in every template, so that templates of opposite stance are still compared with equal phrases.
    """
    drawn = hashlib.sha256(f"{seed} {descriptor or ''}/{noun or ''}".encode()).digest()[0]
    return [name for place, name in enumerate(VARIANTS) if drawn >> place & 1]


def varied_texts(sentences: pa.Table, seed: int) -> tuple[pa.Array, pa.Array]:
    """The texts of a release's sentences in their variants, and the noun phrase of each, as in its template."""
    texts, phrases = list[str](), list[str]()
    for row in _rows(sentences, "template"):
        drawn = drawn_variants(seed, row["descriptor_id"], row["noun_id"])
        slot = PLURAL_SLOT if PLURAL_SLOT in row["template"] else "{noun_phrase}"
        texts.append(vary(row, drawn)[0])
        phrases.append(_phrase(row, slot, drawn))
    return pa.array(texts, pa.string()), pa.array(phrases, pa.string())


def varied_phrases(phrases: pa.Table, seed: int) -> Mapping[str, list[str]]:
    """The columns ``noun_phrase`` and ``plural_noun_phrase`` of phrases in their variants, and the ``end`` of texts."""
    found: dict[str, list[str]] = {"noun_phrase": [], "plural_noun_phrase": [], "end": []}
    for row in _rows(phrases):
        drawn = drawn_variants(seed, row["descriptor_id"], row["noun_id"])
        for name in ("noun_phrase", "plural_noun_phrase"):
            found[name].append(_phrase(row, f"{{{name}}}", drawn))
        found["end"].append("" if "drop_final_period" in drawn else ".")
    return found


def _phrase(row: Mapping[str, Any], slot: str, drawn: list[str]) -> str:
    return vary({**row, "template": slot}, drawn)[0]


def _rows(table: pa.Table, *more: str) -> Iterator[dict[str, Any]]:
    """The rows with the columns that variants need."""
    used = table.select([*_USED, *more])
    for start in range(0, table.num_rows, _AT_ONCE):
        yield from used.slice(start, _AT_ONCE).to_pylist()


def ask_sentences(release: Release, draw: Draw, selection: Selection) -> AskedSentences:
    """Select the sentences, part by part; each phrase is read under the context of its sentence."""

    def parts() -> Iterator[pa.Table]:
        return (_chosen_by(part, release.tables["templates"]) for part in release.shards("sentences"))

    selector = find_selector(parts, selection)
    tried = _tried(release, selection)
    kinds, tables, phrases = Counter[str](), list[pa.Table](), list[pa.DictionaryArray]()
    for part in release.shards("sentences"):
        counted = part["noun_phrase_type"].value_counts().to_pylist()
        kinds.update({one["values"]: one["counts"] for one in counted})
        selected = selector.select(select_sentences(having(part, tried)))
        if selected.num_rows or not tables:
            table, phrase = _chosen(selected, release, selection)
            tables.append(compacted(table))
            phrases.append(phrase)
    if any(table.schema != tables[0].schema for table in tables):
        tables = [restored(table) for table in tables]
    sentences = pa.concat_tables(tables)
    del tables
    known = pa.chunked_array(phrases).unify_dictionaries()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in known.chunks])
    texts = TextRows(sentences["text"])
    contexts = draw(texts)
    alone, phrase = _alone(known.chunk(0).dictionary, codes, contexts)
    together = joined(whole(texts, contexts), alone)
    if isinstance(together.text, TextRows):
        sentences = with_columns(sentences, {"text": together.text.strings(len(texts))})
    never = tuple(_never_asked(kinds))
    share = len(texts) / (kinds.total() - sum(one.sentences for one in never)) if tried else 1.0
    return AskedSentences(sentences, together, phrase, (*never, *selector.skipped), share)


def _chosen_by(part: pa.Table, templates: pa.Table) -> pa.Table:
    """The sentences of a part that are about terms, with the columns by which sentences are selected."""
    names = (*FILTERS.values(), "template", "noun_phrase_type")
    chosen = select_sentences(part.select([name for name in names if name in part.column_names]))
    return with_stances(chosen, templates)


def _tried(release: Release, selection: Selection) -> Mapping[str, Collection[str]]:
    """The descriptors whose sentences are enough for a trial; empty if all sentences are needed, or few are left."""
    descriptors = release.tables["descriptors"]["descriptor_id"].to_pylist()
    if not selection.trial or selection.where or selection.limit is not None or len(descriptors) < 2 * _TRIED:
        return {}
    return {"descriptor_id": random_order(descriptors, selection.seed)[:_TRIED]}


def _never_asked(kinds: Mapping[str, int]) -> Iterator[Skipped]:
    """The sentences that are never asked about, by reason; ``kinds`` counts the types of noun phrases."""
    for kind, reason in NEVER_ASKED.items():
        if kinds.get(kind):
            yield Skipped(reason=reason, sentences=kinds[kind])


def _alone(known: pa.StringArray, codes: Int32s, contexts: Sequence[str]) -> tuple[Spans, Int32s]:
    """The distinct phrases under their contexts, and for each row the position of its phrase among them."""
    if isinstance(contexts, Repeated):
        return whole(TextRows(known), Repeated(contexts.text, len(known))), codes
    alone, phrase = unique_spans(whole(TextRows(known).take(codes.astype(np.int64)), contexts))
    return alone, phrase.astype(np.int32)


def _chosen(part: pa.Table, release: Release, selection: Selection) -> tuple[pa.Table, pa.DictionaryArray]:
    """The sentences of a part with the columns that a run keeps, and the phrase of each."""
    selected = with_stances(part, release.tables["templates"])
    selected = with_axis_labels(selected, release.tables["descriptors"])
    columns = [*SENTENCE_COLUMNS, *(c for c in OPTIONAL_COLUMNS if c in selected.column_names)]
    phrases = _phrases(selected).combine_chunks()
    if selection.variants:
        texts, phrases = varied_texts(selected, selection.seed)
        selected = with_columns(selected, {"text": texts})
    return selected.select(columns), _used(phrases.dictionary_encode())


def _used(phrases: pa.DictionaryArray) -> pa.DictionaryArray:
    """Encode phrases without unused values: a part that is compiled also has the phrases of other sentences."""
    codes = phrases.indices.dictionary_encode()
    return pa.DictionaryArray.from_arrays(codes.indices, phrases.dictionary.take(codes.dictionary))


def with_stances(sentences: pa.Table, templates: pa.Table) -> pa.Table:
    """Add the templates that each sentence's template paraphrases or opposes, if the release has them."""
    places = pc.index_in(sentences["template_id"].cast(pa.string()), templates["template_id"].combine_chunks())
    for name in ("paraphrase_of", "opposite_of"):
        if name in templates.column_names:
            known = templates[name].combine_chunks().dictionary_encode()
            found = [pa.DictionaryArray.from_arrays(known.indices.take(p), known.dictionary) for p in places.chunks]
            sentences = sentences.append_column(name, pa.chunked_array(found, known.type))
    return sentences


def _phrases(sentences: pa.Table) -> pa.ChunkedArray:
    """The noun phrase of each sentence, in the number that its template has."""
    several = {PLURAL_SLOT in template for template in sentences["template"].unique().to_pylist()}
    if len(several) < 2:  # as in a part that is compiled, which has one template
        return sentences["plural_noun_phrase" if True in several else "noun_phrase"]
    plural = pc.match_substring(sentences["template"].cast(pa.string()), PLURAL_SLOT)
    singular, plurals = (sentences[n].cast(pa.string()) for n in ("noun_phrase", "plural_noun_phrase"))
    return pc.if_else(plural, plurals, singular)
