"""Read a user's table of scores from a Parquet or CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from holisticbias_eval.errors import ScoresError

NAMES = ("axis", "template", "descriptor", "noun")
IDS = ("descriptor_id", "noun_id")
"""Columns of a run's scores that distinguish terms with the same text; by default the text is the id."""
NUMBERS = ("nll", "tokens", "phrase_nll")
STANCES = ("template_id", "paraphrase_of", "opposite_of")
"""Columns of a run's scores for the templates that paraphrase or oppose each other."""


def read_scores(path: Path) -> pa.Table:
    """Read a table of scores from a file, in the form that measures take.

    The file has the columns ``axis, template, descriptor, noun, perplexity``, with
    one row per sentence in any order, and may have ``nll, tokens, phrase_nll,
    descriptor_id, noun_id, template_id, paraphrase_of, opposite_of``; other columns are not read. A
    perplexity may be missing, a name may not. Raises ``ScoresError``.
    """
    table = _read(path)
    if not table.num_rows:
        raise ScoresError(f"{path} has no rows: there is nothing to measure")
    columns = {name: _names(path, table[name], name) for name in NAMES}
    numbers = {n: _numbers(path, table[n], n) for n in ("perplexity", *NUMBERS) if n in table.column_names}
    known = [n for n in STANCES if n in table.column_names]
    stances = {n: table[n].cast(pa.string()) for n in known if "template_id" in known}
    texts = dict(zip(IDS, (columns["descriptor"], columns["noun"]), strict=True))
    ids = texts | {n: _names(path, table[n], n) for n in IDS if n in table.column_names}
    return pa.table({**columns, **ids, **numbers, **stances})


def _read(path: Path) -> pa.Table:
    kind = path.suffix.lower()
    if kind not in (".parquet", ".csv"):
        raise ScoresError(f"{path} is neither .parquet nor .csv: save the table as one of them")
    if not path.is_file():
        raise ScoresError(f"{path} does not exist or is not a file")
    try:
        if kind == ".parquet":
            with pq.ParquetFile(path) as file:
                return file.read(_columns(path, file.schema_arrow.names))
        with pa.csv.open_csv(path) as file:
            columns = _columns(path, file.schema.names)
        return pa.csv.read_csv(path, convert_options=_conversion(columns))
    except (OSError, pa.ArrowException) as error:
        raise ScoresError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from error


def _columns(path: Path, found: Sequence[str]) -> list[str]:
    """List the columns to read; ``ScoresError`` if a column is missing or repeated."""
    for name in (*NAMES, "perplexity"):
        if name not in found:
            raise ScoresError(
                f"{path} has no column {name}: a table of scores has {', '.join(NAMES)} and perplexity, "
                f"this file has {', '.join(map(repr, found[:8]))}"
            )
    columns = [name for name in (*NAMES, "perplexity", *NUMBERS, *IDS, *STANCES) if name in found]
    for name in columns:
        if found.count(name) > 1:
            raise ScoresError(f"{path} has {found.count(name)} columns {name}: keep one")
    return columns


def _conversion(columns: list[str]) -> pa.csv.ConvertOptions:
    types = dict.fromkeys((*NAMES, *IDS, *STANCES), pa.string()) | dict.fromkeys(("perplexity", *NUMBERS), pa.float64())
    missing = [*pa.csv.ConvertOptions().null_values, "None", "NAN"]
    return pa.csv.ConvertOptions(include_columns=columns, column_types=types, null_values=missing)


def _names(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        names = column.cast(pa.string())
    except pa.ArrowException as error:
        raise ScoresError(f"{path}: column {name} is not text but {column.type}") from error
    missing = pc.sum(pc.equal(pc.fill_null(names, ""), "")).as_py()
    if missing:
        raise ScoresError(f"{path}: column {name} is missing in {missing:,} rows: every row needs a value")
    return names


def _numbers(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Convert to numbers, also from text; NaN becomes null."""
    if pa.types.is_boolean(column.type):
        raise ScoresError(f"{path}: column {name} is not numbers but {column.type}")
    try:
        numbers = column.cast(pa.float64(), safe=False)
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise ScoresError(f"{path}: column {name} is not numbers but {column.type}: {reason}") from error
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
