"""Read a user's table from a CSV, JSON lines or Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from holisticbias_eval.errors import ScoresError

SUFFIXES = (".csv", ".jsonl", ".parquet")


def read_table(path: Path) -> pa.Table:
    """Read a whole table; raises ``ScoresError`` with the reason if the file is unusable or has no rows."""
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise ScoresError(f"{path} is not a table: save it as {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if not path.is_file():
        raise ScoresError(f"{path} does not exist or is not a file")
    try:
        table = _read(path, kind)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise ScoresError(f"{path} cannot be read as a table: {' '.join(str(error).split())[:200]}") from error
    doubled = [name for name in table.column_names if table.column_names.count(name) > 1]
    if doubled:
        raise ScoresError(f"{path} has {table.column_names.count(doubled[0])} columns {doubled[0]}: keep one")
    if not table.num_rows:
        raise ScoresError(f"{path} has no rows")
    return table


def _read(path: Path, kind: str) -> pa.Table:
    if kind == ".csv":
        return _read_csv(path)
    if kind == ".jsonl":
        return _read_lines(path)
    with pq.ParquetFile(path) as file:
        return file.read()


def _read_csv(path: Path) -> pa.Table:
    parsing = pa.csv.ParseOptions(newlines_in_values=True)
    return pa.csv.read_csv(
        path, parse_options=parsing, convert_options=pa.csv.ConvertOptions(strings_can_be_null=False)
    )


def _read_lines(path: Path) -> pa.Table:
    """JSON lines: one object per line, whose keys need not be the same."""
    rows = list(_objects(path))
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    except pa.ArrowException as error:
        raise ScoresError(f"{path}: the values of a column are of different types: {error}") from error


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                raise ScoresError(f"{path}:{number}: it is not JSON: {error}") from error
            if not isinstance(row, dict):
                raise ScoresError(f"{path}:{number}: it is not a JSON object")
            yield row
