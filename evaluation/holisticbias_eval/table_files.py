"""Read a user's table from a CSV, JSON lines or Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from holisticbias.release.bounded import check_parquet
from holisticbias_eval.errors import ScoresError

SUFFIXES = (".csv", ".jsonl", ".parquet")
_MOST_COLUMNS = 1_000
_CHARACTERS = 1 << 20
_BLOCK = 1 << 26  # bytes: a row of CSV must fit


def read_table(path: Path, types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    """Read a whole table; ``types`` are those of columns whose type CSV would have to guess.

    Raises ``ScoresError`` with the reason if the file is unusable or has no rows.
    """
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise ScoresError(f"{path} is not .csv, .jsonl or .parquet: save the table as one of them")
    if not path.is_file():
        raise ScoresError(f"{path} does not exist or is not a file")
    try:
        table = _read(path, kind, types or {})
        table.validate(full=True)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        if kind != ".parquet" and not _is_utf8(path):
            raise ScoresError(f"{path} is not UTF-8 text: save it in UTF-8") from error
        raise ScoresError(f"{path} cannot be read as a table: {' '.join(str(error).split())[:200]}") from error
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise ScoresError(f"{path} has {table.column_names.count(name)} columns {name[:80]!r}: keep one")
    if not table.num_rows:
        raise ScoresError(f"{path} has no rows")
    return table


def _is_utf8(path: Path) -> bool:
    """Whether a file can be read and is UTF-8; a file that cannot be read counts as UTF-8."""
    try:
        with path.open(encoding="utf-8") as lines:
            while lines.read(_CHARACTERS):
                pass
    except UnicodeDecodeError:
        return False
    except OSError:
        return True
    return True


def _read(path: Path, kind: str, types: Mapping[str, pa.DataType]) -> pa.Table:
    if kind == ".csv":
        return _read_csv(path, types)
    if kind == ".jsonl":
        return _read_lines(path)
    return check_parquet(path).read()


def _read_csv(path: Path, types: Mapping[str, pa.DataType]) -> pa.Table:
    return pa.csv.read_csv(
        path,
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        read_options=pa.csv.ReadOptions(block_size=_BLOCK),
        convert_options=pa.csv.ConvertOptions(column_types=dict(types)),
    )


def _read_lines(path: Path) -> pa.Table:
    """JSON lines: one object per line, whose keys need not be the same."""
    rows = list(_objects(path))
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(names) > _MOST_COLUMNS:
        raise ScoresError(f"{path} has {len(names):,} different keys; at most {_MOST_COLUMNS:,} are read")
    try:
        return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
        raise ScoresError(f"{path} cannot be read as a table: {' '.join(str(error).split())[:200]}") from error


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ScoresError(f"{path}:{number}: it is not JSON: {error}") from error
            if not isinstance(row, dict):
                raise ScoresError(f"{path}:{number}: it is not a JSON object")
            yield row
