"""Cells of CSV files that people open in spreadsheet programs."""

from __future__ import annotations

import re

_RUN = re.compile(r"'*(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")  # also the wide forms of = + - @
_CHANGED = re.compile(
    r"'*(?:(?!(?:0|[1-9]\d{0,14})$)[\d.,]|true$|false$|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))",
    re.IGNORECASE,
)


def safe_cell(text: str) -> str:
    """The text with an apostrophe before it if a spreadsheet program would run it as a formula."""
    return f"'{text}" if _RUN.match(text) else text


def cell_text(cell: str) -> str:
    """The text of a cell that ``safe_cell`` wrote."""
    return cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell


def safe_id(text: str) -> str:
    """The id with an apostrophe before it if a spreadsheet program would run it, or read a number or date in it."""
    return f"'{text}" if _RUN.match(text) or _CHANGED.match(text) else text


def id_forms(cell: str) -> tuple[str, ...]:
    """The ids that a cell may stand for, the likeliest first: some programs remove the apostrophe, others keep it."""
    bare = cell.strip()
    return (bare[1:], bare) if bare.startswith("'") else (bare,)
