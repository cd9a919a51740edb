"""Files of RedditBias and of datasets in its form: their names, and their rows with any encoding."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from holisticbias_eval.errors import CorpusError

PAPER = ("ID", "Target", "Attribute", "Sentence", "Label")
"""Columns of Zhao et al. 2024, table 7."""
_NAMES = (
    re.compile(r"reddit_comments_(?P<dimension>[a-z0-9]+)_(?P<group>[a-z0-9]+)_(?P<part>\w+)"),
    re.compile(r"(?P<dimension>[a-z0-9]+)_(?P<group>[a-z0-9]+)_(?P<part>test|valid|train)"),
)
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file about one group: ``reddit_comments_DIMENSION_GROUP_PART.csv`` or ``DIMENSION_GROUP_PART.csv``."""

    path: Path
    dimension: str
    group: str
    part: str

    @property
    def series(self) -> tuple[str, str]:
        """The dimension and part, which the files of all groups with the same sentences share."""
        return self.dimension, self.part


def published_file(path: Path) -> PublishedFile | None:
    """The file's dimension, group and part by its name, null if it is not a name of a published file."""
    for name in _NAMES:
        if path.suffix.lower() == ".csv" and (found := name.fullmatch(path.stem)):
            return PublishedFile(path, found["dimension"], found["group"], found["part"])
    return None


def files_in(folder: Path) -> tuple[PublishedFile, ...]:
    """The published files of a folder and of the folders in it, sorted by path."""
    paths = sorted(path for path in folder.rglob("*.csv") if path.is_file())
    return tuple(file for path in paths if (file := published_file(path)))


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, all cells as text; the index that pandas writes is left out.

    A file that is not UTF-8 is read as Latin-1, as its authors do. Raises ``CorpusError``.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=False))
    except csv.Error as error:
        raise CorpusError(f"{path} is not CSV: {error}") from error
    if len(rows) < 2:
        raise CorpusError(f"{path} has no rows")
    header = [name.strip() for name in rows[0]]
    kept = [i for i, name in enumerate(header) if name and not name.startswith("Unnamed:")]
    return [{header[i]: row[i] if i < len(row) else "" for i in kept} for row in rows[1:] if any(row)]


def column(rows: Iterable[Mapping[str, str]], names: Iterable[str], path: Path) -> list[str]:
    """The values of the first of these columns that the rows have; raises ``CorpusError`` if they have none."""
    rows = list(rows)
    names = tuple(names)
    for name in names:
        if rows and name in rows[0]:
            return [row[name] for row in rows]
    found = ", ".join(repr(name[:_SHOWN]) for name in list(rows[0] if rows else ())[:10])
    raise CorpusError(f"{path} has no column {' or '.join(names)}; found {found}")


def is_paper_form(path: Path) -> bool:
    """Whether a file has the columns of Zhao et al. 2024, table 7; the id and the label may be missing."""
    return header(path) >= set(PAPER[1:4])


def header(path: Path) -> frozenset[str]:
    """The names of the columns of a CSV file, empty if it is not one or cannot be read."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return frozenset()
    try:
        with path.open("rb") as file:
            first = file.readline(1 << 16).decode("utf-8-sig", "replace")
        return frozenset(name.strip() for name in next(csv.reader([first.strip()]), []))
    except (OSError, csv.Error):
        return frozenset()
