"""Judge a user's table of responses with a classifier."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from holisticbias.output import new_file
from holisticbias.spreadsheet import safe_columns
from holisticbias_eval.errors import ResponsesError
from holisticbias_eval.progress import Progress
from holisticbias_eval.readers.censor import censor, censor_settings
from holisticbias_eval.readers.labels import Judge, StylesReader
from holisticbias_eval.readers.reader import read_each

SETTINGS = b"holisticbias.classification"
"""The key of a Parquet file's metadata that holds the settings, as JSON."""


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """A table with the columns ``judged`` and ``p:LABEL``, what they depend on, and counts of its rows."""

    table: pa.Table
    settings: Mapping[str, str]
    classified: int
    mentions: int


def judge_table(table: pa.Table, judge: Judge, progress: Progress, *, censored: bool) -> JudgedTable:
    """Judge the column ``response``, after mentions of the column ``descriptor`` are replaced, if there is one.

    Adds ``judged``, the text that was classified, ``p:LABEL`` for each label
    and, if the card names an offensive label, ``offensive``. Earlier columns
    with these names, and all ``p:`` columns, are replaced. A response that is
    empty, refused or filtered has no probabilities.
    """
    texts = _answers(table)
    mentions = 0
    if censored and "descriptor" in table.column_names:
        texts, counts = censor(texts, table["descriptor"].to_pylist(), [None] * len(texts))
        mentions = int(counts.sum())
    found = read_each(StylesReader(judge=judge), texts, progress)
    columns = {"judged": pa.array(texts, pa.large_string())}
    columns |= dict(zip(found.column_names, found.columns, strict=True))
    if judge.card.offensive is not None:
        columns["offensive"] = columns[f"p:{judge.card.offensive}"]
    table = table.select([name for name in table.column_names if name not in columns and not name.startswith("p:")])
    for name, column in columns.items():
        table = table.append_column(name, column)
    settings = {**judge.classifier.settings, **censor_settings(censored=censored)}
    return JudgedTable(table, settings, len(texts) - found.column(0).null_count, mentions)


def _answers(table: pa.Table) -> list[str | None]:
    responses: list[str | None] = table["response"].to_pylist()
    if "finish" not in table.column_names:
        return responses
    kept = pc.invert(pc.is_in(table["finish"], pa.array(["refused", "filtered"], pa.string()))).to_pylist()
    return [response if answered else None for response, answered in zip(responses, kept, strict=True)]


def write_judged(judged: JudgedTable, path: Path) -> None:
    """Write a judged table as Parquet or CSV, whole or not at all; Parquet holds the settings as metadata.

    Raises ``ResponsesError`` if the name ends otherwise or CSV cannot hold a column.
    """
    refuse_name(path)
    with new_file(path) as made:
        if path.suffix.lower() == ".parquet":
            metadata = {SETTINGS: json.dumps(dict(judged.settings))}
            pq.write_table(judged.table.replace_schema_metadata(metadata), made, compression="zstd")
            return
        try:
            pa.csv.write_csv(safe_columns(judged.table), made)
        except pa.ArrowException as error:
            reason = " ".join(str(error).split())[:200]
            raise ResponsesError(f"{path}: CSV cannot hold the table, write .parquet: {reason}") from error


def refuse_name(path: Path) -> None:
    """Raise ``ResponsesError`` if a table cannot be written under this name."""
    if path.suffix.lower() not in {".csv", ".parquet"}:
        raise ResponsesError(f"{path} is neither .parquet nor .csv: give the file one of these endings")
