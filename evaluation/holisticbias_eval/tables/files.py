"""Open a table in any usual form: CSV, JSON lines, a JSON array or Parquet."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa

from holisticbias.errors import in_one_line
from holisticbias.inputs import whole_text
from holisticbias.release.bounded import check_parquet
from holisticbias_eval.errors import EvaluationError, TableError
from holisticbias_eval.tables.content import COMPRESSED
from holisticbias_eval.tables.csv_files import CsvFile
from holisticbias_eval.tables.fields import PARSED, words_of
from holisticbias_eval.tables.rows import read_rows

Columns = Sequence[str]
CSV, JSON, PARQUET = (".csv", ".tsv"), (".jsonl", ".ndjson", ".json"), (".parquet",)
_FORMS = ".csv, .jsonl, .json or .parquet"
_MOST_COLUMNS = 10_000
LEVELS = 32
_SPARE_CELLS, _CELLS_PER_BYTE = 64_000_000, 50


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A table before its rows are read: how messages name it, and the names of its columns.

    ``reader`` takes the columns that a form knows, which CSV gives as text, other columns, and those of the known ones
    whose cells may be lists. With ``decimal_comma``, numbers may be written with a comma.
    """

    label: str
    names: tuple[str, ...]
    reader: Callable[[Columns, Columns, Columns], pa.Table]
    decimal_comma: bool = False

    def read(self, known: Columns, others: Columns = (), lists: Columns = ()) -> pa.Table:
        """Read some of the columns; raises ``TableError``."""
        try:
            table = self.reader(known, others, lists)
            table.validate(full=True)
        except (OSError, pa.ArrowException, UnicodeError, RecursionError) as error:
            raise _unreadable(self.label, error) from error
        return table


def file_in(path: Path, name: str, advice: str, error: type[EvaluationError] = TableError) -> Path:
    """A file, or the file of this name if it is a folder; raises ``error`` with the advice if the folder has none."""
    file = path / name if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise error(f"{path} has no {name}: {advice}")
    return file


def is_table_name(path: PurePath) -> bool:
    """Whether a file of this name is read as a table."""
    return table_suffix(path) in (*CSV, *JSON, *PARQUET)


def table_suffix(path: PurePath) -> str:
    """The suffix of a file's name in lower case, without that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in COMPRESSED]
    return suffixes[-1] if suffixes else ""


def table_stem(path: PurePath) -> str:
    """A file's name without its suffix and without that of a compression."""
    return (path.with_suffix("") if path.suffix.lower() in COMPRESSED else path).stem


def refuse_repeated_columns(
    label: str, names: Sequence[str], needed: Iterable[str], key: Callable[[str], str] = str.strip
) -> None:
    """Raise ``TableError`` for a needed column of which a table has several; names with the same ``key`` are equal."""
    counts = Counter(map(key, names))
    for name in needed:
        if counts[key(name)] > 1:
            raise TableError(f"{label} has {counts[key(name)]} columns {name[:80]!r}: keep one")


def open_table(source: Path, wanted: Columns = (), *, latin_1: bool = False) -> OpenedTable:
    """Open a file, compressed or not; a delimiter is known by the columns that are ``wanted``.

    With ``latin_1``, CSV that is not UTF-8 is read as Latin-1. Raises ``TableError`` if it is not a table, or has more
    columns than are read.
    """
    try:
        if source.is_dir():
            raise TableError(f"{source} is a folder: name a table in it")
        if source.exists() and not is_table_name(source):
            raise TableError(f"{source} is not {_FORMS}: save the table as one of them")
        if not source.is_file():
            raise TableError(f"{source} does not exist or is not a file")
        opened = _open_file(source, wanted, latin_1=latin_1)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(str(source), error) from error
    if not opened.names:
        raise TableError(f"{opened.label} has no rows")
    if len(opened.names) > _MOST_COLUMNS:
        raise TableError(f"{opened.label} has {len(opened.names):,} columns; at most {_MOST_COLUMNS:,} are read")
    return opened


