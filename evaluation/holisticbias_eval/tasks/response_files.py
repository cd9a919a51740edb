"""The forms of users' tables of responses and of texts about groups, and the place of responses in a release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError, TableError
from holisticbias_eval.models.store.keys import distinct_rows
from holisticbias_eval.prompts.collections import WORDS
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import TableSource
from holisticbias_eval.tables.forms import Form, columns

REQUIRED = ("axis", "template", "descriptor", "response")
FINISHES = ("stop", "length", "refused", "filtered")
SOURCES = ("model", "human")
_LONGEST_NAME = 1000
RUN_FIELDS = (
    *columns("label", "response_id", "axis_label", "bucket", "descriptor_id", "descriptor_preference", "template_id"),
    *columns("label", "noun_id", "noun", "variants"),
    *columns("text", "prompt", "persona", "response", "reasoning", "judged"),
)
"""Columns of text of a run's responses, which are read if they are there."""
RESPONSES = Form(
    "responses",
    (*columns("label", "axis", "template", "descriptor", "model"), *RUN_FIELDS, Field("finish", choices=FINISHES)),
    others=True,
)


def _refuse_names(label: str, table: pa.Table) -> None:
    """Refuse long names, and a domain that only some rows have."""
    for name in ("group", "domain"):
        if name not in table.column_names or table[name].null_count == table.num_rows:
            continue
        Field(name).refuse_missing(label, name, table[name])
        longest = pc.max(pc.utf8_length(table[name])).as_py()
        if longest > _LONGEST_NAME:
            raise TableError(
                f"{label}: column {name} has a name of {longest:,} characters: the most is {_LONGEST_NAME:,}"
            )


TEXTS = Form(
    "texts",
    (
        *columns("text", "text", need=True),
        *columns("name", "group", need=True),
        *columns("label", "domain", "subject", "item"),
        Field("source", choices=SOURCES),
        *WORDS,
    ),
    (_refuse_names,),
    blank_is_missing=True,
)
"""``subject`` is replaced before measuring, ``item`` the prompt or page that a text belongs to."""


def read_responses(source: TableSource, required: Sequence[str] = REQUIRED) -> pa.Table:
    """Read a table of responses, one per row in any order; other columns are kept as they are.

    Of the required columns only ``response`` may be missing in a row: the model gave none. ``finish``, if there, says
    ``stop``, ``length``, ``refused`` or ``filtered``. Raises ``TableError`` with what to change.
    """
    return RESPONSES.needing(*required, filled=[name for name in required if name != "response"]).read(source)


def read_texts(source: TableSource) -> pa.Table:
    """Read a table of texts about groups, one per row in any order; a text is null if the model refused.

    Other columns are not read. A domain stands in every row or in none. Raises ``TableError`` with what to change.
    """
    table = TEXTS.read(source)
    if "domain" in table.column_names and table["domain"].null_count == table.num_rows:
        table = table.drop_columns(["domain"])
    return table


_TEXTS = ("noun", "noun_id", "noun_gender", "noun_phrase_type", "variants", "prompt", "persona", "reasoning")


def place_responses(responses: pa.Table, release: Release, file: Path) -> pa.Table:
    """Add to each response the ids of its descriptor and template in a release.

    A response names its ``axis``, ``descriptor`` and ``template`` by their texts, or
    by ids as in a run. Raises ``SelectionError`` if the release lacks one.
    """
    descriptors, templates = release.tables["descriptors"], release.tables["templates"]
    entry = _find(responses, descriptors, "descriptor", ("axis", "descriptor"), file)
    wording = _find(responses, templates, "template", ("template",), file)
    found = {name: descriptors[name].combine_chunks().take(entry) for name in _about(descriptors)}
    found |= {name: templates[name].combine_chunks().take(wording) for name in ("template_id", "template")}
    draws = _draws(pa.table({name: found[name] for name in ("template_id", "descriptor_id")}))
    ids = (found["template_id"].cast(pa.string()), found["descriptor_id"].cast(pa.string()), draws.cast(pa.string()))
    made = {"response_id": pc.binary_join_element_wise(*ids, "/"), **found, "draw": draws}
    made |= {name: responses[name] for name in (*_TEXTS, "tokens", "sample") if name in responses.column_names}
    made |= {name: responses[name] for name in ("response", "finish")}
    return pa.table({**{name: pa.array([""] * len(responses)) for name in ("prompt", "persona")}, **made})


def _about(descriptors: pa.Table) -> list[str]:
    names = ("axis", "axis_label", "bucket", "descriptor_id", "descriptor", "descriptor_preference")
    return [name for name in names if name in descriptors.column_names]


def _find(responses: pa.Table, entries: pa.Table, what: str, texts: tuple[str, ...], file: Path) -> pa.Array:
    """The row of each response's entry, by id if the responses have ids, else by texts."""
    keys = (f"{what}_id",) if f"{what}_id" in responses.column_names else texts
    place = pc.index_in(_joined(responses, keys), _joined(entries, keys))
    missing = np.flatnonzero(pc.is_null(place).to_numpy(zero_copy_only=False))
    if len(missing):
        named = ", ".join(f"{key} {responses[key][int(missing[0])].as_py()!r}" for key in keys)
        raise SelectionError(
            f"{file}: row {missing[0] + 1}: the release has no {what} with {named}; name the release that the prompts "
            "are from with --release, or measure the table alone with holisticbias measure"
        )
    return place


def _joined(table: pa.Table, keys: tuple[str, ...]) -> pa.Array:
    columns = [table[key].cast(pa.large_string()).combine_chunks() for key in keys]
    return pc.binary_join_element_wise(*columns, pa.scalar("\n", pa.large_string()))


def _draws(cells: pa.Table) -> pa.Array:
    """The number of each row within its cell, from 0."""
    _, cell = distinct_rows(cells)
    order = np.argsort(cell, kind="stable")
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(cell))))
    draws = np.empty(len(cell), np.int64)
    draws[order] = np.arange(len(cell)) - starts[cell[order]]
    return pa.array(draws, pa.int32())
