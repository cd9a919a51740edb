"""The types of the columns of a run's answers, checked because a run may come from anybody."""

from collections.abc import Callable, Collection, Mapping, Set
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


def missing_problem(answers: pa.Table, filled: Collection[str]) -> str | None:
    """The column, of those to be ``filled``, that lacks a value, or that lacks the name of a class; None without."""
    names = set(answers.column_names)
    for name in filled:
        if name in names and pc.any(pc.is_null(answers[name])).as_py():
            return f"column {name} lacks values"
    for name in names:
        if name.endswith(".class") and "" in pc.unique(answers[name]).to_pylist():
            return f"column {name} has a class without a name"
    return None
