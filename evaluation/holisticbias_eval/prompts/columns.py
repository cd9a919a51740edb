"""The columns that a run keeps of a sentence."""

from __future__ import annotations

SENTENCE_COLUMNS = (
    "sentence_id", "text", "axis", "bucket", "descriptor_id", "descriptor", "descriptor_preference", "noun_id", "noun",
    "noun_gender", "template_id", "template", "noun_phrase_type",
)  # fmt: skip
# those that a table of scores may have beside: the axis in words, the phrase's own nats, the template that one words in
# another way, and what the model read before the sentence
OPTIONAL_COLUMNS = ("axis_label", "phrase_nll", "paraphrase_of", "context")
