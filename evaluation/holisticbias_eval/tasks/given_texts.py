"""Read texts about groups that were made elsewhere."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.inputs import file_sha256
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import TableError
from holisticbias_eval.prompts.texts import MODEL, Part, model_texts
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.forms import Form
from holisticbias_eval.tasks.collected import PromptsAsked, texts_name
from holisticbias_eval.tasks.response_files import RESPONSES, TEXTS
from holisticbias_eval.tasks.sources import TaskSource, file_source

_RUN = ("response_id", "prompt", "persona", "response", "finish", "tokens", "reasoning")
_LONG = pa.large_string()
GIVEN = Form(
    "texts about groups",
    (*TEXTS.fields, *RESPONSES.fields),
    TEXTS.checks,
    instead={"text": (("response",),)},
    others=True,
    blank_is_missing=True,
)


def read_given_texts(path: Path, part: Part | None) -> TaskSource:
    """Read texts from a table with ``group`` and either ``text``, or ``response`` and perhaps ``prompt`` to join.

    ``domain, subject, forms, person, item, source, finish`` are read if they are there; ``source`` is ``model`` or
    ``human``. Beside a column ``text`` other columns than these and those of responses are not read.
    Raises ``TableError`` with what to change.
    """
    table = GIVEN.read(path)
    given = "text" in table.column_names
    if given and part is not None:
        raise TableError(f"--measured is for responses with prompts: {path} has texts, which are measured whole")
    own = part or ("whole" if "prompt" in table.column_names else "continuation")
    if given:
        known = {*_RUN, *(field.name for field in TEXTS.fields)}
        made = _filled(table.select([name for name in table.column_names if name in known]))
    else:
        if "prompt" in table.column_names:
            Field("prompt").refuse_missing(str(path), "prompt", table["prompt"])
        table = _filled(table)
        made = with_columns(model_texts(table, own), table.select(["source"]))
    about = {"measured_part": "the column text" if given else own}
    asked = PromptsAsked(made, made.slice(0, 0), own)
    return file_source(asked, path.stem, file_sha256(path), "prompts", about, name=texts_name(path.stem))


def _filled(table: pa.Table) -> pa.Table:
    """The table with the columns of a run: texts without a prompt have an empty one, and rows are numbered.

    A text without a ``source`` is a model's.
    """
    rows, names = table.num_rows, table.column_names
    numbers = [str(row) for row in range(1, rows + 1)]
    defaults = {"response_id": numbers, "prompt": [""] * rows, "persona": [""] * rows, "finish": ["stop"] * rows}
    made = {name: pa.array(values, _LONG) for name, values in defaults.items() if name not in names}
    if "text" in names and "response" not in names:
        made["response"] = table["text"]
    source = table["source"] if "source" in names else pa.chunked_array([pa.nulls(rows, pa.string())])
    made["source"] = pc.fill_null(source, MODEL)
    return with_columns(table, made)
