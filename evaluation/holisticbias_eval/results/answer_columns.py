"""The types of the columns of a run's answers, checked because a run may come from anybody."""

from collections.abc import Callable, Mapping, Set
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.prompts.sentences import SENTENCE_COLUMNS
from holisticbias_eval.readers.classifier import PREFIX

_TEXTS = {
    *SENTENCE_COLUMNS, "axis_label", "sentence", "other_sentence", "prompt", "response", "finish", "task", "metric",
    "response_id", "persona", "judged", "variants", "reasoning", "text", "group", "domain", "subject", "item", "source",
    "dimension", "pair_id", "line_id", "candidate_id", "specification", "attribute", "term", "other_term",
}  # fmt: skip
_NUMBERS = {
    "nll", "tokens", "bytes", "perplexity", "byte_perplexity", "phrase_nll", "score_stereotype", "probability", "value",
    "median_perplexity", "stance_difference", "offensive", "prompt_offensive", "draw", "sample", "score_antistereotype",
}  # fmt: skip
Wanted = Literal["text", "numbers", "a list", "one value"]
_KINDS: Mapping[Wanted, tuple[Callable[[pa.DataType], bool], ...]] = {
    "text": (pa.types.is_string, pa.types.is_large_string),
    "numbers": (pa.types.is_integer, pa.types.is_floating),
    "a list": (pa.types.is_list, pa.types.is_large_list),
    "one value": (
        pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean,
    ),
}  # fmt: skip
_TEXT_ABOUT_A_GROUP = ("response_id", "group")
_FILLED: Mapping[str, tuple[str, ...]] = {
    "response_id": ("response_id", "axis", "descriptor_id", "descriptor", "template_id", "template"),
    "dimension": ("dimension", "group", "sentence"),
    "sentence_id": ("sentence_id", "text", "axis", "descriptor_id", "noun_id", "template_id", "template"),
    "pair_id": ("pair_id", "specification", "attribute"),
    "line_id": ("line_id", "text"),
    "candidate_id": ("candidate_id", "dialogue", "label"),
    "metric": ("task", "metric"),
    "intersection_id": ("axis", "intersection_id"),
}
"""The columns that have a value in every row, by the first column of these that a table has."""


def type_problem(schema: pa.Schema) -> str | None:
    """The column of a table of answers that has another type than its values need; None if all is right."""
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        wanted = _wanted(field.name, set(schema.names))
        if not any(is_kind(kind) for is_kind in (*_KINDS[wanted], pa.types.is_null)):
            return f"column {field.name} is not {wanted} but {str(field.type)[:60]}"
    return None


def _wanted(name: str, names: Set[str]) -> Wanted:
    """The kind of values that a column needs; ``one value`` if nothing depends on more than that."""
    if name == "forms":
        return "a list"
    if name in _TEXTS or name.endswith((".class", ".why")) or (name == "value" and "candidate_id" in names):
        return "text"
    return "numbers" if name in _NUMBERS or name.startswith(PREFIX) or "." in name else "one value"


def missing_problem(answers: pa.Table) -> str | None:
    """The column that lacks a value or the name of a class, which these answers need; None if all is right."""
    names = set(answers.column_names)
    needed = next((columns for mark, columns in _FILLED.items() if mark in names), ())
    if {*_TEXT_ABOUT_A_GROUP} <= names:
        needed = _TEXT_ABOUT_A_GROUP
    for name in needed:
        if name in names and pc.any(pc.is_null(answers[name])).as_py():
            return f"column {name} lacks values"
    for name in names:
        if name.endswith(".class") and "" in pc.unique(answers[name]).to_pylist():
            return f"column {name} has a class without a name"
    return None
