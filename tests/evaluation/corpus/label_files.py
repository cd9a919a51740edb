"""Files of annotators, read and filled in."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path


def cells(path: Path) -> list[dict[str, str]]:
    """The rows of a file."""
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


def label(path: Path, labels: Mapping[str, str], delimiter: str = ",") -> Path:
    """Fill in the labels of an annotator, by id."""
    rows = cells(path)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows({**row, "Label": labels.get(row["ID"].lstrip("'"), "")} for row in rows)
    return path
