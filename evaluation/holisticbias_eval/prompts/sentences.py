"""The release's own sentences about terms, their stylistic variants, and the noun phrase of each alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.variants import VARIANTS, vary
from holisticbias.release.release import Release
from holisticbias.terms.grammar import PLURAL_SLOT
from holisticbias_eval.arrays import Int32s
from holisticbias_eval.models.likelihood.spans import Repeated, Spans, TextRows, joined, unique_spans, whole
from holisticbias_eval.prompts.prompts import (
    OPTIONAL_COLUMNS,
    SENTENCE_COLUMNS,
    AskedSentences,
    Draw,
    Selection,
    Skipped,
    compacted,
    restored,
    with_axis_labels,
)
from holisticbias_eval.prompts.selection import find_selector, select_sentences

_USED = (
    "descriptor_id", "noun_id", "descriptor", "noun", "plural_noun", "noun_phrase", "plural_noun_phrase",
    "noun_phrase_type",
)  # fmt: skip
_AT_ONCE = 1 << 16


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
        slot = "{plural_noun_phrase}" if "{plural_noun_phrase}" in row["template"] else "{noun_phrase}"
        texts.append(vary(row, drawn)[0])
        phrases.append(_phrase(row, slot, drawn))
    return pa.array(texts, pa.string()), pa.array(phrases, pa.string())


def varied_phrases(phrases: pa.Table, seed: int) -> Mapping[str, list[str]]:
    """The columns ``noun_phrase`` and ``plural_noun_phrase`` of distinct phrases in their variants."""
    found: dict[str, list[str]] = {"noun_phrase": [], "plural_noun_phrase": []}
    for row in _rows(phrases):
        drawn = drawn_variants(seed, row["descriptor_id"], row["noun_id"])
        for name, column in found.items():
            column.append(_phrase(row, f"{{{name}}}", drawn))
    return found


def ends_bare(phrases: pa.Table, seed: int) -> list[bool]:
    """Whether the final period of the sentences with each phrase is dropped."""
    keys = phrases.select(["descriptor_id", "noun_id"]).to_pylist()
    return ["drop_final_period" in drawn_variants(seed, key["descriptor_id"], key["noun_id"]) for key in keys]


def _phrase(row: Mapping[str, Any], slot: str, drawn: list[str]) -> str:
    return vary({**row, "template": slot}, drawn)[0]


def _rows(table: pa.Table, *more: str) -> Iterator[dict[str, Any]]:
    """The rows with the columns that variants need."""
    used = table.select([*_USED, *more])
    for start in range(0, table.num_rows, _AT_ONCE):
        yield from used.slice(start, _AT_ONCE).to_pylist()


def ask_sentences(release: Release, draw: Draw, selection: Selection) -> AskedSentences:
    """Select the sentences, part by part; each phrase is read under the context of its sentence."""
    selector = find_selector(lambda: map(select_sentences, release.shards("sentences")), selection)
    tables, codes, known = list[pa.Table](), list[Int32s](), pa.array([], pa.string())
    for part in release.shards("sentences"):
        selected = selector.select(select_sentences(part))
        if tables and not selected.num_rows:
            continue
        table, phrases = _chosen(selected, release, selection)
        known = pa.concat_arrays([known, phrases.dictionary.filter(pc.invert(pc.is_in(phrases.dictionary, known)))])
        codes.append(pc.index_in(phrases.dictionary, known).take(phrases.indices).to_numpy())
        tables.append(compacted(table))
    if any(table.schema != tables[0].schema for table in tables):
        tables = [restored(table) for table in tables]
    sentences = pa.concat_tables(tables)
    del tables
    texts = TextRows(sentences["text"])
    contexts = draw(texts)
    alone, phrase = _alone(known, np.concatenate(codes), contexts)
    together = joined(whole(texts, contexts), alone)
    if isinstance(together.text, TextRows):
        place = sentences.column_names.index("text")
        sentences = sentences.set_column(place, "text", together.text.strings(len(texts)))
    return AskedSentences(sentences, together, phrase, selector.skipped)


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
    phrases = pa.concat_arrays(_phrases(selected).chunks or [pa.array([], pa.string())])
    if selection.variants:
        texts, phrases = varied_texts(selected, selection.seed)
        selected = selected.set_column(selected.column_names.index("text"), "text", texts)
    return selected.select(columns), phrases.dictionary_encode()


def skipped_sentences(release: Release) -> tuple[Skipped, ...]:
    """Count the sentences of a release that are never asked about, by reason."""
    counts: dict[str, int] = {}
    for part in release.shards("sentences"):
        for reason, count in _counts(part).items():
            counts[reason] = counts.get(reason, 0) + count
    return tuple(Skipped(reason=reason, sentences=count) for reason, count in counts.items() if count)


def _counts(sentences: pa.Table) -> dict[str, int]:
    """The sentences of a part that are left out, by reason."""
    kinds = sentences["noun_phrase_type"].cast(pa.string())
    reasons = {
        "no noun: the term has sentences with nouns": pc.equal(kinds, "descriptor"),
        "no descriptor: control sentences": pc.equal(kinds, "noun"),
    }
    return {reason: pc.sum(mask.cast(pa.int64())).as_py() or 0 for reason, mask in reasons.items()}


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
    plural = pc.match_substring(sentences["template"].cast(pa.string()), PLURAL_SLOT)
    singular, several = (sentences[n].cast(pa.string()) for n in ("noun_phrase", "plural_noun_phrase"))
    return pc.if_else(plural, several, singular)
