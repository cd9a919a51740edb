"""Every reader of users' tables that is not recorded reads every form of file, and refuses bad tables in one line."""

import gzip
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.evaluation.tables.written import FILES, MEASURED, READERS, as_decimals, write

from holisticbias_eval.errors import EvaluationError, TableError
from holisticbias_eval.tables.frames import file_of
from holisticbias_eval.tables.written import write_table
from holisticbias_eval.tasks.response_files import TEXTS
from row_files import Rows, as_csv, as_lines, as_parquet


def plain(found: Any) -> Any:
    """The table of a reader without the column ``odd``, with which it can be written."""
    if isinstance(found, pa.Table):
        pq.write_table(found, io.BytesIO())
        return found.select([name for name in found.column_names if name != "odd"]).to_pylist()
    return found


PLAIN = {"t.csv": as_csv, "t.jsonl": as_lines, "t.parquet": as_parquet}


@pytest.mark.parametrize("reader", READERS)
def test_every_form_of_file_is_the_same_table(reader: str, tmp_path: Path) -> None:
    read, rows = READERS[reader]
    expected = plain(read(write(tmp_path, "first.jsonl", as_lines(rows))))
    for form, (name, written) in FILES.items():
        assert plain(read(write(tmp_path, name, written(rows)))) == expected, form


def test_an_empty_noun_is_its_id_in_every_form(tmp_path: Path) -> None:
    read, rows = MEASURED["likelihoods"]
    rows = [{**row, "noun": None, "noun_id": f"id {i}"} for i, row in enumerate(rows)]
    found = [read(write(tmp_path, name, written(rows))) for name, written in PLAIN.items()]
    assert [table["noun"].to_pylist() for table in found] == [[row["noun_id"] for row in rows]] * len(PLAIN)


@pytest.mark.parametrize(
    ("reader", "name"),
    [("likelihoods", "perplexity"), ("candidates", "probability"), ("offensiveness", "probability")],
)
def test_nan_is_missing_in_every_form(reader: str, name: str, tmp_path: Path) -> None:
    read, rows = MEASURED[reader]
    nan, none = ([*rows, {**rows[0], name: value}] for value in (float("nan"), None))
    expected = plain(read(write(tmp_path, "none.parquet", as_parquet(none))))
    for file, written in PLAIN.items():
        assert plain(read(write(tmp_path, file, written(nan)))) == expected, file


@pytest.mark.parametrize("written", ["t.csv", "t.jsonl", list, pd.DataFrame])
def test_true_is_not_a_number(written: Any, tmp_path: Path) -> None:
    read, rows = MEASURED["likelihoods"]
    rows = [*rows, {**rows[0], "perplexity": True}]
    with pytest.raises(TableError, match=rf": row {len(rows)}: column perplexity is not a number but '[Tt]rue'"):
        read(write(tmp_path, written, PLAIN[written](rows))) if written in PLAIN else of_frame(read, written(rows))


@pytest.mark.parametrize(
    ("reader", "name"),
    [("labels", "axis"), ("texts", "group"), ("group_sentences", "sentence"), ("pairs", "attribute")],
)
def test_a_blank_name_is_missing(reader: str, name: str, tmp_path: Path) -> None:
    read, rows = MEASURED[reader]
    for file, written in PLAIN.items():
        with pytest.raises(TableError, match=rf": row {len(rows) + 1}: column {name} is missing: every row needs a"):
            read(write(tmp_path, file, written([*rows, {**rows[0], name: " \t"}])))


