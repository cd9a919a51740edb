"""Invented perplexities of three groups, and sentences about them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from row_files import write_table

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

    return lambda rows, name="scores.csv": write_table(tmp_path / name, rows)
