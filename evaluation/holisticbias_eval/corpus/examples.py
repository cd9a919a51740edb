"""Tables of examples: sentences of people that mention a group and an attribute, before and after annotation."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from holisticbias.output import new_file, refuse_file
from holisticbias.spreadsheet import cell_text, safe_columns
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.documents import digest_of
from holisticbias_eval.corpus.published import is_published
from holisticbias_eval.corpus.published_examples import read_published_examples
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import CSV, table_suffix
from holisticbias_eval.tables.forms import Form

COLUMNS = ("id", "dimension", "group", "target", "attribute", "attribute_set", "text", "source", "date")
"""Columns of a table of examples, all text: ``dimension`` is the id of a specification."""
REQUIRED = ("dimension", "group", "text")
LABEL = "label"
"""1 biased, 0 not biased, null if the annotators disagree or too few have labelled."""
STATE = "annotation"
"""``agreed``, ``disagreed`` or ``incomplete``, if fewer than two annotators have labelled."""
LABEL_OF = "label:"
"""Beginning of the column with an annotator's labels."""
SCHEMA = pa.schema([*((name, pa.string()) for name in COLUMNS), (LABEL, pa.int8())])
Column: TypeAlias = "pa.ChunkedArray | pa.Array"
WRITTEN = (".parquet", ".csv", ".jsonl")
FORM = Form(
    "examples",
    (
        *(Field(name, "label", need=name in REQUIRED) for name in COLUMNS),
        Field(LABEL, "number", choices=(0, 1)),
        Field(STATE),
        Field(LABEL_OF, "number", choices=(0, 1), prefix=True),
    ),
    blank_is_missing=True,
)


def read_examples(path: Path, specification: Specification | None = None) -> pa.Table:
    """Read a table of examples: .parquet, .csv or .jsonl, or published files in their own form.

    The result has ``COLUMNS``, null where the file has no such column, then ``label``, ``annotation`` and the labels of
    annotators if it has them; labels are 1, 0 or null. A row without an id gets one from its content.
    ``specification`` names the groups and terms of published files; see ``published.read_published_examples``.
    Raises ``CorpusError`` and ``TableError``.
    """
    published = is_published(path)
    if path.is_dir() and not published:
        raise CorpusError(f"{path} is a folder without published files that are known: name a table of examples")
    table = read_published_examples(path, specification) if published else FORM.read(path)
    none = pa.nulls(len(table), pa.string())
    columns: dict[str, Column] = {n: table[n] if n in table.column_names else none for n in COLUMNS}
    for name in REQUIRED:
        Field(name).refuse_missing(str(path), name, columns[name])
    columns["id"] = _ids(path, columns)
    for name in (name for name in table.column_names if name not in COLUMNS):
        columns[name] = table[name] if name == STATE else table[name].cast(pa.int8())
    if table_suffix(path) in CSV:  # cells that ``safe_columns`` wrote
        for name, values in columns.items():
            if pa.types.is_string(values.type):
                texts = [None if text is None else cell_text(text) for text in values.to_pylist()]
                columns[name] = pa.array(texts, pa.string())
    return pa.table(columns)


def write_examples(table: pa.Table, path: Path) -> None:
    """Write a table of examples in the form that its name ends with; raises ``CorpusError`` and ``OutputError``.

    In CSV a cell that a spreadsheet program would run as a formula has an apostrophe before it, which ``read_examples``
    removes.
    """
    refuse_target_table(path, ())
    with new_file(path) as file:
        if path.suffix == ".parquet":
            pq.write_table(table, file, compression="zstd")
        elif path.suffix == ".csv":
            pa.csv.write_csv(safe_columns(table), file)
        else:
            lines = (json.dumps(row, ensure_ascii=False) for row in table.to_pylist())
            file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def refuse_target_table(path: Path, sources: Iterable[Path]) -> None:
    """Raise ``CorpusError`` if no table has this name, or if it would replace one of the files that it is made from.

    Raises ``OutputError`` if no file can be written there.
    """
    if path.suffix not in WRITTEN:
        raise CorpusError(f"{path.name[:80]} must end in {', '.join(WRITTEN[:-1])} or {WRITTEN[-1]}")
    for source in sources:
        if path.exists() and source.exists() and path.samefile(source):
            raise CorpusError(f"{path} is read, and would be lost: name another file with --out")
    refuse_file(path)


def annotators_of(table: pa.Table) -> tuple[str, ...]:
    """The names of the annotators whose labels a table has."""
    return tuple(name.removeprefix(LABEL_OF) for name in table.column_names if name.startswith(LABEL_OF))


def _ids(path: Path, columns: Mapping[str, Column]) -> pa.Array:
    """The ids, made of the content where a row has none."""
    ids = columns["id"].to_pylist()
    seen: Counter[str] = Counter()
    rows = zip(*(columns[name].to_pylist() for name in REQUIRED), strict=True)
    for place, (known, row) in enumerate(zip(ids, rows, strict=True)):
        if known is None:
            own = digest_of(*row)[:16]
            seen[own] += 1
            ids[place] = f"x{own}" if seen[own] == 1 else f"x{own}-{seen[own]}"
    made = pa.array(ids, pa.string())
    Field("id").refuse_repeated(str(path), made)
    return made