N = 3
ODD: Mapping[str, Any] = {
    "values of several types": pd.Series([1, "b-2", [2]]),
    "half a character": pd.Series(["\ud83d", "a", None], dtype=object),
    "long numbers": pd.Series([10**40, 1, 2], dtype=object),
    "complex numbers": pd.Series([1j] * N),
    "sparse numbers": pd.Series(pd.arrays.SparseArray([0] * N)),
    "empty objects": pd.Series([{}] * N),
    "a union": pa.UnionArray.from_sparse(pa.array([0] * N, pa.int8()), [pa.array([1] * N)]),
    "runs": pa.RunEndEncodedArray.from_arrays([N], pa.array(["x"])),
    "intervals": pa.array([(1, 2, 3)] * N, pa.month_day_nano_interval()),
    "a view of texts": pa.array(["a"] * N, pa.string_view()),
    "huge numbers": pl.Series([1] * N, dtype=pl.Int128),
    "Python objects": pl.Series([object()] * N, dtype=pl.Object),
}
"""Columns that nobody needs, which pandas, Arrow or polars can hold."""
ABOUT = [{"text": f"They are {i}.", "group": f"g{i}"} for i in range(N)]


def with_odd(rows: Rows, odd: Any) -> Any:
    if isinstance(odd, pd.Series):
        return pd.DataFrame(rows).assign(odd=odd).set_index(pd.Index(["i"] * N))
    if isinstance(odd, pl.Series):
        return pl.DataFrame(rows).with_columns(odd=odd)
    return pa.Table.from_pylist(list(rows)).append_column("odd", odd)


def of_frame(read: Callable[[Any], Any], frame: Any) -> Any:
    with file_of(frame, "text") as name:
        return plain(read(Path(name)))


@pytest.mark.parametrize("reader", MEASURED)
def test_every_data_frame_is_the_same_table(reader: str, tmp_path: Path) -> None:
    read, rows = MEASURED[reader]
    expected = plain(read(write(tmp_path, "t.parquet", as_parquet(rows))))
    arrow = pa.Table.from_pylist(list(rows))
    others = (arrow.to_batches()[0], list(rows), pq.read_table(io.BytesIO(as_decimals(rows))))
    for frame in (pd.DataFrame(rows), pd.DataFrame(rows, dtype=object), pl.DataFrame(rows), arrow, *others):
        assert of_frame(read, frame) == expected, type(frame)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_column_of_a_frame_that_nobody_needs_is_no_fault(odd: str) -> None:
    assert of_frame(TEXTS.read, with_odd(ABOUT, ODD[odd])) == of_frame(TEXTS.read, ABOUT)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([UUID(int=1)] * N, [str(UUID(int=1))] * N),
        (pd.period_range("2026", periods=N, freq="Y"), ["2026", "2027", "2028"]),
        (pd.interval_range(0, N), ["(0, 1]", "(1, 2]", "(2, 3]"]),
    ],
)
def test_a_column_of_a_type_that_parquet_lacks_is_read_as_it_is_printed(values: Any, texts: list[str]) -> None:
    frame = pd.DataFrame(ABOUT).assign(item=values)
    for made in (frame, frame.to_dict("records")):
        assert [row["item"] for row in of_frame(TEXTS.read, made)] == texts, type(made)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (3, "the table: it must be a file, a list, a column, or a pandas, polars or Arrow table, not int"),
        (pl.Series(["a"]), "^the table has no column group"),
        ({"text": ["a"], "group": ["b"]}, "the table: it must be a file, .*, not dict"),
        (pl.LazyFrame(ABOUT), "the table: it must be a file, .*, not LazyFrame"),
        ([], "^the table has no column group"),
        (pd.DataFrame(ABOUT).iloc[:0], "^the table has no rows"),
        (pd.concat([pd.DataFrame(ABOUT)] * 2, axis=1), "^the table has 2 columns 'text': keep one"),
        ([*ABOUT, {"text": ["a"], "group": "b"}], r"^the table: row 4: column text is not one value but \[\"a\"\]"),
        ([*ABOUT, {"text": {("a", "b"): 1}}], "^the table: row 4 cannot be written as JSON"),
        (pl.DataFrame({"text": ["a"], "group": [["b"]]}), r"^the table: row 1: column group is not text but \['b'\]"),
        (pd.DataFrame({"text": [b"a", b"\xff"], "group": "b"}), r"^the table: row 2: column text is not text but b'"),
        (pa.table({"text": pa.array([b"\xff"], pa.binary(1)), "group": ["b"]}), "row 1: column text is not text but"),
    ],
)  # fmt: skip
def test_what_is_not_a_table_is_refused(frame: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        of_frame(TEXTS.read, frame)


def test_a_file_that_is_missing_or_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "t.txt").touch()
    absent, named = "does not exist", {"there": "is a folder: name a table in it", "t.txt": "is not .csv, .jsonl"}
    for name, message in {"split": absent, "t.csv": absent, **named}.items():
        with pytest.raises(TableError, match=f"{name} {message}"):
            TEXTS.read(tmp_path / name)


