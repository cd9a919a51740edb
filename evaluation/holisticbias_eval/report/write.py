"""A report in any format: the whole as a page or Markdown, or a part of it as CSV, SVG or PNG."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from holisticbias.output import write_file
from holisticbias.spreadsheet import csv_text
from holisticbias_eval.errors import ReportError
from holisticbias_eval.figures import DEVIATION, as_shown
from holisticbias_eval.report import Form
from holisticbias_eval.report.drawings import draw
from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Report, drawables, tables
from holisticbias_eval.report.svg import render_png, render_svg
from holisticbias_eval.sections.blocks import Chart, Section
from holisticbias_eval.sections.tables import Cell, Column, Table
from holisticbias_eval.units import NONE_SHOWN


def render_csv(part: Table | Chart) -> str:
    """The columns' keys as header, numbers unrounded, missing values empty, an interval in two columns.

    A standard deviation whose estimated variance is not above 0 is "none shown".

    A text that a spreadsheet program would run as a formula has an apostrophe before it.
    """
    table = part if isinstance(part, Table) else part.table()
    rows: list[list[Cell]] = [[f"{column.key}{end}" for column in table.columns for end in _ends(column)]]
    for i, row in enumerate(table.rows):
        cells = zip(row, table.columns, table.units_of(i), strict=True)
        rows.append([value for cell, column, unit in cells for value in _values(cell, column, unit)])
    return csv_text(rows)


def _ends(column: Column) -> tuple[str, ...]:
    return ("_low", "_high") if column.interval else ("",)


def _values(cell: Cell, column: Column, unit: str) -> Iterator[Cell]:
    for value in cell if isinstance(cell, tuple) else (cell,) * len(_ends(column)):
        if isinstance(value, str):
            yield value
        elif value is None or math.isnan(value):
            yield None
        elif unit.endswith(DEVIATION) and as_shown(value, unit) == 0:
            yield 0.0 if column.interval else NONE_SHOWN
        else:
            yield value


T = TypeVar("T")


def write_report(report: Report, form: Form, part: str | None, out: Path) -> Path:
    """Write the report, or with csv, svg and png a part of it; the path of the file.

    Raises ``ReportError`` for a part that does not exist, and ``OutputError`` if the file cannot be written.
    """
    write_file(out, render(report, form, part))
    return out


def render(report: Report, form: Form, part: str | None = None) -> bytes:
    """The content of the file that ``write_report`` writes: by default with the first table, or the first chart.

    The name of a measure means the first part of its chapter.
    """
    if form in ("html", "md"):
        if part is not None:
            raise ReportError(f"--part is for csv, svg and png: {form} has the whole report")
        return (render_page(report) if form == "html" else render_markdown(report)).encode()
    chapters = tuple(chapter for chapter in report.chapters if chapter.info.name == part)
    if chapters:
        report, part = replace(report, chapters=chapters), None
    if form == "csv":
        return render_csv(_pick(tables(report), part)).encode()
    found = _pick(drawables(report), part)
    blocks = found.blocks if isinstance(found, Section) else (found,)
    svg = render_svg([draw(block) for block in blocks], (report.title, *report.runs, *report.notes))
    return svg.encode() if form == "svg" else render_png(svg)


def _pick(parts: Iterable[tuple[str, T]], name: str | None) -> T:
    """The part of this name, or the first; later chapters are not made."""
    names = []
    for found, part in parts:
        if name in (None, found):
            return part
        names.append(found)
    if not names:
        raise ReportError("the report has no table and no chart")
    raise ReportError(f"there is no part {name!r}; there are: {', '.join(names)}")
