"""The columns of the tables of a release: where their values come from, and which a stored table must have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from holisticbias.compile.columns import booleans, lists, lists_of_records, optional_integers, strings, table
from holisticbias.terms.entries import Entry, Record
from holisticbias.terms.file_kinds import GroupFile

ASSESSMENT = ("judgement", "community", "locale", "reviewer", "source", "date")
_ARRAYS: Mapping[str, Callable[[Sequence[Any]], pa.Array]] = {
    "text": strings,
    "class": strings,
    "truth": booleans,
    "number": optional_integers,
    "list": lists,
    "records": partial(lists_of_records, names=ASSESSMENT),
}


@dataclass(frozen=True, slots=True)
class TableColumn:
    """The kind of a column's values, their path, whether one may be missing, and the first layout with the column."""

    kind: str
    path: str
    optional: bool
    layout: int


TableForm = Mapping[str, TableColumn]
Rows = Sequence[tuple[Record, Any]]


def table_form(columns: str) -> TableForm:
    """Columns written ``NAME[=PATH][:KIND][?][+LAYOUT]``.

    ``PATH`` leads from the entry of a row, or with ``file.`` from its file, to the value: by default it is the name.
    A value is text by default. It may be missing if there is a ``?``. Layouts before ``LAYOUT`` lack the column.
    """
    form = {}
    for column in columns.split():
        written, _, layout = column.partition("+")
        place, _, kind = written.rstrip("?").partition(":")
        name, _, path = place.partition("=")
        form[name] = TableColumn(kind or "text", path or name, written.endswith("?"), int(layout or 1))
    return form


def column_values(form: TableForm, rows: Rows, layout: int) -> dict[str, list[Any]]:
    """The values of each column that a layout has; null where an entry lacks the key."""
    return {name: _values(column.path, rows) for name, column in form.items() if column.layout <= layout}


def _values(path: str, rows: Rows) -> list[Any]:
    from_file = path.startswith("file.")
    values: list[Any] = [file if from_file else entry for file, entry in rows]
    for key in path.removeprefix("file.").split("."):
        values = [getattr(value, key, None) for value in values]
    return values


def table_of(form: TableForm, rows: Rows, layout: int) -> pa.Table:
    """The table of entries, each with its file, in a layout."""
    values = column_values(form, rows, layout)
    return table({name: _ARRAYS[form[name].kind](values[name]) for name in values})


def entry_rows(files: Sequence[GroupFile]) -> Sequence[tuple[GroupFile, Entry]]:
    """The entries of files, each with its file."""
    return [(file, entry) for file in files for entry in file.entries]


_TERM = (
    "axis=file.axis:class? axis_label=file.label?+3 bucket? descriptor=text? descriptor_gender=noun_gender? "
    "descriptor_preference=preference?"
)
_PERSON = "noun=text? plural_noun=plural? noun_gender=file.gender?"
_PHRASE = "noun_phrase plural_noun_phrase noun_phrase_type"
_SENTENCE = table_form(
    f"text {_TERM} {_PERSON} {_PHRASE} template first_turn_only:truth must_be_noun:truth sentence_id descriptor_id? "
    "noun_id? template_id"
)
DESCRIPTOR, NOUN = table_form(f"{_TERM} descriptor_id=id?"), table_form(f"{_PERSON} noun_id=id?")
"""The columns of a phrase that come from its descriptor and from its noun."""
FORMS: Mapping[str, TableForm] = {
    "sentences": _SENTENCE,
    "small": _SENTENCE,
    "noun_phrases": table_form(f"phrase_id {_PHRASE} {_TERM} {_PERSON} descriptor_id? noun_id?"),
    "intersections": table_form("text"),
    "descriptors": table_form(
        "descriptor_id=id descriptor=text axis=file.axis:class axis_label=file.label bucket? position article? plural? "
        "descriptor_gender=noun_gender descriptor_preference=preference since assessments:records sources:list "
        "without_noun:truth+2 not_with:list+2"
    ),
    "nouns": table_form("noun_id=id noun=text plural_noun=plural noun_gender=file.gender article? since sources:list"),
    "templates": table_form(
        "template_id=id template=text family=file.family first_turn_only:truth must_be_noun:truth since sources:list "
        "paraphrase_of?+2 opposite_of?+3"
    ),
    "collections": table_form(
        "collection=file.collection group_id=id group=text domain terms:list forms=forms.words:list+5 "
        "titles=pages.titles:list lists=pages.lists:list categories=pages.categories:list needs_person:truth "
        "prompt_words=file.prompt_words:number term_within=file.term_within:number "
        "least_words=file.least_words:number sources:list since"
    ),
    "prompts": table_form(
        "prompt_id=prompt.id domain=file.domain domain_label=file.label group_id=prompt.group group=group.text? "
        "prompt=prompt.text continuation=prompt.continuation subject=prompt.subject? sources=prompt.sources:list "
        "since=prompt.since"
    ),
    "specifications": table_form(
        "specification_id=entry.id specification=entry.text family=file.family part name=of.name? label=of.label? "
        "slot:number? form? term? descriptor_id? stereotype? gender? held_out:truth? valence? opposite? "
        "control=entry.control:truth published_as=entry.published_as? sources=entry.sources:list since=entry.since"
    ),
}
"""The columns of each table that something reads, in their order."""


def ordered(name: str, columns: Mapping[str, pa.Array]) -> pa.Table:
    """The table with that name, of columns in any order."""
    return table({column: columns[column] for column in FORMS[name] if column in columns})
