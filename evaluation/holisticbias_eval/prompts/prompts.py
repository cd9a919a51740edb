"""Sentences to score: the columns that a run keeps of them, their spans, and the terms that they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.variants import VARIANTS
from holisticbias_eval.arrays import Int32s, Ints
from holisticbias_eval.figures import Count, Part
from holisticbias_eval.models.likelihood.scores import Scores, with_scores
from holisticbias_eval.models.likelihood.spans import Spans

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
    """Sentences, or scores of them, as they were before ``compacted``; another table is not changed."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            kind = pa.dictionary(pa.int32(), pa.string())
            table = table.set_column(place, field.name, table.column(place).cast(kind))
    if "sentence_id" in table.column_names or not set(_ID_PARTS) <= set(table.column_names):
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


class Skipped(Part):
    """Sentences of the release that were not measured, and why."""

    reason: str
    sentences: int


@dataclass(frozen=True, slots=True)
class AskedSentences:
    """Sentences with a span of each, and optionally a phrase of each sentence, which is scored alone.

    ``together`` are all spans to score: first one for each sentence, then the distinct phrases.
    They are scored in one call, so that shared beginnings run through the model once.
    ``phrase`` is the position of each sentence's phrase among the phrases. ``skipped`` are the sentences that the
    options of the run leave out.
    """

    sentences: pa.Table
    together: Spans
    phrase: Int32s | None = None
    skipped: tuple[Skipped, ...] = ()

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


@dataclass(frozen=True, slots=True)
class Selection:
    """The options of the sentences to score.

    ``where`` filters as in ``selection.FILTERS``; at most ``limit`` sentences; ``variants`` applies each stylistic
    variant with probability 1/2 (Smith et al. 2022, A.3). The seed draws the sentences of a limit, and the variants.
    """

    where: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    variants: bool = False

    @property
    def settings(self) -> Mapping[str, str]:
        """The options that are given, for a run's signature."""
        given = {}
        if self.where:
            given["sentences_where"] = "; ".join(self.where)
        if self.limit is not None:
            given["sentences_limit"] = f"{self.limit}, seed {self.seed}"
        if self.variants:
            given["sentences_variants"] = f"{', '.join(VARIANTS)}; each with probability 1/2, seed {self.seed}"
        return given


class TermsLeftOut(Part):
    """Terms of the release that were not measured, and why."""

    reason: str
    terms: Count


class Terms(Part):
    """How many terms were measured, of those of the release, and why the others were not."""

    measured: Count
    available: Count
    left_out: tuple[TermsLeftOut, ...] = ()
