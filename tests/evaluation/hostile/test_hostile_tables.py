"""Tables of others that are made to take all memory or to end in a traceback: one line each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias_eval.errors import ScoresError
from holisticbias_eval.table_files import read_table

ROW = {"text": "They are kind.", "group": "a"}


def lines(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


def long_number(folder: Path) -> Path:
    return lines(folder / "t.jsonl", '{"text": 1' + "0" * 5000 + "}")


def large_number(folder: Path) -> Path:
    return lines(folder / "t.jsonl", json.dumps({**ROW, "n": 10**30}))


def many_keys(folder: Path) -> Path:
    return lines(folder / "t.jsonl", *(json.dumps({f"{i}.{j}": 1 for j in range(100)}) for i in range(11)))


def deep(folder: Path) -> Path:
    return lines(folder / "t.jsonl", "[" * 100_000)


def many_rows(folder: Path) -> Path:
    pq.write_table(pa.table({name: [text] * 3_000_000 for name, text in ROW.items()}), folder / "t.parquet")
    return folder / "t.parquet"


def long_texts(folder: Path) -> Path:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["a" * 5_000_000]))
    pq.write_table(pa.table({"text": texts}), folder / "t.parquet", store_schema=False, compression="zstd")
    return folder / "t.parquet"


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (long_number, "it is not JSON"),
        (large_number, "cannot be read as a table"),
        (many_keys, "has 1,100 different keys; at most 1,000 are read"),
        (deep, "it is not JSON"),
        (many_rows, "declares 3,000,000 rows"),
        (long_texts, "expands from"),
    ],
)
def test_one_line(make: Callable[[Path], Path], expected: str, tmp_path: Path) -> None:
    """Whatever the form of the table."""
    with pytest.raises(ScoresError, match=expected):
        read_table(make(tmp_path))
