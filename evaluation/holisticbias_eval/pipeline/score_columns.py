"""Read and check columns of a user's table from a Parquet or CSV file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from holisticbias.release.bounded import check_parquet
from holisticbias_eval.errors import ScoresError

ROUNDING = 1e-6
"""A probability may exceed 1 by this much: sums of float32 do."""

Choice = Callable[[Sequence[str]], tuple[Sequence[str], Sequence[str]]]
"""Chooses columns among the columns of a file: those of text, and those of numbers."""


def read_columns(path: Path, choose: Choice) -> pa.Table:
    """Read the chosen columns of a file; ``ScoresError`` if it is not a table, has no rows, or repeats a column."""
    kind = path.suffix.lower()
    if kind not in (".parquet", ".csv"):
        raise ScoresError(f"{path} is neither .parquet nor .csv: save the table as one of them")
    if not path.is_file():
        raise ScoresError(f"{path} does not exist or is not a file")
    try:
        table = _parquet(path, choose) if kind == ".parquet" else _csv(path, choose)
    except (OSError, pa.ArrowException) as error:
        raise ScoresError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from error
    if not table.num_rows:
        raise ScoresError(f"{path} has no rows: there is nothing to measure")
    return table


def _parquet(path: Path, choose: Choice) -> pa.Table:
    file = check_parquet(path)
    found = file.schema.names
    texts, numbers = choose(found)
    columns = [*texts, *numbers]
    _refuse_repeated(path, found, columns)
    return file.read(columns)


def _csv(path: Path, choose: Choice) -> pa.Table:
    with pa.csv.open_csv(path) as file:
        found = file.schema.names
    texts, numbers = choose(found)
    columns = [*texts, *numbers]
    _refuse_repeated(path, found, columns)
    types = dict.fromkeys(texts, pa.string()) | dict.fromkeys(numbers, pa.float64())
    missing = [*pa.csv.ConvertOptions().null_values, "None", "NAN"]
    options = pa.csv.ConvertOptions(include_columns=columns, column_types=types, null_values=missing)
    return pa.csv.read_csv(path, convert_options=options)


def _refuse_repeated(path: Path, found: Sequence[str], columns: Sequence[str]) -> None:
    for name in columns:
        if found.count(name) > 1:
            raise ScoresError(f"{path} has {found.count(name)} columns {name}: keep one")


def names_of(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column of names as text; ``ScoresError`` if a name is missing."""
    try:
        names = column.cast(pa.string())
    except pa.ArrowException as error:
        raise ScoresError(f"{path}: column {name} is not text but {column.type}") from error
    missing = pc.sum(pc.equal(pc.fill_null(names, ""), "")).as_py()
    if missing:
        raise ScoresError(f"{path}: column {name} is missing in {missing:,} rows: every row needs a value")
    return names


def numbers_of(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column converted to numbers, also from text; NaN stays."""
    if pa.types.is_boolean(column.type):
        raise ScoresError(f"{path}: column {name} is not numbers but {column.type}")
    try:
        return column.cast(pa.float64(), safe=False)
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise ScoresError(f"{path}: column {name} is not numbers but {column.type}: {reason}") from error


def probabilities_of(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column of probabilities; a missing value is of a text that was not judged."""
    numbers = numbers_of(path, column, name)
    outside = pc.or_(pc.is_nan(numbers), pc.or_(pc.less(numbers, 0), pc.greater(numbers, 1 + ROUNDING)))
    count = pc.sum(outside).as_py()
    if count:
        first = numbers.filter(outside)[0].as_py()
        raise ScoresError(
            f"{path}: column {name} is not a probability in {count:,} rows, for example {first:g}: values must lie "
            "between 0 and 1; leave the cell empty for a text that was not judged"
        )
    return numbers
