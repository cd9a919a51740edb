"""The form that the name of a file to write ends in, and tables as Parquet, CSV or JSON lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from holisticbias.errors import OutputError, in_one_line
from holisticbias.output import new_file
from holisticbias.release.export import rows_of, write_lines
from holisticbias.spreadsheet import safe_columns
from holisticbias_eval.errors import TableError
from holisticbias_eval.settings import listed

FORMS = ("parquet", "csv", "jsonl")

F = TypeVar("F", bound=str)


def form_of(path: Path | str, *forms: F) -> F:
    """The form that a file's name ends in; raises ``OutputError`` for any other ending."""
    for form in forms:
        if Path(path).suffix.lower() == f".{form}":
            return form
    raise OutputError(f"{path}: its name must end in {listed([f'.{form}' for form in forms], 'or')}")


def write_table(table: pa.Table, path: Path, metadata: Mapping[bytes, str] | None = None) -> None:
    """Write a table, whole or not at all; Parquet holds the ``metadata``.

    In CSV a cell that a spreadsheet program would run as a formula has an apostrophe before it. Raises ``TableError``
    if CSV cannot hold a column, and ``OutputError``, also for a name that ends in none of ``FORMS``.
    """
    form = form_of(path, *FORMS)
    with new_file(path) as file:
        if form == "parquet":
            pq.write_table(table.replace_schema_metadata(metadata), file, compression="zstd")
        elif form == "jsonl":
            write_lines(file, rows_of(table))
        else:
            try:
                pa.csv.write_csv(safe_columns(table), file)
            except pa.ArrowException as error:
                reason = in_one_line(error)
                raise TableError(f"{path}: CSV cannot hold the table, write .parquet or .jsonl: {reason}") from error
