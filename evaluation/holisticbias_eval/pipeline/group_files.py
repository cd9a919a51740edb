"""Read a user's files of sentences about several groups: test sets to score, and tables of perplexities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.corpus.published import is_published, read_group_perplexities, read_test_sets
from holisticbias_eval.errors import ScoresError
from holisticbias_eval.measures.perplexities.dimensions import IDS
from holisticbias_eval.pipeline.score_columns import names_of, numbers_of
from holisticbias_eval.table_files import read_table

TEST_FILE = "test.parquet"
"""The test part in the folder of a split."""
ALL = "all"
"""The dimension of a table without the column ``dimension``."""
NAMES = ("group", "sentence")
FURTHER = ("original_group", "target", "attribute", "attribute_set")
"""Columns of text of a test set that a run keeps."""
SCORED = ("nll", "tokens")
_TEXT = ("dimension", *NAMES, *IDS, *FURTHER)


def read_group_scores(path: Path) -> pa.Table:
    """Read ``dimension, group, sentence, perplexity`` from .csv, .jsonl or .parquet.

    ``sentence`` is an id that groups share, or the text of the sentence; ``sentence_id`` or ``item`` then say which
    sentences of the groups belong together. Without ``dimension`` all rows are of one. A perplexity may be missing.
    A published file or folder is read with the files of its other groups; see ``published.read_group_perplexities``.
    Raises ``ScoresError`` and ``CorpusError``.
    """
    if is_published(path):
        return read_group_perplexities(path)
    table = _read(path, (*NAMES, "perplexity"), "perplexities")
    columns = _texts(path, table)
    columns["perplexity"] = _numbers(path, table["perplexity"], "perplexity")
    columns |= {name: _numbers(path, table[name], name) for name in SCORED if name in table.column_names}
    return pa.table(columns)


def read_test_set(path: Path) -> pa.Table:
    """Read the sentences to score from a file, from ``test.parquet`` in the folder of a split, or from published files.

    The result has ``dimension``, ``group``, ``sentence``, and of ``IDS`` and ``FURTHER`` what the file has. Raises
    ``ScoresError`` and ``CorpusError``.
    """
    file = path / TEST_FILE if path.is_dir() else path
    if not (path / TEST_FILE).is_file() and is_published(path):
        return read_test_sets(path).drop_columns(["perplexity"])
    if path.is_dir() and not file.is_file():
        raise ScoresError(
            f"{path} has no {TEST_FILE}: make it with holisticbias corpus split, or name a file of sentences"
        )
    return pa.table(_texts(file, _read(file, NAMES, "sentences")))


def _read(path: Path, needed: Sequence[str], what: str) -> pa.Table:
    table = read_table(path, dict.fromkeys(_TEXT, pa.string()))
    for name in needed:
        if name not in table.column_names:
            raise ScoresError(
                f"{path} has no column {name}: a table of {what} has dimension, {', '.join(needed[:-1])} and "
                f"{needed[-1]}, this file has {', '.join(repr(column[:80]) for column in table.column_names[:8])}"
            )
    return table


def _texts(path: Path, table: pa.Table) -> dict[str, pa.ChunkedArray | pa.Array]:
    named = {name: names_of(path, table[name], name) for name in ("dimension", *NAMES) if name in table.column_names}
    columns = {"dimension": pa.array([ALL] * table.num_rows), **named}
    for name in (*IDS, *FURTHER):
        if name in table.column_names:
            columns[name] = _text(path, table[name], name)
    return columns


def _text(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        text = column.cast(pa.string())
    except pa.ArrowException as error:
        raise ScoresError(f"{path}: column {name} is not text but {column.type}") from error
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _numbers(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    if pa.types.is_string(column.type):
        blank = pc.equal(pc.utf8_trim_whitespace(column), "")
        column = pc.if_else(blank, pa.scalar(None, pa.string()), column)
    return numbers_of(path, column, name)