def test_mixed_cells_of_a_frame_are_text_and_nan_is_missing() -> None:
    rows = [{"text": text, "group": group} for text, group in ((1, "a"), ("b", 2), (float("nan"), 1.5))]
    found = [{"text": "1", "group": "a"}, {"text": "b", "group": "2"}, {"text": None, "group": "1.5"}]
    assert of_frame(TEXTS.read, rows) == of_frame(TEXTS.read, pd.DataFrame(rows)) == found
    assert of_frame(TEXTS.read, pd.DataFrame({"text": [float("nan")], "group": "a"}))[0]["text"] is None


@pytest.mark.parametrize("value", [-1, 2**31, 1e308])
@pytest.mark.parametrize(("reader", "name"), [("lines", "tokens"), ("intersections", "sentences")])
def test_what_is_not_a_count_is_refused(reader: str, name: str, value: float, tmp_path: Path) -> None:
    read, rows = {**MEASURED, **READERS}[reader]
    path = write(tmp_path, "t.jsonl", as_lines([*rows, {**rows[0], name: value}]))
    with pytest.raises(
        TableError, match=rf": row \d+: column {name} is .*: it must be a whole number from 0 to 2,147,"
    ):
        read(path)


def test_lists_and_texts_in_one_column_are_words_and_what_is_neither_is_named(tmp_path: Path) -> None:
    cells: list[Any] = [["kings", "queens"], "doffs; daxes", "", None, []]
    rows = [{**ABOUT[0], "forms": forms} for forms in cells]
    found = TEXTS.read(write(tmp_path, "t.jsonl", as_lines(rows)))
    assert found["forms"].to_pylist() == [["kings", "queens"], ["doffs", "daxes"], [], [], []]
    assert of_frame(TEXTS.read, pd.DataFrame(rows)) == plain(found)
    wrong: Rows = [*rows, {**ABOUT[0], "forms": 7}]
    with pytest.raises(
        TableError, match="row 6: column forms is not a list of texts, or texts with ; between them but 7"
    ):
        TEXTS.read(write(tmp_path, "t.jsonl", as_lines(wrong)))


