"""A table, or the values of a chart, as CSV."""

from __future__ import annotations

import csv
import io
import math

from holisticbias.spreadsheet import safe_cell
from holisticbias_eval.blocks import Cell, Column, Table
from holisticbias_eval.figures import DEVIATION
from holisticbias_eval.report.units import NONE_SHOWN
from holisticbias_eval.sections import Chart


def render_csv(part: Table | Chart) -> str:
    """The columns' keys as header, numbers unrounded, missing values empty, an interval in two columns.

    A standard deviation whose estimated variance is not above 0 is "none shown".

    A text that a spreadsheet program would run as a formula has an apostrophe before it.
    """
    table = part if isinstance(part, Table) else part.table()
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(key for column in table.columns for key in _keys(column))
    for row in table.rows:
        writer.writerow(p for cell, column in zip(row, table.columns, strict=True) for p in _cells(cell, column))
    return file.getvalue()


def _keys(column: Column) -> tuple[str, ...]:
    return (f"{column.key}_low", f"{column.key}_high") if column.interval else (column.key,)


def _cells(cell: Cell, column: Column) -> tuple[Cell, ...]:
    if column.unit.endswith(DEVIATION) and not isinstance(cell, str) and cell is not None:
        return _deviation(cell)
    if isinstance(cell, tuple):
        return tuple(map(_known, cell))
    return (_known(cell),) * (2 if column.interval else 1)


def _deviation(cell: float | tuple[float, float]) -> tuple[Cell, ...]:
    """A standard deviation, or the ends of its interval: "none shown" if it is not above 0."""
    if isinstance(cell, tuple):
        return tuple(max(end, 0.0) for end in cell)
    return (NONE_SHOWN if cell <= 0 else _known(cell),)


def _known(cell: Cell) -> Cell:
    if isinstance(cell, str):
        return safe_cell(cell)
    return None if isinstance(cell, float) and math.isnan(cell) else cell
