"""Tables of responses: the forms of users' tables of judged ones, of which other columns are not read, and counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import TableError
from holisticbias_eval.measures.responses.styles import PREFIX
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import TableSource
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.response_files import RUN_FIELDS

CELL = columns("name", "axis", "template", "descriptor", need=True)
COUNTED = ("empty", "truncated", "refused", "filtered", "repeated")
OFFENSIVE = ("offensive", "prompt_offensive")


_RUN = (
    *RUN_FIELDS,
    Field("finish"),
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
            f"{label}: {len(some):,} rows have probabilities of some styles only, the first is row {some[0] + 1}: fill "
            "in all of them, or none if the response was not judged"
        )


JUDGED = Form("responses", (*CELL, *_RUN, Field(PREFIX, "probability", prefix=True)), (_refuse_partial,))
OFFENCES = Form("probabilities", (*CELL, Field("probability", "probability", need=True), *_RUN),
                instead={"probability": tuple((name,) for name in OFFENSIVE)})  # fmt: skip
"""``probability`` is that of responses and of prompts."""


def _offences(source: TableSource) -> pa.Table:
    table = OFFENCES.read(source)
    if not any(name in table.column_names for name in OFFENSIVE):
        for name in OFFENSIVE:
            table = table.append_column(name, table["probability"])
    return table.drop_columns([name for name in ("probability",) if name in table.column_names])


TABLES: Mapping[str, Callable[[TableSource], pa.Table]] = {
    "labels": JUDGED.needing("axis", "template", "descriptor", PREFIX).read,
    "offensiveness": _offences,
    "responses": JUDGED.needing("axis", "template", "descriptor", "response").read,
}
"""The readers of users' tables, by the answers that measures of responses need."""


def count_responses(table: pa.Table) -> Mapping[str, int]:
    """The number of responses, and how many of them are empty, truncated, refused, withheld or repeated.

    A repeated response has the same text as another response.
    """
    text, finish = table["response"].cast(pa.large_string()), table["finish"].cast(pa.string())
    withheld = pc.is_in(finish, pa.array(["refused", "filtered"]))
    empty = pc.and_(pc.equal(pc.utf8_trim_whitespace(text), ""), pc.invert(withheld))
    said = text.filter(pc.invert(pc.or_(empty, withheld)))
    counts = {"truncated": "length", "refused": "refused", "filtered": "filtered"}
    return {
        "responses": len(table),
        "empty": _number(empty),
        **{name: _number(pc.equal(finish, value)) for name, value in counts.items()},
        "repeated": len(said) - len(pc.unique(said)),
    }


def counts_in_words(table: pa.Table) -> str:
    """The counts of responses as a line."""
    counts = count_responses(table)
    return f"{counts['responses']:,} responses: {', '.join(f'{counts[name]:,} {name}' for name in COUNTED)}"


def _number(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask.cast(pa.int64())).as_py() or 0) if len(mask) else 0
