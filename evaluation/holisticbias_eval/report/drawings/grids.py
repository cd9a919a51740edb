"""Tables, paragraphs and heat maps as drawings, for files; the page shows tables."""

import math
import textwrap
from collections.abc import Iterator

from holisticbias.terminal import counted
from holisticbias_eval.report.drawings.shapes import LETTER, WIDE, WIDTH, Line, Rect, Shape, Text, VectorDrawing, finite
from holisticbias_eval.sections.blocks import GridChart, HeatMap
from holisticbias_eval.sections.tables import Column, Paragraph, Table
from holisticbias_eval.units import MISSING, SHARES, WORDS, shorten, show, show_rows, tick

MARGIN, GAP = 12, 16
LINE = 16
CELL_LENGTH, NOTE_LENGTH = 36, 108


def draw_table(table: Table) -> VectorDrawing:
    """Every cell as text, in lines of at most 36 letters; numbers stand on the right of their columns."""
    heads = [_lines(column.heading) for column in table.columns]
    rows = [list(map(_lines, row)) for row in show_rows(table)]
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
    return VectorDrawing(table.caption, counted(len(rows), "rows"), y + GAP, tuple(shapes), width, fluid=False)


def draw_paragraph(paragraph: Paragraph) -> VectorDrawing:
    """The text in lines; findings are bold, notes small."""
    kind = {"finding": "heading", "note": "tick"}.get(paragraph.role, "")
    lines = textwrap.wrap(paragraph.text, NOTE_LENGTH)
    shapes = tuple(Text(kind, MARGIN, (i + 1) * LINE, line) for i, line in enumerate(lines))
    return VectorDrawing("", "", len(lines) * LINE + LINE / 2, shapes, WIDE, fluid=False)


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


LEVELS = 10
MAP_ROW, LABELS, MAP_MARGIN = 24, 250, 12
HEADING_LENGTH, LABEL_LENGTH = 24, 38
NARROWEST, WIDEST = 46, 110


def draw_heat_map(chart: HeatMap) -> VectorDrawing:
    """Every value as a coloured cell; a cell without a value has no colour, and says so in two lines."""
    columns = max(len(chart.columns), 1)
    cell = min(max((WIDE - LABELS - MAP_MARGIN) / columns, NARROWEST), WIDEST)
    width = max(LABELS + cell * columns + MAP_MARGIN, WIDTH)
    top = 6.0 * max((len(shorten(name, HEADING_LENGTH)) for name in chart.columns), default=0) + 16
    shapes, limits = list[Shape](), heat_limits(chart)
    for i, name in enumerate(chart.columns):
        x = LABELS + (i + 0.5) * cell + 4
        shapes.append(Text("tick", x, top - 8, shorten(name, HEADING_LENGTH), upright=True))
    for j, (name, values) in enumerate(chart.rows):
        y = top + j * MAP_ROW
        shapes.append(Text("", MAP_MARGIN, y + 16, shorten(name, LABEL_LENGTH)))
        for i, value in enumerate(values):
            level, middle = heat_level(value, limits), LABELS + (i + 0.5) * cell
            if level is None:
                lines = heat_text(value, chart.unit).split(" ")
                shapes.extend(Text("middle cell-none", middle, y + 11 + 9 * n, line) for n, line in enumerate(lines))
                continue
            shapes.append(Rect(f"heat-{level}", LABELS + i * cell + 1, y + 1, cell - 2, MAP_ROW - 2))
            shapes.append(Text(f"middle cell heat-ink-{level}", middle, y + 16, heat_text(value, chart.unit)))
    bottom = top + len(chart.rows) * MAP_ROW
    shapes.append(Text("tick middle", width / 2, bottom + 22, chart.scale))
    said = "; ".join(rows_in_words(chart))
    return VectorDrawing(chart.title, said, bottom + 36, tuple(shapes), width, fluid=False)


def rows_in_words(chart: GridChart) -> Iterator[str]:
    """Each row with the values of all columns."""
    for name, values in chart.rows:
        cells = (f"{column} {show(value, chart.unit)}" for column, value in zip(chart.columns, values, strict=True))
        yield f"{name}: {', '.join(cells)}"


def heat_limits(chart: HeatMap) -> tuple[float, float]:
    """The ends of the colour scale: those given, else from zero or the smallest value to the largest."""
    known = finite(value for _, values in chart.rows for value in values)
    return chart.limits or (min((*known, 0.0)), max((*known, 0.0)))


def heat_level(value: float | None, limits: tuple[float, float]) -> str | None:
    """The colour of a value: ten levels, and ten others (``n0`` to ``n9``) below zero if the scale has both signs."""
    if value is None or math.isnan(value):
        return None
    low, high = limits
    sign = "n" if low < 0 and value < 0 else ""
    if low < 0:
        low, high, value = 0.0, max(high, -low), abs(value)
    share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.0
    return f"{sign}{min(LEVELS - 1, int(share * LEVELS))}"


def heat_text(value: float | None, unit: str) -> str:
    """A value as short as a cell needs it: shares in percent without the sign."""
    if value is None or math.isnan(value):
        return MISSING
    if unit in ("share", "probability") and math.isfinite(value):
        return f"{100 * value:.0f}"
    if unit in SHARES and math.isfinite(value):
        return f"{100 * value:+z.0f}"
    return show(value, unit).removesuffix(f" {unit}")


def heat_scale(chart: HeatMap) -> tuple[tuple[str, str], ...]:
    """The levels of the colour scale in ascending order; a level has the value at which it begins, or no text."""
    low, high = heat_limits(chart)
    if not high > low:
        return ()
    if low < 0:
        end = max(high, -low)
        below = [(f"n{i}", -end * (i + 1) / LEVELS) for i in reversed(range(LEVELS))]
        above = [(f"{i}", end * i / LEVELS) for i in range(LEVELS)] if high > 0 else []
        levels = below + above
    else:
        levels = [(f"{i}", low + (high - low) * i / LEVELS) for i in range(LEVELS)]
    every = 5 if len(levels) > LEVELS else 1
    return tuple(
        (level, tick(float(f"{v:.3g}"), chart.unit, max(high, -low)) if i % every == 0 else "")
        for i, (level, v) in enumerate(levels)
    )
