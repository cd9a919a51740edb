"""Data frames as files, so that a frame is read as the file of the same rows is."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.inputs import path_of
from holisticbias_eval.errors import EvaluationError, TableError
from holisticbias_eval.tables.files import LEVELS, mixes_flags, refuse_repeated_columns

LABEL = "the table"
"""The name of a table that is not a file."""
_LISTS = (list, tuple, set, frozenset, np.ndarray)


@contextmanager
def file_of(table: Any, column: str) -> Iterator[str]:
    """The name of a table: its own, or a file for as long as the block runs.

    A list is of rows, or of texts in this column, and so is a column of a frame or an array. Messages name that file as
    the table.
    Raises ``TableError`` if it is not a table.
    """
    if isinstance(table, str | Path):
        yield str(path_of("table", table, TableError))
        return
    if not hasattr(type(table), "columns"):  # a column of pandas, polars or Arrow, or an array of numpy
        to_list = next((name for name in ("to_list", "to_pylist", "tolist") if hasattr(table, name)), None)
        table = table if to_list is None else getattr(table, to_list)()
    if isinstance(table, Sequence) and not isinstance(table, str | bytes | bytearray):
        table = list(table)
    with TemporaryDirectory() as folder:
        path = _write(table, column, Path(folder))
        try:
            yield str(path)
        except EvaluationError as error:
            error.args = (str(error).replace(str(path), LABEL),)
            raise


def _write(table: Any, column: str, folder: Path) -> Path:
    """Write a table as Parquet, or as JSON lines if a column has several types or a type that Parquet lacks."""
    path = folder / "table.parquet"
    try:
        pq.write_table(_arrow_of(table, column).replace_schema_metadata(None), path, store_schema=False)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        path = folder / "table.jsonl"
        with path.open("w", encoding="utf-8") as lines:
            for number, row in enumerate(_rows_of(table, column), 1):
                lines.write(_line(row, number))
    return path


def _arrow_of(table: Any, column: str) -> pa.Table:
    if isinstance(table, list):
        rows = _list_rows(table, column)
        names = dict.fromkeys(name for row in rows for name in row) or {column: None}
        columns = {name: [row.get(name) for row in rows] for name in names}
        _refuse_unread(columns.values())
        return _without_extensions(pa.table(columns))
    if not hasattr(type(table), "__arrow_c_stream__") or not hasattr(type(table), "columns"):
        wanted = "a file, a list, a column, or a pandas, polars or Arrow table"
        raise TableError(f"{LABEL}: it must be {wanted}, not {type(table).__name__}")
    if not hasattr(table, "iloc"):
        if "Object" in map(str, getattr(table, "dtypes", ())):  # polars gives the addresses of Python objects to Arrow
            raise pa.ArrowInvalid("a column of Python objects")
        return _without_extensions(pa.table(table))
    _refuse_unread(cells for _, cells in table.items() if cells.dtype == object)
    return _without_extensions(pa.Table.from_pandas(table, preserve_index=False))


def _without_extensions(table: pa.Table) -> pa.Table:
    """The table; raises ``pa.ArrowInvalid`` for a column such as UUIDs or periods, which is stored as other values."""
    if any(isinstance(kind, pa.BaseExtensionType) for kind in table.schema.types):
        raise pa.ArrowInvalid("an extension type")
    return table


def _refuse_unread(columns: Iterable[Iterable[Any]]) -> None:
    """Raise ``pa.ArrowInvalid`` for cells that Arrow reads as other values, or that end the process when it does."""
    for cells in columns:
        if mixes_flags(cells):
            raise pa.ArrowInvalid("true or false among other values")
        if any(map(_is_deep, cells)):
            raise pa.ArrowInvalid("too many lists in each other")


def _is_deep(cell: Any, levels: int = LEVELS) -> bool:
    """Whether lists and objects stand in each other deeper than is read from a file, such as a list in itself."""
    inner = cell.values() if isinstance(cell, dict) else cell
    return not levels or (isinstance(cell, (dict, *_LISTS)) and any(_is_deep(one, levels - 1) for one in inner))


def _rows_of(table: Any, column: str) -> list[Mapping[Any, Any]]:
    if isinstance(table, list):
        return _list_rows(table, column)
    names = [str(name) for name in getattr(table, "column_names", table.columns)]
    refuse_repeated_columns(LABEL, names, names, str)
    if hasattr(table, "iloc"):
        columns = [table.iloc[:, place] for place in range(len(names))]
        cells = [column.astype(object).where(column.notna(), None).tolist() for column in columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]
    rows: list[Mapping[Any, Any]] = table.to_dicts() if hasattr(table, "to_dicts") else pa.table(table).to_pylist()
    return rows


def _list_rows(rows: list[Any], column: str) -> list[Mapping[Any, Any]]:
    return [row if isinstance(row, Mapping) else {column: row} for row in rows]


def _line(row: Mapping[Any, Any], number: int) -> str:
    try:
        return json.dumps({str(name): cell for name, cell in row.items()}, default=_plain) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise TableError(f"{LABEL}: row {number} cannot be written as JSON: {error}") from error


def _plain(cell: Any) -> Any:
    """An array as a list, as Arrow reads it, and any other value that JSON lacks as text."""
    return cell.tolist() if isinstance(cell, np.ndarray) else str(cell)
