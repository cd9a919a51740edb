"""Perplexities of anyone's, from a Parquet or CSV file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from holisticbias_eval.errors import ScoresError

NAMES = ("axis", "template", "descriptor", "noun")
NUMBERS = ("nll", "tokens", "phrase_nll")
MISSING = ["", "NA", "NaN", "nan", "null", "None"]


def read_scores(path: Path) -> pa.Table:
    """The table of scores in a file, as the measures take it; ``ScoresError`` if it is none.

    The file has the columns ``axis, template, descriptor, noun, perplexity``, one
    row a sentence, and may have ``nll, tokens, phrase_nll``. A perplexity may be
    missing, a name may not.
    """
    table = _read(path)
    lacking = [name for name in (*NAMES, "perplexity") if name not in table.column_names]
    if lacking:
        raise ScoresError(f"{path} has no column {lacking[0]}: a table of scores has {', '.join(NAMES)} and perplexity")
    if not table.num_rows:
        raise ScoresError(f"{path} has no row: there is nothing to measure")
    columns = {name: _names(path, table[name], name) for name in NAMES}
    numbers = {n: _numbers(path, table[n], n) for n in ("perplexity", *NUMBERS) if n in table.column_names}
    return pa.table({**columns, "descriptor_id": columns["descriptor"], "noun_id": columns["noun"], **numbers})


def _read(path: Path) -> pa.Table:
    kind = path.suffix.lower()
    if kind not in (".parquet", ".csv"):
        raise ScoresError(f"{path} is neither .parquet nor .csv: save the table as one of them")
    if not path.is_file():
        raise ScoresError(f"{path} does not exist or is no file")
    try:
        if kind == ".parquet":
            return pq.read_table(path)
        types = dict.fromkeys(NAMES, pa.string()) | dict.fromkeys(("perplexity", *NUMBERS), pa.float64())
        options = pa.csv.ConvertOptions(column_types=types, null_values=MISSING)
        return pa.csv.read_csv(path, convert_options=options)
    except (OSError, pa.ArrowException) as error:
        raise ScoresError(f"{path} cannot be read as a table: {error}") from error


def _names(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    if column.null_count:
        raise ScoresError(f"{path}: column {name} is missing in {column.null_count:,} rows: every row needs one")
    try:
        return column.cast(pa.string())
    except pa.ArrowException as error:
        raise ScoresError(f"{path}: column {name} is not text but {column.type}") from error


def _numbers(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
        raise ScoresError(f"{path}: column {name} is not numbers but {column.type}")
    numbers = column.cast(pa.float64())
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
