"""Rows of dots with box and whiskers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.report.drawings.scales import ChartScale, finite, foot_height, linear, logarithmic
from holisticbias_eval.report.drawings.shapes import (
    MARGIN,
    SPAN,
    WIDTH,
    DotPath,
    Line,
    Rect,
    Shape,
    Text,
    VectorDrawing,
    upright,
)
from holisticbias_eval.report.units import shorten, show
from holisticbias_eval.sections import DotPlot
from holisticbias_eval.sections import Dots as Row

ROW = 52
LANES = 3
NAME_LENGTH = 27
LABEL_LENGTH, LEFT_OUT_LENGTH = 44, 18
INSET = 4


@dataclass(frozen=True, slots=True)
class BoxSpread:
    """A row's values that can be drawn, ascending, with their names, and its box: quartiles and median.

    ``lows`` and ``highs`` are the numbers of outliers: dots farther from the box
    than one and a half of its lengths on the scale of the chart.
    """

    values: tuple[float, ...]
    names: tuple[str, ...]
    box: tuple[float, float, float]
    lows: int
    highs: int


def draw_dot_plot(chart: DotPlot) -> VectorDrawing:
    """Every value as a dot; the outliers of rows that may be named are coloured, the farthest on each side named."""
    values = [value for row in chart.rows for value in row.values]
    scale = (logarithmic if chart.log else linear)(values, chart.unit, chart.limits)
    scale = ChartScale(scale.low, scale.high, scale.unit, scale.marks, scale.log, MARGIN + INSET, SPAN - 2 * INSET)
    foot = len(chart.rows) * ROW
    shapes: list[Shape] = []
    for i, row in enumerate(chart.rows):
        shapes.extend(_row(row, i * ROW, scale))
    shapes.extend(scale.foot(foot, chart.scale))
    said = "; ".join(_in_words(row, chart.unit, log=chart.log) for row in chart.rows)
    return VectorDrawing(chart.title, said, foot + foot_height(chart.scale), tuple(shapes), WIDTH, fluid=False)


def spread(row: Row, *, log: bool, scale: ChartScale | None = None) -> BoxSpread | None:
    """The box of a row; ``None`` if no value can be drawn."""
    known = [
        (value, name) for value, name in zip(row.values, row.names, strict=True)
        if finite((value,)) and (value > 0 or not log)
    ]  # fmt: skip
    if not known:
        return None
    values, names = zip(*known, strict=True)
    places = [scale.place(value) for value in values] if scale else list(values)
    low, middle, high = map(float, np.quantile(places, (0.25, 0.5, 0.75)))
    reach = 1.5 * (high - low)
    lows, highs = sum(x < low - reach for x in places), sum(x > high + reach for x in places)
    return BoxSpread(values, names, (low, middle, high), lows, highs)


def _row(row: Row, y: float, scale: ChartScale) -> Iterator[Shape]:
    if y:
        yield Line("grid", 0, y, WIDTH, y)
    yield from scale.grid(y + 18, y + 32)
    found = spread(row, log=scale.log, scale=scale)
    left_out = len(row.values) - (len(found.values) if found else 0)
    yield Text("", MARGIN, y + 14, shorten(row.label, LABEL_LENGTH - (LEFT_OUT_LENGTH if left_out else 0)))
    if found is None or left_out:
        yield Text("value end", WIDTH - MARGIN, y + 14, f"{left_out:,} not drawn" if left_out else "none")
    if found is None:
        return
    places = [scale.place(value) for value in found.values]
    inner = places[found.lows : len(places) - found.highs]
    low, middle, high = found.box
    yield Rect("box", low, y + 18, high - low, 14)
    yield Line("whisker", inner[0], y + 25, inner[-1], y + 25)
    yield _dots("", places if not row.named else inner, y)
    yield upright("median", middle, y + 17, y + 33)
    if row.named and found.lows:
        yield _dots("low", places[: found.lows], y)
        yield Text("name low", MARGIN, y + 45, shorten(found.names[0], NAME_LENGTH))
    if row.named and found.highs:
        yield _dots("high", places[-found.highs :], y)
        yield Text("name high end", WIDTH - MARGIN, y + 45, shorten(found.names[-1], NAME_LENGTH))


def _dots(kind: str, places: Sequence[float], y: float) -> DotPath:
    """Dots in lanes, so that neighbours do not hide one another."""
    return DotPath(f"dots {kind}".rstrip(), tuple((x, y + 21 + 4 * (i % LANES)) for i, x in enumerate(places)))


def _in_words(row: Row, unit: str, *, log: bool) -> str:
    found = spread(row, log=log)
    if found is None:
        return f"{row.label}: nothing to show"
    low, middle, high = (show(v, unit) for v in (found.values[0], found.box[1], found.values[-1]))
    first, last = (f" ({name})" if row.named and name else "" for name in (found.names[0], found.names[-1]))
    return f"{row.label}: from {low}{first} to {high}{last}, median {middle}"
