"""Read a user's table of responses from a CSV, JSONL or Parquet file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import ResponsesError
from holisticbias_eval.table_files import read_table

REQUIRED = ("axis", "template", "descriptor", "response")
FINISHES = ("stop", "length", "refused", "filtered")
_LONG = ("response", "prompt", "persona", "reasoning", "judged")
_TEXTS = (
    "response_id", "axis", "axis_label", "bucket", "descriptor_id", "descriptor", "descriptor_preference",
    "template_id", "template", "noun_id", "noun", "variants", "finish", "model",
)  # fmt: skip
_KINDS = {name: pa.string() for name in _TEXTS} | {name: pa.large_string() for name in _LONG}


def read_responses(path: Path, required: Sequence[str] = REQUIRED) -> pa.Table:
    """Read a table of responses, one per row in any order; other columns are kept as they are.

    Known columns of text become text. Of the required columns only ``response``
    may be missing in a row: the model gave none. ``finish``, if there, says
    ``stop``, ``length``, ``refused`` or ``filtered``. Raises ``ResponsesError``
    with what to change.
    """
    table = read_table(path, _KINDS)
    _refuse_columns(path, table.column_names, required)
    for i, name in enumerate(table.column_names):
        if name in _KINDS:
            table = table.set_column(i, name, _texts(path, table[name], name))
    for name in required:
        missing = pc.sum(pc.equal(pc.fill_null(table[name], ""), "")).as_py()
        if missing and name != "response":
            raise ResponsesError(f"{path}: column {name} is missing in {missing:,} rows: every row needs a value")
    if "finish" in table.column_names:
        _refuse_finishes(path, table["finish"])
    return table


def _refuse_columns(path: Path, found: Sequence[str], required: Sequence[str]) -> None:
    for name in required:
        if name not in found:
            raise ResponsesError(
                f"{path} has no column {name}: a table of responses has {', '.join(required)}, "
                f"this file has {', '.join(map(repr, found[:8]))[:200]}"
            )


def _texts(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return column.cast(_KINDS[name])
    except pa.ArrowException as error:
        raise ResponsesError(f"{path}: column {name} is not text but {str(column.type)[:80]}") from error


def _refuse_finishes(path: Path, column: pa.ChunkedArray) -> None:
    unknown = [f for f in column.unique().to_pylist() if f not in (*FINISHES, "", None)]
    if unknown:
        raise ResponsesError(
            f"{path}: column finish has {unknown[0][:80]!r}: write {', '.join(FINISHES)}, or leave the column out"
        )
