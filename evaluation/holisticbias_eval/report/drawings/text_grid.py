"""Tables and paragraphs as drawings, for files."""

from __future__ import annotations

import textwrap

from holisticbias_eval.blocks import Column, Paragraph, Table
from holisticbias_eval.report.drawings.shapes import LETTER, WIDE, Drawing, Line, Shape, Text
from holisticbias_eval.report.units import WORDS, show

MARGIN, GAP = 12, 16
LINE = 16
CELL_LENGTH, NOTE_LENGTH = 36, 108


def draw_table(table: Table) -> Drawing:
    """Every cell as text, in lines of at most 36 letters; numbers stand on the right of their columns."""
    heads = [_lines(column.heading) for column in table.columns]
    rows = [[_lines(show(cell, c.unit)) for cell, c in zip(row, table.columns, strict=True)] for row in table.rows]
    widths = [
        LETTER * max((len(line) for cells in (heads, *rows) for line in cells[i]), default=0)
        for i in range(len(table.columns))
    ]
    width = max(sum(widths) + GAP * (len(widths) - 1) + 2 * MARGIN, WIDE)
    shapes: list[Shape] = []
    y = _row(shapes, heads, table.columns, widths, 0, "tick")
    for row in rows:
        shapes.append(Line("grid", MARGIN, y + 2, width - MARGIN, y + 2))
        y = _row(shapes, row, table.columns, widths, y, "")
    for line in textwrap.wrap(table.note, NOTE_LENGTH):
        y += LINE
        shapes.append(Text("tick", MARGIN, y, line))
    return Drawing(table.caption, f"{len(rows):,} rows", y + GAP, tuple(shapes), width, fluid=False)


def draw_paragraph(paragraph: Paragraph) -> Drawing:
    """The text in lines; findings are bold, notes small."""
    kind = {"finding": "heading", "note": "tick"}.get(paragraph.role, "")
    lines = textwrap.wrap(paragraph.text, NOTE_LENGTH)
    shapes = tuple(Text(kind, MARGIN, (i + 1) * LINE, line) for i, line in enumerate(lines))
    return Drawing("", "", len(lines) * LINE + LINE / 2, shapes, WIDE, fluid=False)


def _lines(text: str) -> list[str]:
    return textwrap.wrap(text, CELL_LENGTH) or [""]


def _row(
    shapes: list[Shape], cells: list[list[str]], columns: tuple[Column, ...], widths: list[float], y: float, kind: str
) -> float:
    """Add the texts of a row; the place below it."""
    x: float = MARGIN
    for lines, column, width in zip(cells, columns, widths, strict=True):
        side, at = ("", x) if column.unit in WORDS else ("end", x + width)
        shapes.extend(Text(f"{kind} {side}".strip(), at, y + (i + 1) * LINE, line) for i, line in enumerate(lines))
        x += width + GAP
    return y + LINE * max((len(lines) for lines in cells), default=1) + 6
