"""Read a user's table of responses from a CSV, JSONL or Parquet file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from holisticbias_eval.errors import ResponsesError

REQUIRED = ("axis", "template", "descriptor", "response")
FINISHES = ("stop", "length", "refused", "filtered")
_LONG = ("response", "prompt", "persona", "reasoning", "judged")
_TEXTS = (
    "response_id", "axis", "axis_label", "bucket", "descriptor_id", "descriptor", "descriptor_preference",
    "template_id", "template", "noun_id", "noun", "variants", "finish", "model",
)  # fmt: skip
_KINDS = {name: pa.string() for name in _TEXTS} | {name: pa.large_string() for name in _LONG}
_BLOCK = 1 << 26  # bytes: a line of JSON must fit


def read_responses(path: Path, required: Sequence[str] = REQUIRED) -> pa.Table:
    """Read a table of responses, one per row in any order; other columns are kept as they are.

    Known columns of text become text. Of the required columns only ``response``
    may be missing in a row: the model gave none. ``finish``, if there, says
    ``stop``, ``length``, ``refused`` or ``filtered``. Raises ``ResponsesError``
    with what to change.
    """
    table = _read(path)
    _refuse_columns(path, table.column_names, required)
    if not table.num_rows:
        raise ResponsesError(f"{path} has no rows: there is nothing to judge")
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


def _read(path: Path) -> pa.Table:
    kind = path.suffix.lower()
    if kind not in {".csv", ".jsonl", ".parquet"}:
        raise ResponsesError(f"{path} is not .csv, .jsonl or .parquet: save the table as one of them")
    if not path.is_file():
        raise ResponsesError(f"{path} does not exist or is not a file")
    try:
        table = {".csv": _read_csv, ".jsonl": _read_jsonl, ".parquet": _read_parquet}[kind](path)
        table.validate(full=True)
    except (OSError, pa.ArrowException) as error:
        raise ResponsesError(f"{path} cannot be read as a table: {' '.join(str(error).split())[:200]}") from error
    return table


def _read_csv(path: Path) -> pa.Table:
    return pa.csv.read_csv(
        path,
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        read_options=pa.csv.ReadOptions(block_size=_BLOCK),
        convert_options=pa.csv.ConvertOptions(column_types=_KINDS),
    )


def _read_jsonl(path: Path) -> pa.Table:
    return pa.json.read_json(path, read_options=pa.json.ReadOptions(block_size=_BLOCK))


def _read_parquet(path: Path) -> pa.Table:
    with pq.ParquetFile(path) as file:
        return file.read()


def _refuse_columns(path: Path, found: Sequence[str], required: Sequence[str]) -> None:
    for name in required:
        if name not in found:
            raise ResponsesError(
                f"{path} has no column {name}: a table of responses has {', '.join(required)}, "
                f"this file has {', '.join(map(repr, found[:8]))[:200]}"
            )
    for name in found:
        if found.count(name) > 1:
            raise ResponsesError(f"{path} has {found.count(name)} columns {name[:80]!r}: keep one")


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
