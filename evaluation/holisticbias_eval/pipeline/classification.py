"""Judge a user's table of responses with a classifier."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from holisticbias.output import new_file
from holisticbias.spreadsheet import safe_columns
from holisticbias_eval.classifiers.censor import censor, censor_settings
from holisticbias_eval.classifiers.classifier import Classifier
from holisticbias_eval.classifiers.stored import classify_texts, probability_columns
from holisticbias_eval.errors import ResponsesError
from holisticbias_eval.models.store.shards import ShardStore
from holisticbias_eval.progress import Progress

SETTINGS = b"holisticbias.classification"
"""The key of a Parquet file's metadata that holds the settings, as JSON."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A table with the columns ``judged`` and ``p:LABEL``, what they depend on, and counts of its rows."""

    table: pa.Table
    settings: Mapping[str, str]
    classified: int
    mentions: int


def judge_responses(
    table: pa.Table, classifier: Classifier, store: ShardStore | None, progress: Progress, *, censored: bool
) -> Judged:
    """Judge the column ``response``, after mentions of the column ``descriptor`` are replaced, if there is one.

    Adds ``judged``, the text that was classified, ``p:LABEL`` for each label
    and, if the card names an offensive label, ``offensive``. Earlier columns
    with these names, and all ``p:`` columns, are replaced. A response that is
    empty, refused or filtered has no probabilities.
    """
    texts = _answers(table)
    mentions = 0
    if censored and "descriptor" in table.column_names:
        descriptors = table["descriptor"].to_pylist()
        texts, counts = censor(texts, descriptors, [None] * len(texts))
        mentions = int(counts.sum())
    values = classify_texts(classifier, texts, store, progress)
    columns: dict[str, pa.Array] = {"judged": pa.array(texts, pa.large_string())}
    columns |= probability_columns(classifier.card, values)
    if classifier.card.offensive is not None:
        columns["offensive"] = columns[f"p:{classifier.card.offensive}"]
    kept = [name for name in table.column_names if name not in columns and not name.startswith("p:")]
    table = table.select(kept)
    for name, column in columns.items():
        table = table.append_column(name, column)
    settings = {**classifier.settings, **censor_settings(censored=censored)}
    return Judged(table, settings, int((~np.isnan(values[:, 0])).sum()), mentions)


def _answers(table: pa.Table) -> list[str | None]:
    responses: list[str | None] = table["response"].to_pylist()
    if "finish" not in table.column_names:
        return responses
    kept = pc.invert(pc.is_in(table["finish"], pa.array(["refused", "filtered"], pa.string()))).to_pylist()
    return [response if answered else None for response, answered in zip(responses, kept, strict=True)]


def write_judged(judged: Judged, path: Path) -> None:
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
