"""Cells of CSV files that people open in spreadsheet programs."""

import csv
import io
import re
from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.compute as pc

_SIGNS = "[=+@\uff1d\uff0b\uff0d\uff20-]"  # also the wide forms of = + - @
_RUN = re.compile(rf"'*(?:[\t\r\n]|\s*{_SIGNS})")
_RUN_IN_ARROW = _RUN.pattern.replace(r"\s", r"[\s\x0b\x1c-\x1f\x{85}\pZ]")  # RE2 knows only the spaces of ASCII
_CHANGED = re.compile(
    r"'*(?:(?!(?:0|[1-9]\d{0,14})$)[\d.,]|true$|false$|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))",
    re.IGNORECASE,
)


def safe_cell(text: str) -> str:
    """The text with an apostrophe before it if a spreadsheet program would run it as a formula."""
    return f"'{text}" if _RUN.match(text) else text


def csv_text(rows: Iterable[Iterable[object]], end: str = "\n") -> str:
    """Rows as CSV, each with ``end`` after it, with ``safe_cell`` of every text; null is empty."""
    file = io.StringIO()
    made = ([safe_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    csv.writer(file, lineterminator=end).writerows(made)
    return file.getvalue()


def safe_columns(table: pa.Table) -> pa.Table:
    """The table with ``safe_cell`` of every text."""
    return _changed(table, f"^{_RUN_IN_ARROW}", lambda texts: pc.utf8_replace_slice(texts, 0, 0, "'"))


def restored_columns(table: pa.Table) -> pa.Table:
    """The table of which ``safe_columns`` made this one."""
    return _changed(table, f"^'{_RUN_IN_ARROW}", lambda texts: pc.utf8_slice_codeunits(texts, 1))


def _changed(table: pa.Table, pattern: str, change: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> pa.Table:
    """The table with every text changed that the pattern matches."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = table.column(place)
            matching = pc.fill_null(pc.match_substring_regex(texts, pattern), pa.scalar(False))
            if pc.any(matching).as_py():
                table = table.set_column(place, field, pc.if_else(matching, change(texts), texts))
    return table


def marked_id(text: str) -> str:
    """The id with an apostrophe before it if a spreadsheet program would read a number or date in it."""
    return f"'{text}" if _CHANGED.match(text) else text


def id_forms(cell: str) -> tuple[str, ...]:
    """The ids that a cell may stand for, the likeliest first: some programs remove the apostrophe, others keep it.

    Reading has removed an apostrophe before what a program would run.
    """
    bare = cell.strip()
    forms = (bare[1:], bare) if bare.startswith("'") else (bare,)
    return forms[::-1] if _RUN.match(bare) else forms
