"""Invented perplexities of three groups, and sentences about them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

Row = dict[str, Any]
GROUPS = ("blicket", "stad", "mell")
FRAMES = ("The {} is calm.", "I saw a {} near the lake.", "Every {} was loud at night.", "My {} went home early.")


def invented_sentences() -> list[Row]:
    """Four sentences about three groups in two dimensions."""
    return [
        {"dimension": dimension, "sentence_id": f"s{i}", "group": group, "sentence": frame.format(f"{group}{ending}")}
        for dimension, ending in (("one", ""), ("two", "er"))
        for i, frame in enumerate(FRAMES)
        for group in GROUPS
    ]


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as a table; the ending of the name says in which form."""

    def write(rows: list[Row], name: str = "scores.csv") -> Path:
        path = tmp_path / name
        table = pa.Table.from_pylist(rows)
        if path.suffix == ".csv":
            pyarrow.csv.write_csv(table, path)
        elif path.suffix == ".jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        else:
            pq.write_table(table, path)
        return path

    return write
