"""Published files of sentences about groups, and test sets of them; the files are the user's, and none is shipped.

Forms: RedditBias (Barikeri et al. 2021), files ``reddit_comments_DIMENSION_GROUP_PART.csv``; the same without
``reddit_comments_``, with the column ``replaced_sentence``; and the table of Zhao et al. 2024, appendix B.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias_eval.errors import CorpusError, TableError
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import CSV, open_table, refuse_repeated_columns, table_stem, table_suffix

PAPER = ("ID", "Target", "Attribute", "Sentence", "Label")
"""Columns of Zhao et al. 2024, table 7."""
_NAMES = (
    re.compile(r"reddit_comments_(?P<dimension>[a-z0-9]+)_(?P<group>[a-z0-9]+)_(?P<part>\w+)"),
    re.compile(r"(?P<dimension>[a-z0-9]+)_(?P<group>[a-z0-9]+)_(?P<part>test|valid|train)"),
)
_PREFERRED = "biased_test_reduced"
SENTENCES = ("comments_processed", "replaced_sentence")
_TEST_SETS = pa.schema([
    *((name, pa.string()) for name in ("dimension", "sentence_id", "group", "sentence")), ("perplexity", pa.float64()),
])  # fmt: skip
_PERPLEXITY = "perplexity"
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


def is_published(path: Path) -> bool:
    """Whether a path is a published file, or a folder with some."""
    if path.is_dir():
        return bool(files_of(path))
    return is_paper_form(path) or (_by_name(path) is not None and bool(_header(path) & {*SENTENCES, "phrase"}))


def read_test_sets(path: Path) -> pa.Table:
    """Read test sets whose rows are the same sentences about different groups.

    ``path`` is one group's file, which comes first and whose other groups are read from the same folder, or a folder,
    whose groups are sorted by name. The result has ``dimension``, ``sentence_id`` (the row), ``group``, ``sentence``
    and ``perplexity``, null if there is none.
    Raises ``CorpusError`` if the groups have different numbers of rows, or if a folder has several test sets, and
    ``TableError`` for a row without a sentence, or with a perplexity that is not a number.
    """
    made = []
    for file in _series(path):
        label, rows = str(file.path), read_rows(file.path)
        name = column_among(rows, SENTENCES, file.path)
        sentences, perplexities = (_texts(rows, column) for column in (name, _PERPLEXITY))
        Field(name, "name").refuse_missing(label, name, sentences)
        columns = {
            "dimension": [file.dimension] * len(rows),
            "sentence_id": [str(number) for number in range(len(rows))],
            "group": [file.group] * len(rows),
            "sentence": sentences,
            "perplexity": Field(_PERPLEXITY, "number").read(label, _PERPLEXITY, perplexities),
        }
        made.append(pa.table(columns).cast(_TEST_SETS))
    return pa.concat_tables(made)


def read_group_perplexities(path: Path) -> pa.Table:
    """Read the perplexities that published test sets have; see ``read_test_sets``.

    A perplexity of 0 marks a sentence that failed in the published code; it is kept as it is.
    Raises ``CorpusError`` if a group has no perplexities.
    """
    table = read_test_sets(path)
    scored = set(table.filter(table["perplexity"].is_valid())["group"].to_pylist())
    without = [group for group in dict.fromkeys(table["group"].to_pylist()) if group not in scored]
    if without:
        raise CorpusError(f"{path}: {', '.join(without)} has no column perplexity: score the sentences first")
    return table


def published_paths(path: Path) -> tuple[Path, ...]:
    """The files that ``read_test_sets`` reads for a published file or folder; raises ``CorpusError``."""
    return tuple(file.path for file in _series(path))


def _by_name(path: Path) -> PublishedFile | None:
    """The file's dimension, group and part by its name, null if it is not a name of a published file."""
    for name in _NAMES:
        if table_suffix(path) == ".csv" and (match := name.fullmatch(table_stem(path))):
            return PublishedFile(path, match["dimension"], match["group"], match["part"])
    return None