def _unreadable(label: str, error: Exception) -> TableError:
    reason = in_one_line(error)
    return TableError(reason if reason.startswith(label) else f"{label} cannot be read as a table: {reason}")


def _open_file(path: Path, wanted: Columns, *, latin_1: bool) -> OpenedTable:
    suffix = table_suffix(path)
    if suffix in CSV:
        file = CsvFile(path, wanted, latin_1=latin_1)
        decimal_comma = file.delimiter == ";"
        return OpenedTable(str(path), file.names, lambda known, others, _: file.read(known, others), decimal_comma)
    if suffix in JSON:
        return _open_json(path)
    bounded = check_parquet(path)
    return OpenedTable(str(path), tuple(bounded.schema.names), lambda known, others, _: bounded.read([*known, *others]))


def _open_json(path: Path) -> OpenedTable:
    rows = list(read_rows(path))
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    most = _SPARE_CELLS + _CELLS_PER_BYTE * path.stat().st_size

    def read(known: Columns, others: Columns, lists: Columns) -> pa.Table:
        if len(rows) * (len(known) + len(others)) > most:
            raise TableError(f"{path} has {len(rows):,} rows with {len(names):,} different keys: it is not read")
        values: dict[str, Sequence[Any]] = {name: [row.get(name) for row in rows] for name in (*known, *others)}
        values |= {name: _as_lists(str(path), name, values[name]) for name in lists}
        return pa.table({name: _column(str(path), name, cells, name in others) for name, cells in values.items()})

    return OpenedTable(str(path), names, read)


def _column(label: str, name: str, cells: Sequence[Any], any_value: bool) -> pa.Array:
    """A column of Python values with its own type, or as text if it has several types or half a character.

    Lists and objects among other values, or of a form that Parquet lacks, become JSON if the column may have
    ``any_value``; else it raises ``TableError``.
    """
    with suppress(pa.ArrowException, UnicodeEncodeError, OverflowError):
        values = pa.array(cells)
        if _fits_parquet(values.type) and not mixes_flags(cells):
            return values
    texts = []
    for row, cell in enumerate(cells, 1):
        text = None if _is_missing(cell) else _cell_text(cell)
        if text is None and not _is_missing(cell):
            text = json.dumps(cell, default=str)
            if not any_value:
                raise TableError(f"{label}: row {row}: column {name} is not one value but {text[:60]}")
        texts.append(text)
    return pa.array(texts, pa.large_string())


def _as_lists(label: str, name: str, cells: Sequence[Any]) -> Sequence[Any]:
    """Cells of lists and texts as lists; raises ``TableError`` for a cell that is neither."""
    lists: list[list[str] | None] = []
    for row, cell in enumerate(cells, 1):
        words = words_of(cell)
        if words is None and not _is_missing(cell):
            raise TableError(f"{label}: row {row}: column {name} is not {PARSED['words']} but {repr(cell)[:60]}")
        lists.append(None if words is None else [whole_text(word) for word in words])
    return lists


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def mixes_flags(cells: Iterable[Any]) -> bool:
    """Whether true or false is among values of another type: among numbers Arrow reads it as 1 or 0."""
    kinds = {type(cell).__name__ for cell in cells} - {"NoneType"}
    return len(kinds) > 1 and not kinds.isdisjoint(("bool", "bool_"))


def _fits_parquet(kind: pa.DataType, levels: int = LEVELS) -> bool:
    """Whether no object is without keys, and lists and objects stand in each other at most so deep."""
    inner = [kind.field(i).type for i in range(kind.num_fields)]
    is_empty = pa.types.is_struct(kind) and not inner
    return levels > 0 and not is_empty and all(_fits_parquet(one, levels - 1) for one in inner)


def _cell_text(cell: Any) -> str | None:
    """A value as text, in which half a character is U+FFFD; null for a list or an object without a text."""
    if isinstance(cell, dict) and isinstance(cell.get("text"), str):
        cell = cell["text"]
    if isinstance(cell, bool):
        return str(cell).lower()
    if not isinstance(cell, str | int | float):
        return None
    return whole_text(str(cell))