def test_what_is_not_a_flag_is_refused(tmp_path: Path) -> None:
    read, rows = READERS["pairs to score"]
    path = write(tmp_path, "t.jsonl", as_lines([{**rows[0], "control": 2}]))
    with pytest.raises(TableError, match="row 1: column control is not true or false, or 1 or 0 but 2"):
        read(path)


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
    "a short row": ("t.csv", lambda rows: as_csv(rows) + b"x\n", r": row \d+ has 1 cell, but the header has \d"),
    "a long row": ("t.csv", lambda rows: as_csv(rows) + b"x" + b"," * 50 + b"\n", r": row \d+ has 51 cells"),
    "a long row, Latin-1": ("t.csv", lambda rows: as_csv(rows) + b"\xe9" + b"," * 50 + b"\n", r":\d+: it is not UTF-8"),
    "an open quote": ("t.csv", lambda rows: as_csv(rows) + as_csv(rows[:1]).split(b"\n")[1].replace(b",", b',"', 1),
                      "(a quote is not closed|row .* has 2 cells)"),
    "an open quote in the last cell": ("t.csv", lambda rows: b',"'.join(as_csv(rows)[:-1].rsplit(b",", 1)),
                                       ": a quote is not closed before the end of the file"),
    "a long name": ("t.csv", lambda rows: b"a" * 200_000, " has a name of over 131,072 characters in its header"),
    "Latin-1": ("t.csv", lambda rows: as_csv(first(rows, "\xe9")).decode().encode("latin-1"),
                r":3: it is not UTF-8 text: save it in UTF-8"),
    "UTF-16": ("t.csv", lambda rows: as_csv(rows).decode().encode("utf-16"), ":1: it is not UTF-8 text"),
    "Latin-1 in JSON": ("t.jsonl", lambda rows: as_lines(rows[:1]) + b'{"a": "\xe9"}\n', ":2: it is not UTF-8 text"),
    "an unfinished line": ("t.jsonl", lambda rows: as_lines(rows)[:-9], r":\d+: it is not JSON"),
    "an unfinished array": ("t.json", lambda rows: json.dumps(rows).encode()[:-3], r": row \d+ is not JSON"),
    "no comma in an array": ("t.json", lambda rows: json.dumps(rows).replace("}, {", "} {").encode(),
                             ": row 2 is not JSON: a comma is missing"),
    "more after an array": ("t.json", lambda rows: json.dumps(rows).encode() + b"]",
                            r": row \d+ is not JSON: the array ends before the file does"),
    "no more after a row": ("t.json", lambda rows: json.dumps(rows).encode()[:-1],
                            r": row \d+ is not JSON: the file ends in the middle"),
    "a form feed before an array": ("t.json", lambda rows: b"\f[1]", ": row 1 is not JSON: an array begins with"),
    "Latin-1 in an array": ("t.json", lambda rows: b'[{"a": "\xe9"}]', ": row 1: it is not UTF-8 text: save it"),
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


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("reader", READERS)
def test_every_bad_table_is_refused_in_one_line(reader: str, bad: str, tmp_path: Path) -> None:
    read, rows = READERS[reader]
    name, written, message = BAD[bad]
    path = write(tmp_path, name, written(rows))
    with pytest.raises(EvaluationError, match=message) as raised:
        read(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("reader", [*MEASURED, *READERS])
def test_a_cell_that_is_marked_for_spreadsheets_is_its_text(reader: str, tmp_path: Path) -> None:
    read, rows = {**MEASURED, **READERS}[reader]
    name = next(name for name, value in rows[0].items() if isinstance(value, str))
    table = pa.Table.from_pylist([{**row, name: f"=){row[name]}"} for row in rows])
    for form in ("csv", "parquet"):
        write_table(table, tmp_path / f"t.{form}")
    assert b"'=)" in (tmp_path / "t.csv").read_bytes()
    assert plain(read(tmp_path / "t.csv")) == plain(read(tmp_path / "t.parquet"))


@pytest.mark.parametrize("reader", MEASURED)
def test_a_column_without_a_name_is_not_read(reader: str, tmp_path: Path) -> None:
    read, rows = MEASURED[reader]
    path = write(tmp_path, "t.csv", as_csv([{"": i, **row} for i, row in enumerate(rows)]))
    assert plain(read(path)) == plain(read(write(tmp_path, "t.parquet", as_parquet(rows))))


@pytest.mark.parametrize("reader", READERS)
def test_half_a_character_is_replaced(reader: str, tmp_path: Path) -> None:
    read, rows = READERS[reader]
    name = next(name for name, value in rows[0].items() if isinstance(value, str))
    changed = [{**row, name: f"{row[name]}\ud83d"} for row in rows]
    assert "\ufffd" in str(plain(read(write(tmp_path, "t.jsonl", as_lines(changed)))))
