"""Values by row and column as a grid of colours, for files; the page shows a table in the same colours."""

from __future__ import annotations

import math

from holisticbias_eval.report.drawings.scales import finite
from holisticbias_eval.report.drawings.shapes import WIDE, WIDTH, Drawing, Rect, Shape, Text
from holisticbias_eval.report.plain_text import shorten
from holisticbias_eval.report.units import show, tick
from holisticbias_eval.sections import HeatMap

LEVELS = 10
ROW, LABELS, MARGIN = 24, 250, 12
HEADING_LENGTH, LABEL_LENGTH = 24, 38
NARROWEST, WIDEST = 46, 110


def draw_heat_map(chart: HeatMap) -> Drawing:
    """Every value as a coloured cell; cells without a value are left empty."""
    columns = max(len(chart.columns), 1)
    cell = min(max((WIDE - LABELS - MARGIN) / columns, NARROWEST), WIDEST)
    width = max(LABELS + cell * columns + MARGIN, WIDTH)
    top = 6.0 * max((len(shorten(name, HEADING_LENGTH)) for name in chart.columns), default=0) + 16
    shapes: list[Shape] = []
    for i, name in enumerate(chart.columns):
        x = LABELS + (i + 0.5) * cell + 4
        shapes.append(Text("tick", x, top - 8, shorten(name, HEADING_LENGTH), upright=True))
    for j, (name, values) in enumerate(chart.rows):
        y = top + j * ROW
        shapes.append(Text("", MARGIN, y + 16, shorten(name, LABEL_LENGTH)))
        for i, value in enumerate(values):
            level = heat_level(value, heat_limits(chart))
            if level is not None:
                shapes.append(Rect(f"heat-{level}", LABELS + i * cell + 1, y + 1, cell - 2, ROW - 2))
            kind = "cell-none" if level is None else f"heat-ink-{level}"
            shapes.append(Text(f"middle cell {kind}", LABELS + (i + 0.5) * cell, y + 16, heat_text(value, chart.unit)))
    bottom = top + len(chart.rows) * ROW
    shapes.append(Text("tick middle", width / 2, bottom + 22, chart.scale))
    said = "; ".join(_in_words(name, values, chart) for name, values in chart.rows)
    return Drawing(chart.title, said, bottom + 36, tuple(shapes), width, fluid=False)


def _in_words(name: str, values: tuple[float | None, ...], chart: HeatMap) -> str:
    cells = (f"{column} {show(value, chart.unit)}" for column, value in zip(chart.columns, values, strict=True))
    return f"{name}: {', '.join(cells)}"


def heat_limits(chart: HeatMap) -> tuple[float, float]:
    """The ends of the colour scale: those given, else from zero or the smallest value to the largest."""
    known = finite(value for _, values in chart.rows for value in values)
    return chart.limits or (min((*known, 0.0)), max((*known, 0.0)))


def heat_level(value: float | None, limits: tuple[float, float]) -> str | None:
    """The colour of a value: ten levels, and ten others (``n0`` to ``n9``) below zero if the scale has both signs."""
    if value is None or math.isnan(value):
        return None
    low, high = limits
    if low < 0:
        low, high, sign = 0.0, max(high, -low), "n" if value < 0 else ""
        value = abs(value)
    else:
        sign = ""
    share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.0
    return f"{sign}{min(LEVELS - 1, int(share * LEVELS))}"


def heat_text(value: float | None, unit: str) -> str:
    """A value as short as a cell needs it: shares in percent without the sign."""
    if value is None or math.isnan(value):
        return "none"
    if unit in ("share", "probability") and math.isfinite(value):
        return f"{100 * value:.0f}"
    if unit in ("share difference", "probability difference") and math.isfinite(value):
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
        (level, tick(float(f"{v:.3g}"), chart.unit) if i % every == 0 else "") for i, (level, v) in enumerate(levels)
    )
