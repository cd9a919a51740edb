"""The columns of the tables of a release, checked because a release may come from anybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

_WORDS = {"text": "text", "truth": "true or false", "class": "a class", "number": "a number", "list": "a list"}
_TEXTS = ("string", "large_string", "dictionary<values=string, indices=int32, ordered=0>")
_TYPES = {"text": _TEXTS, "truth": ("bool",), "class": ("int64", *_TEXTS), "number": ("int32",)}
_TERM = ("axis", "descriptor", "descriptor_gender", "descriptor_preference", "descriptor_id")
_NOUN = ("noun", "plural_noun", "noun_gender", "noun_id")
_TOGETHER = (_TERM, _NOUN)  # a sentence has all of them or none


@dataclass(frozen=True, slots=True)
class _Column:
    """The kind of a column's values, whether a value may be missing, and whether only later layouts have the column."""

    kind: str
    optional: bool
    later: bool


def _form(columns: str) -> Mapping[str, _Column]:
    """Columns written ``NAME[:KIND][?][+]``: text by default, ``?`` if a value may be missing, ``+`` if it is later."""
    found = {}
    for column in columns.split():
        name, _, kind = column.rstrip("?+").partition(":")
        found[name] = _Column(kind or "text", "?" in column, column.endswith("+"))
    return found


_PHRASE = (
    "axis:class? axis_label?+ bucket? descriptor? descriptor_gender? descriptor_preference? descriptor_id? noun? "
    "plural_noun? noun_gender? noun_id? noun_phrase plural_noun_phrase noun_phrase_type "
)
_SENTENCE = _form(f"text {_PHRASE} sentence_id template template_id first_turn_only:truth must_be_noun:truth")
_SINCE = "since sources:list"
FORMS: Mapping[str, Mapping[str, _Column]] = {
    "sentences": _SENTENCE,
    "small": _SENTENCE,
    "noun_phrases": _form(f"phrase_id {_PHRASE}"),
    "intersections": _form("text"),
    "descriptors": _form(
        "descriptor_id descriptor axis:class axis_label bucket? position article? plural? descriptor_gender "
        f"descriptor_preference assessments:list without_noun:truth+ not_with:list+ {_SINCE}"
    ),
    "nouns": _form(f"noun_id noun plural_noun noun_gender article? {_SINCE}"),
    "templates": _form(
        f"template_id template family first_turn_only:truth must_be_noun:truth paraphrase_of?+ opposite_of?+ {_SINCE}"
    ),
    "collections": _form(
        "collection group_id group domain terms:list forms:list+ titles:list lists:list categories:list "
        f"needs_person:truth prompt_words:number term_within:number least_words:number {_SINCE}"
    ),
    "prompts": _form(f"prompt_id domain domain_label group_id group prompt continuation subject {_SINCE}"),
    "specifications": _form(
        "specification_id specification family part name? label? slot:number? form? term? descriptor_id? stereotype? "
        f"gender? held_out:truth? valence? opposite? control:truth published_as? {_SINCE}"
    ),
}
"""The columns of each table that something reads."""


def schema_problem(table: str, schema: pa.Schema) -> str | None:
    """The column that a table lacks or has twice, or that has another type than its values need; None if all is right.

    Releases of before 3.1.0 may hold an axis as a number (ClassLabel).
    """
    for name, column in FORMS.get(table, {}).items():
        places = schema.get_all_field_indices(name)
        if len(places) > 1:
            return f"has {len(places)} columns {name}"
        if not places and not column.later:
            return f"has no column {name}"
        if places and not _fits(schema.field(places[0]).type, column.kind):
            kind = str(schema.field(places[0]).type)[:60]
            return f"has a column {name} of the type {kind}, not {_WORDS[column.kind]}"
    return None


def _fits(kind: pa.DataType, wanted: str) -> bool:
    return pa.types.is_list(kind) if wanted == "list" else str(kind) in _TYPES[wanted]


def missing_problem(table: str, part: pa.Table) -> str | None:
    """The column of a part of a table that lacks a value that it must have; None if all is right."""
    form = FORMS.get(table, {})
    for name, column in form.items():
        if name in part.column_names and not column.optional and part[name].null_count:
            return f"has a row without {name}"
    for first, *others in _TOGETHER if "noun_phrase" in form else ():
        lacks = pc.is_null(part[first])
        for name in others:
            if not pc.is_null(part[name]).equals(lacks):
                return f"has a row with only one of {first} and {name}"
    return None
