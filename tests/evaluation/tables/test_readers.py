"""Every reader of users' tables that is not recorded reads every form of file, and refuses bad tables in one line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.evaluation.tables.written import FILES, MEASURED, READERS, Rows, as_csv, as_lines, as_parquet, write

from holisticbias_eval.errors import EvaluationError


def plain(found: Any) -> Any:
    """The table of a reader without the column ``odd``."""
    if isinstance(found, pa.Table):
        return found.select([name for name in found.column_names if name != "odd"]).to_pylist()
    return found


@pytest.mark.parametrize("reader", READERS)
def test_every_form_of_file(reader: str, tmp_path: Path) -> None:
    read, rows = READERS[reader]
    expected = plain(read(write(tmp_path, "first.jsonl", as_lines(rows))))
    for form, (name, written) in FILES.items():
        assert plain(read(write(tmp_path, name, written(rows)))) == expected, form


@pytest.mark.parametrize("reader", MEASURED)
def test_every_data_frame(reader: str, tmp_path: Path) -> None:
    read, rows = MEASURED[reader]
    expected = plain(read(write(tmp_path, "t.parquet", as_parquet(rows))))
    arrow = pa.Table.from_pylist(list(rows))
    frames = pd.DataFrame(rows), pd.DataFrame(rows, dtype=object), pl.DataFrame(rows), arrow
    for frame in frames:
        assert plain(read(frame)) == expected, type(frame)


def first(rows: Rows, value: object) -> Rows:
    """The rows, with another value in the first column of the second row."""
    name = next(iter(rows[0]))
    return [{**row, name: value} if i == 1 else row for i, row in enumerate(rows)]


BAD: Mapping[str, tuple[str, Callable[[Rows], bytes], str]] = {
    "another kind of file": ("t.xlsx", as_csv, r" is not \.csv, \.jsonl, \.json or \.parquet: save"),
    "an empty file": ("t.csv", lambda rows: b"", " is empty"),
    "no rows": ("t.csv", lambda rows: as_csv(rows).splitlines(keepends=True)[0], " has no rows"),
    "no objects": ("t.jsonl", lambda rows: b"\n", " has no rows"),
    "an empty array": ("t.json", lambda rows: b"[]", " has no "),
    "another column": ("t.jsonl", lambda rows: b'{"nothing": 1}\n', "(nothing|no sentences)"),
    "a repeated column": ("t.csv", lambda rows: b"".join(
        line + b"," + line.split(b",")[0] + b"\n" for line in as_csv(rows).splitlines()), " has 2 columns '"),
    "a short row": ("t.csv", lambda rows: as_csv(rows) + b"x\n", r": row \d+ has 1 cells, but the header has \d"),
    "a long row": ("t.csv", lambda rows: as_csv(rows) + b"x" + b"," * 50 + b"\n", r": row \d+ has 51 cells"),
    "an open quote": ("t.csv", lambda rows: as_csv(rows) + as_csv(rows[:1]).split(b"\n")[1].replace(b",", b',"', 1),
                      "(a quote is not closed|row .* has 2 cells)"),
    "Latin-1": ("t.csv", lambda rows: as_csv(first(rows, "\xe9")).decode().encode("latin-1"),
                r":3: it is not UTF-8 text: save the table in UTF-8"),
    "UTF-16": ("t.csv", lambda rows: as_csv(rows).decode().encode("utf-16"), ":1: it is not UTF-8 text"),
    "Latin-1 in JSON": ("t.jsonl", lambda rows: as_lines(rows[:1]) + b'{"a": "\xe9"}\n', ":2: it is not UTF-8 text"),
    "an unfinished line": ("t.jsonl", lambda rows: as_lines(rows)[:-9], r":\d+: it is not JSON"),
    "an unfinished array": ("t.json", lambda rows: json.dumps(rows).encode()[:-3], r": row \d+ is not JSON"),
    "a number in a line": ("t.jsonl", lambda rows: as_lines(rows) + b"3\n", r":\d+: it is not a JSON object"),
    "a number in an array": ("t.json", lambda rows: b"[1]", ": row 1 is not a JSON object"),
    "a deep array": ("t.jsonl", lambda rows: b'{"a": ' + b"[" * 100_000, ":1: it is not JSON"),
    "a long number": ("t.jsonl", lambda rows: b'{"a": 1' + b"0" * 5000 + b"}", ":1: it is not JSON"),
    "an object": ("t.jsonl", lambda rows: as_lines(first(rows, {"a": 1})), r": row 2: column \w+ is not one value but"),
    "a list": ("t.jsonl", lambda rows: as_lines(first(rows, ["a"])), r": row 2: column \w+ is not one value but"),
    "lists": ("t.jsonl", lambda rows: as_lines([{k: [v] for k, v in row.items()} for row in rows]),
              r": row 1: column \w+ is not"),
    "half of a packed file": ("t.csv.gz", lambda rows: gzip.compress(as_csv(rows))[:-9], " cannot be read: its compr"),
    "not Parquet": ("t.parquet", as_csv, " cannot be read as a table"),
    "half of Parquet": ("t.parquet", lambda rows: as_parquet(rows)[:200] + as_parquet(rows)[-9:], " cannot be read"),
}  # fmt: skip
"""Files with one fault each: the name, the content, and what is said of it."""


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("reader", READERS)
def test_every_bad_table(reader: str, bad: str, tmp_path: Path) -> None:
    read, rows = READERS[reader]
    name, written, message = BAD[bad]
    path = write(tmp_path, name, written(rows))
    with pytest.raises(EvaluationError, match=message) as raised:
        read(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("reader", READERS)
def test_half_a_character_is_replaced(reader: str, tmp_path: Path) -> None:
    read, rows = READERS[reader]
    name = next(name for name, value in rows[0].items() if isinstance(value, str))
    changed = [{**row, name: f"{row[name]}\ud83d"} for row in rows]
    assert "\ufffd" in str(plain(read(write(tmp_path, "t.jsonl", as_lines(changed)))))
