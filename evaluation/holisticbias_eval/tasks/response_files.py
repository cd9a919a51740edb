"""The forms of users' tables of responses and of texts about groups."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import TableError
from holisticbias_eval.prompts.group_words import WORDS
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
