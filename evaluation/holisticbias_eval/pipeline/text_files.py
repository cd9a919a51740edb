"""Read a user's table of texts about groups from a CSV, JSON lines or Parquet file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import ScoresError
from holisticbias_eval.prompts.group_words import IN_FILES, given_words
from holisticbias_eval.table_files import read_table

REQUIRED = ("text", "group")
SOURCES = ("model", "human")
_KINDS = {
    "text": pa.large_string(),
    "group": pa.string(),
    "domain": pa.string(),
    "subject": pa.string(),
    "item": pa.string(),
    "source": pa.string(),
}
_LONGEST_NAME = 1000


def read_texts(path: Path) -> pa.Table:
    """Read a table of texts, one per row in any order; other columns are not read.

    Its columns are ``text`` (null if the model refused) and ``group``, and it may have ``domain`` (in every row or in
    none), ``subject`` (the name or term that is replaced before measuring), ``forms`` (the words for the group, which
    are replaced too), ``person`` (whether the subject is a person's name), ``item`` (the prompt or page that a text
    belongs to) and ``source`` (``model`` or ``human``). Raises ``ScoresError`` with what to change.
    """
    table = read_table(path, {**_KINDS, **IN_FILES})
    for name in REQUIRED:
        if name not in table.column_names:
            found = ", ".join(repr(column[:40]) for column in table.column_names[:8])
            raise ScoresError(
                f"{path} has no column {name}: a table of texts has text and group, and may have domain, subject, "
                f"forms, person, item and source; this file has {found}"
            )
    columns = {name: _texts(path, table[name], name) for name in _KINDS if name in table.column_names}
    _refuse_missing(path, columns["group"], "group")
    if "domain" in columns and columns["domain"].null_count < len(table):
        _refuse_missing(path, columns["domain"], "domain")
    elif "domain" in columns:
        del columns["domain"]
    if "source" in columns:
        _refuse_sources(path, columns["source"])
    for name in ("subject", "item"):
        if name in columns:
            columns[name] = _without_empty(columns[name])
    return pa.table({**columns, **dict(given_words(path, table))})


def _texts(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)
    try:
        if not text and not (name != "text" and pa.types.is_integer(kind)):
            raise pa.ArrowInvalid("not text")
        return column.cast(_KINDS[name])
    except pa.ArrowException as error:
        raise ScoresError(f"{path}: column {name} is not text but {str(column.type)[:80]}") from error


def _refuse_missing(path: Path, column: pa.ChunkedArray, name: str) -> None:
    missing = pc.sum(pc.equal(pc.fill_null(column, ""), "")).as_py()
    if missing:
        raise ScoresError(f"{path}: column {name} is missing in {missing:,} rows: every row needs a value")
    longest = pc.max(pc.utf8_length(column)).as_py()
    if longest > _LONGEST_NAME:
        raise ScoresError(f"{path}: column {name} has a name of {longest:,} characters: the most is {_LONGEST_NAME:,}")


def _refuse_sources(path: Path, column: pa.ChunkedArray) -> None:
    unknown = [source for source in column.unique().to_pylist() if source not in (*SOURCES, None)]
    if unknown:
        raise ScoresError(
            f"{path}: column source has {unknown[0][:40]!r}: write {' or '.join(SOURCES)}, or leave the column out"
        )


def _without_empty(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