def files_of(path: Path) -> list[PublishedFile]:
    """The file with this name, or the published files of a folder and of the folders in it, sorted by path.

    Of a file and the same compressed, the first is taken.
    """
    paths = sorted(p for p in path.rglob("*.csv*") if p.is_file()) if path.is_dir() else [path]
    paths = [*{p.with_name(table_stem(p)): p for p in reversed(paths)}.values()][::-1]
    files = [file for path in paths if (file := _by_name(path))]
    if not files and not path.is_dir():
        raise CorpusError(f"{path} is not a published file that is known: see docs/corpora.md")
    return files


def _series(path: Path) -> Sequence[PublishedFile]:
    """The files with the same sentences about different groups."""
    file = None if path.is_dir() else files_of(path)[0]
    series: dict[tuple[str, str], list[PublishedFile]] = {}
    for other in files_of(path if file is None else path.parent):
        if file is None or (other.series == file.series and other.path.parent == path.parent):
            series.setdefault(other.series, []).append(other)
    series = {key: files for key, files in series.items() if len(files) > 1 and (file or "test" in key[1])}
    series = {key: files for key, files in series.items() if key[1] == _PREFERRED} or series
    if len({key[0] for key in series}) < len(series) or not series:
        parts = ", ".join(f"{dimension}: {part}" for dimension, part in sorted(series))
        why = f"has several test sets ({parts}): name a file" if series else "has no test set of two groups or more"
        raise CorpusError(f"{path} {why}")
    for files in series.values():
        lengths = {other.path.name: len(read_rows(other.path)) for other in files}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} {count:,}" for name, count in lengths.items())
            raise CorpusError(f"the groups have different numbers of sentences, so these are not pairs: {shown}")
    chosen = [other for files in series.values() for other in files]
    return sorted(chosen, key=lambda other: file is not None and other.path != path)


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, all cells as text; the index that pandas writes is left out.

    A file that is not UTF-8 is read as Latin-1, as its authors do. Raises ``TableError``.
    """
    file = open_table(path, (*SENTENCES, *PAPER), latin_1=True)
    kept = {name: name.strip() for name in file.names if name.strip() and not name.startswith("Unnamed:")}
    refuse_repeated_columns(str(path), file.names, kept.values())
    table = file.read(file.names)
    index = [place for place, name in enumerate(file.names) if name in kept]
    rows = [row for row in zip(*(column.to_pylist() for column in table.columns), strict=True) if any(row)]
    if not rows:
        raise TableError(f"{path} has no rows")
    return [{kept[file.names[place]]: row[place] for place in index} for row in rows]


def column_among(rows: Sequence[dict[str, str]], names: Sequence[str], path: Path) -> str:
    """The first of these columns that the rows have; raises ``CorpusError`` if they have none."""
    header = rows[0]
    for name in names:
        if name in header:
            return name
    shown = ", ".join(repr(name[:_SHOWN]) for name in list(header)[:10])
    raise CorpusError(f"{path} has no column {' or '.join(names)}; found {shown}")


def _texts(rows: Sequence[dict[str, str]], name: str) -> pa.ChunkedArray:
    """A column of the rows, empty if they do not have it."""
    return pa.chunked_array([pa.array([row.get(name, "") for row in rows], pa.large_string())])


def is_paper_form(path: Path) -> bool:
    """Whether a file has the columns of Zhao et al. 2024, table 7; the id and the label may be missing."""
    return _header(path) >= set(PAPER[1:4])


def _header(path: Path) -> frozenset[str]:
    """The names of the columns of a CSV file, empty if it is not one or cannot be read."""
    if table_suffix(path) not in CSV:
        return frozenset()
    try:
        return frozenset(name.strip() for name in open_table(path, PAPER, latin_1=True).names)
    except TableError:
        return frozenset()
