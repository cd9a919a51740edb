"""The forms of users' tables of responses, judged or not, and of texts about groups; counts of responses."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import TableError
from holisticbias_eval.models.generation.requests import Finish, read_endings
from holisticbias_eval.prompts.collections import GROUPED, refuse_names
from holisticbias_eval.prompts.texts import HUMAN, MODEL
from holisticbias_eval.readers.classifier import PREFIX
from holisticbias_eval.readers.judging import OFFENSIVE
from holisticbias_eval.tables.fields import Field, such_rows
from holisticbias_eval.tables.forms import Form, columns

REQUIRED = ("axis", "template", "descriptor", "response")
RUN_FIELDS = (
    *columns("label", "response_id", "axis_label", "bucket"),
    Field("descriptor_id", filled_from="descriptor"),
    Field("descriptor_preference"),
    Field("template_id", filled_from="template"),
    *columns("label", "noun_id", "noun", "variants"),
    *columns("text", "prompt", "persona", "response", "reasoning", "judged"),
    Field("finish", choices=get_args(Finish)),
)
"""Columns of text of a run's responses, which are read if they are there."""
RESPONSES = Form("responses", (*columns("label", "axis", "template", "descriptor", "model"), *RUN_FIELDS), others=True)


TEXTS = Form(
    "texts",
    (
        *columns("text", "text", need=True), *GROUPED,
        Field("source", choices=(MODEL, HUMAN), hint="a text's origin belongs in another column, such as document"),
    ),
    (refuse_names,),
    blank_is_missing=True,
)  # fmt: skip
"""A user's table of texts about groups; a text is null if the model refused.

``subject`` is replaced before measuring, ``item`` the prompt or page that a text belongs to. A domain stands in every
row or in none.
"""


def read_responses(source: Path, required: Sequence[str] = REQUIRED) -> pa.Table:
    """Read a table of responses, one per row in any order; other columns are kept as they are.

    Of the required columns only ``response`` may be missing in a row: the model gave none. ``finish``, if there, says
    ``stop``, ``length``, ``refused`` or ``filtered``. Raises ``TableError`` with what to change.
    """
    return RESPONSES.needing(*required, filled=[name for name in required if name != "response"]).read(source)


CELL = columns("name", "axis", "template", "descriptor", need=True)


_RUN = (
    *RUN_FIELDS,
    *columns("number", "draw", "sample", "tokens"),
    *columns("probability", *OFFENSIVE),
)


def _refuse_partial(label: str, table: pa.Table) -> None:
    """Refuse responses that have the probabilities of some styles only."""
    styles = [table[name] for name in table.column_names if name.startswith(PREFIX)]
    present = sum((column.is_valid().to_numpy().astype(int) for column in styles), np.zeros(table.num_rows, int))
    some = np.flatnonzero((present > 0) & (present < len(styles)))
    if len(some):
        raise TableError(
            f"{label}: row {some[0] + 1} has probabilities of some styles only: fill in all of them, or none if the "
            f"response was not judged{such_rows(len(some))}"
        )


JUDGED = Form("responses", (*CELL, *_RUN, Field(PREFIX, "probability", prefix=True)), (_refuse_partial,))
OFFENCES = Form("probabilities", (*CELL, Field("probability", "probability", need=True), *_RUN),
                instead={"probability": tuple((name,) for name in OFFENSIVE)})  # fmt: skip
"""``probability`` is that of responses and of prompts."""


def _offences(source: Path) -> pa.Table:
    table = OFFENCES.read(source)
    if not any(name in table.column_names for name in OFFENSIVE):
        table = with_columns(table, dict.fromkeys(OFFENSIVE, table["probability"]))
    return table.drop_columns([name for name in ("probability",) if name in table.column_names])


TABLES: Mapping[str, Callable[[Path], pa.Table]] = {
    "labels": JUDGED.needing(PREFIX).read,
    "offensiveness": _offences,
    "responses": JUDGED.needing("response").read,
}
"""The readers of users' tables, by the answers that measures of responses need."""


def count_responses(table: pa.Table) -> Mapping[str, int]:
    """The number of responses, and how many of them are empty, truncated, refused, filtered or repeated.

    A repeated response has the same text as another response. Without a column ``finish`` it is not known which are
    truncated, refused or filtered, so these are not counted.
    """
    ends = read_endings(table)
    said = table["response"].filter(pa.array(ends.answered))
    counts = {"truncated": "length", "refused": "refused", "filtered": "filtered"}
    by_finish = Counter(ends.finish.to_pylist())
    return {
        "responses": len(table),
        "empty": int(ends.empty.sum()),
        **{name: by_finish[value] for name, value in counts.items() if "finish" in table.column_names},
        "repeated": len(said) - len(pc.unique(said)),
    }


def counts_in_words(table: pa.Table) -> str:
    """The counts of responses as a line."""
    counts = dict(count_responses(table))
    words, count = {"repeated": "the same as another"}, counts.pop("responses")
    return f"{count:,} responses: {', '.join(f'{n:,} {words.get(name, name)}' for name, n in counts.items())}"
