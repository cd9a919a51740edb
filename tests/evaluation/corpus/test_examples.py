"""Tables of examples in all their forms, and what is wrong in them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.evaluation.corpus.invented import example

from holisticbias_eval.corpus.examples import COLUMNS, read_examples, write_examples
from holisticbias_eval.errors import CorpusError, EvaluationError

TEXTS = ("=1+1 a stad", "'tis a stad", "- a stad", "two\nlines, a stad", 'a "stad"', "\ufeffstad \U0001f600", "007")


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    """A spreadsheet runs no cell."""
    rows = [example(i, "stad", text, label=(1, 0, None)[i % 3]) for i, text in enumerate(TEXTS)]
    path = tmp_path / f"examples{suffix}"
    write_examples(pa.Table.from_pylist(rows), path)
    assert read_examples(path).to_pylist() == rows
    assert suffix != ".csv" or '"\'=1+1 a stad"' in path.read_text("utf-8")


def test_columns_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text,group,dimension\na stad,stad,own.x\na stad,stad,own.x\nan elm,elm,own.x\n", "utf-8")
    table = read_examples(path)
    assert table.column_names == list(COLUMNS)
    assert table["target"].null_count == 3
    first, second, third = table["id"].to_pylist()
    assert second == f"{first}-2"
    assert third not in {first, second}
    assert read_examples(path)["id"].to_pylist() == [first, second, third]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("group,dimension\nstad,x\n", "has no column text: a table of examples has dimension, group and text"),
        ("text,group,dimension\na,,x\n", "row 1: column group is missing: "),
        ("text,group,dimension\n  ,stad,x\n", "row 1: column text is missing: "),
        (
            "id,text,group,dimension\n1,a,stad,x\n1,b,stad,x\n",
            "row 2: column id is '1', as in row 1: give every row its own",
        ),
        ("text,group,dimension,label\na,stad,x,2\n", "row 1: column label is 2.0: write 0 or 1"),
        ("text,group,dimension,label:a\na,stad,x,yes\n", "row 1: column label:a is not a number but 'yes'"),
    ],
)
def test_wrong_tables(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "x.csv").write_text(content, "utf-8")
    with pytest.raises(EvaluationError, match=message):
        read_examples(tmp_path / "x.csv")


def test_blank_cells_are_missing(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,text,group,dimension,target\n ,a,stad,x, \n", "utf-8")
    [row] = read_examples(tmp_path / "x.csv").to_pylist()
    assert (row["id"][:1], row["target"]) == ("x", None)


def test_wrong_names_and_values(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([example(0, "stad", "a stad")])
    with pytest.raises(CorpusError, match=r"x.txt must end in .parquet, .csv or .jsonl"):
        write_examples(table, tmp_path / "x.txt")
