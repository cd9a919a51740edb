"""Read texts about groups that were made elsewhere."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from holisticbias.inputs import file_sha256
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import TableError
from holisticbias_eval.prompts.collections import WORDS
from holisticbias_eval.prompts.texts import MODEL, Making, Part, model_texts
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.forms import columns
from holisticbias_eval.tasks.collected import PromptsAsked, texts_name
from holisticbias_eval.tasks.response_files import RESPONSES, read_texts
from holisticbias_eval.tasks.sources import TaskSource, file_source

_RUN = ("response_id", "prompt", "persona", "response", "finish", "tokens", "reasoning")
_LONG = pa.large_string()
GIVEN = replace(
    RESPONSES,
    what="texts about groups",
    fields=(
        *RESPONSES.fields,
        *columns("text", "text", "group"),
        *columns("label", "domain", "subject", "item"),
        *WORDS,
    ),
)


def read_given_texts(path: Path, part: Part | None) -> TaskSource:
    """Read texts from a table with ``group`` and either ``text``, or ``response`` and ``prompt`` to join.

    ``domain, subject, forms, person, item, source, finish`` are read if they are there; ``source`` is ``model`` or
    ``human``.
    Raises ``TableError`` with what to change.
    """
    table = GIVEN.read(path)
    given = "text" in table.column_names
    if given and part is not None:
        raise TableError(f"--measured is for responses with prompts: {path} has texts, which are measured whole")
    if given:
        read = read_texts(path)
        columns_of_run = {name: table[name] for name in _RUN if name in table.column_names}
        table = pa.table(columns_of_run | dict(zip(read.column_names, read.columns, strict=True)))
    elif not {"group", "response"} <= {*table.column_names}:
        found = ", ".join(map(repr, table.column_names[:8]))[:200]
        raise TableError(
            f"{path}: a table of texts about groups has the columns group and text, or group, prompt and response; "
            f"this file has {found}"
        )
    else:
        for name in (name for name in ("group", "domain", "prompt") if name in table.column_names):
            Field(name).refuse_missing(str(path), name, table[name])
    own = part or ("whole" if "prompt" in table.column_names else "continuation")
    made = _filled(table) if given else model_texts(_filled(table), Making(own))
    about = {"measured_part": "the column text" if given else own}
    asked = PromptsAsked(made, made.slice(0, 0), own)
    return file_source(asked, path.stem, file_sha256(path), "prompts", about, name=texts_name(path.stem))


def _filled(table: pa.Table) -> pa.Table:
    """The table with the columns of a run: texts without a prompt have an empty one, and rows are numbered."""
    rows, names = table.num_rows, table.column_names
    numbers = [str(row) for row in range(1, rows + 1)]
    defaults = {"response_id": numbers, "prompt": [""] * rows, "persona": [""] * rows, "finish": ["stop"] * rows}
    made = {name: pa.array(values, _LONG) for name, values in defaults.items() if name not in names}
    if "text" in names:
        made |= {} if "response" in names else {"response": table["text"]}
        made |= {} if "source" in names else {"source": pa.array([MODEL] * rows, pa.string())}
    return with_columns(table, made)
