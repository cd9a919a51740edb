"""The columns that a run keeps of a sentence."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

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
