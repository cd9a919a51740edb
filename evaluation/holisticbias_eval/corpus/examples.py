"""Tables of examples: sentences of people that mention a group and an attribute, before and after annotation."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from holisticbias.output import new_file
from holisticbias.spreadsheet import cell_text, safe_columns
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.published import is_published, read_published_examples
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.table_files import SUFFIXES, read_table

COLUMNS = ("id", "dimension", "group", "target", "attribute", "attribute_set", "text", "source", "date")
"""Columns of a table of examples, all text: ``dimension`` is the id of a specification."""
REQUIRED = ("dimension", "group", "text")
LABEL = "label"
"""1 biased, 0 not biased, null if the annotators disagree or too few have labelled."""
STATE = "annotation"
"""``agreed``, ``disagreed`` or ``incomplete``, if fewer than two annotators have labelled."""
LABEL_OF = "label:"
"""Beginning of the column with an annotator's labels."""


def read_examples(path: Path, specification: Specification | None = None) -> pa.Table:
    """Read a table of examples: .parquet, .csv or .jsonl, or published files in their own form.

    The result has ``COLUMNS``, null where the file has no such column, then ``label``, ``annotation`` and the labels of
    annotators if it has them; labels are 1, 0 or null. A row without an id gets one from its content.
    ``specification`` names the groups and terms of published files; see ``published.read_published_examples``.
    Raises ``CorpusError`` and ``ScoresError``.
    """
    if is_published(path):
        return _checked(path, read_published_examples(path, specification))
    if path.is_dir():
        raise CorpusError(f"{path} is a folder without published files that are known: name a table of examples")
    return _checked(path, read_table(path, dict.fromkeys(COLUMNS, pa.string())))


def write_examples(table: pa.Table, path: Path) -> None:
    """Write a table of examples in the form that its name ends with; raises ``CorpusError`` and ``OutputError``.

    In CSV a cell that a spreadsheet program would run as a formula has an apostrophe before it, which ``read_examples``
    removes.
    """
    refuse_suffix(path)
    with new_file(path) as file:
        if path.suffix == ".parquet":
            pq.write_table(table, file, compression="zstd")
        elif path.suffix == ".csv":
            pa.csv.write_csv(safe_columns(table), file)
        else:
            lines = (json.dumps(row, ensure_ascii=False) for row in table.to_pylist())
            file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def refuse_suffix(path: Path) -> None:
    """Raise ``CorpusError`` if no table can be written under this name."""
    if path.suffix not in SUFFIXES:
        raise CorpusError(f"{path.name[:80]} does not end in {', '.join(SUFFIXES)}: name the table so")


def annotators_of(table: pa.Table) -> tuple[str, ...]:
    """The names of the annotators whose labels a table has."""
    return tuple(name.removeprefix(LABEL_OF) for name in table.column_names if name.startswith(LABEL_OF))


def _checked(path: Path, table: pa.Table) -> pa.Table:
    for name in REQUIRED:
        if name not in table.column_names:
            found = ", ".join(repr(column[:40]) for column in table.column_names[:10])
            raise CorpusError(
                f"{path} has no column {name}: a table of examples has {', '.join(COLUMNS)}; found {found}"
            )
    columns = {name: _text(path, table, name) for name in COLUMNS if name != "id"}
    for name in REQUIRED:
        missing = pc.sum(pc.equal(pc.utf8_trim_whitespace(pc.fill_null(columns[name], "")), "")).as_py()
        if missing:
            raise CorpusError(f"{path}: column {name} is missing in {missing:,} rows: every example needs a value")
    columns = {"id": _ids(path, table, columns), **columns}
    if LABEL in table.column_names:
        columns[LABEL] = _labels(path, table[LABEL], LABEL)
    if STATE in table.column_names:
        columns[STATE] = _text(path, table, STATE)
    given = [name for name in table.column_names if name.startswith(LABEL_OF)]
    columns |= {name: _labels(path, table[name], name) for name in given}
    read = pa.table(columns)
    return _cell_texts(read) if path.suffix.lower() == ".csv" else read


def _text(path: Path, table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        return pa.chunked_array([pa.nulls(len(table), pa.string())])
    try:
        column = table[name].cast(pa.string())
    except pa.ArrowException as error:
        raise CorpusError(f"{path}: column {name} is not text but {str(table[name].type)[:80]}") from error
    return column if name in REQUIRED else pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)


def _ids(path: Path, table: pa.Table, columns: dict[str, pa.ChunkedArray]) -> pa.ChunkedArray:
    ids = _text(path, table, "id").to_pylist()
    seen: Counter[str] = Counter()
    rows = zip(*(columns[name].to_pylist() for name in REQUIRED), strict=True)
    for place, (known, row) in enumerate(zip(ids, rows, strict=True)):
        if known is None:
            made = hashlib.sha256(json.dumps(row).encode()).hexdigest()[:16]
            seen[made] += 1
            ids[place] = f"x{made}" if seen[made] == 1 else f"x{made}-{seen[made]}"
    repeated = [name for name, count in Counter(ids).items() if count > 1]
    if repeated:
        raise CorpusError(f"{path}: {len(repeated):,} ids stand in several rows, such as {repeated[0][:80]!r}")
    return pa.chunked_array([pa.array(ids, pa.string())])


def _labels(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Labels as 1, 0 and null."""
    known: dict[object, int | None] = {None: None, "": None, "0": 0, "1": 1, 0: 0, 1: 1}
    values = column.to_pylist()
    for value in values:
        if not (value is None or isinstance(value, bool | int | float | str)) or value not in known:
            raise CorpusError(f"{path}: column {name[:80]} is {str(value)[:40]!r} in a row: write 1, 0 or nothing")
    return pa.chunked_array([pa.array([known[value] for value in values], pa.int8())])


def _cell_texts(table: pa.Table) -> pa.Table:
    """The texts of the cells that ``safe_columns`` wrote."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts: Sequence[str | None] = table[field.name].to_pylist()
            table = table.set_column(
                place, field, pa.array([None if text is None else cell_text(text) for text in texts], pa.string())
            )
    return table
