"""Rows of a table as the bytes of a file, or written by the ending of its name."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Rows = Sequence[Mapping[str, Any]]


def as_csv(rows: Rows, delimiter: str = ",", end: str = "\n") -> bytes:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode("utf-8", "replace")


def as_lines(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_parquet(rows: Rows) -> bytes:
    file = io.BytesIO()
    pq.write_table(rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(list(rows)), file)
    return file.getvalue()


def with_commas(rows: Rows) -> Rows:
    """The rows with decimal commas."""
    return [{k: str(v).replace(".", ",") if isinstance(v, float) else v for k, v in row.items()} for row in rows]


def write_table(path: Path, rows: Rows | pa.Table) -> Path:
    """Write rows as CSV, JSON lines or Parquet."""
    if isinstance(rows, pa.Table) and path.suffix != ".parquet":
        rows = rows.to_pylist()
    written = {".jsonl": as_lines, ".parquet": as_parquet}.get(path.suffix)
    path.write_bytes(written(rows) if written else as_csv(rows, end="\r\n"))
    return path
