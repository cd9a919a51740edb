"""The types of the columns of a run's answers, checked because a run may come from anybody."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.prompts.columns import SENTENCE_COLUMNS

_TEXTS = {
    *SENTENCE_COLUMNS, "axis_label", "sentence", "other_sentence", "prompt", "response", "finish", "task", "metric",
}  # fmt: skip
_NUMBERS = {
    "nll", "tokens", "bytes", "perplexity", "byte_perplexity", "phrase_nll", "score_stereotype", "probability", "value",
    "median_perplexity", "stance_difference",
}  # fmt: skip
_NEVER_MISSING = ("sentence_id", "text", "axis", "descriptor_id", "noun_id", "template_id", "template")


def type_problem(schema: pa.Schema) -> str | None:
    """The column of a table of answers that has another type than its values need; None if all is right."""
    numbers = _NUMBERS - {"value"} if "candidate_id" in schema.names else _NUMBERS  # of a candidate it is a text
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        text = any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_null))
        number = any(is_kind(kind) for is_kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_null))
        if (field.name in _TEXTS and not text) or (field.name in numbers and not number):
            wanted = "text" if field.name in _TEXTS else "numbers"
            return f"column {field.name} is not {wanted} but {str(field.type)[:60]}"
    return None


def missing_problem(answers: pa.Table) -> str | None:
    """The column of scored sentences that lacks ids, texts or axes; None if all is right."""
    for name in _NEVER_MISSING if "sentence_id" in answers.column_names else ():
        if name in answers.column_names and pc.any(pc.is_null(answers[name])).as_py():
            return f"column {name} lacks values"
    return None
