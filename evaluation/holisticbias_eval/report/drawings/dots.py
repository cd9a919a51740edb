"""Rows of dots with box and whiskers, and points by two values each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from holisticbias.terminal import counted
from holisticbias_eval.report.drawings import shapes as sh
from holisticbias_eval.sections.blocks import DotPlot, Scatter, ScatterPoint
from holisticbias_eval.sections.blocks import Dots as Row
from holisticbias_eval.units import shorten, show

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


def draw_dot_plot(chart: DotPlot) -> sh.VectorDrawing:
    """Every value as a dot; the outliers of rows that may be named are coloured, the farthest on each side named."""
    values = [value for row in chart.rows for value in row.values]
    scale = (sh.logarithmic if chart.log else sh.linear)(values, chart.unit, chart.limits)
    scale = replace(scale, start=sh.MARGIN + INSET, length=sh.SPAN - 2 * INSET)
    shapes = [shape for i, row in enumerate(chart.rows) for shape in _row(row, i * ROW, scale)]
    said = (_in_words(row, chart.unit, log=chart.log) for row in chart.rows)
    return scale.drawing(chart.title, said, shapes, len(chart.rows) * ROW, chart.scale, fluid=False)


def spread(row: Row, *, log: bool, scale: sh.ChartScale | None = None) -> BoxSpread | None:
    """The box of a row; ``None`` if no value can be drawn."""
    known = [
        (value, name) for value, name in zip(row.values, row.names, strict=True)
        if sh.finite((value,)) and (value > 0 or not log)
    ]  # fmt: skip
    if not known:
        return None
    values, names = zip(*known, strict=True)
    place = scale.place if scale else float
    places = [place(value) for value in values]
    low, middle, high = (place(value) for value in np.quantile(values, (0.25, 0.5, 0.75)).tolist())
    reach = 1.5 * (high - low)
    lows, highs = sum(x < low - reach for x in places), sum(x > high + reach for x in places)
    return BoxSpread(values, names, (low, middle, high), lows, highs)


def _row(row: Row, y: float, scale: sh.ChartScale) -> Iterator[sh.Shape]:
    if y:
        yield sh.Line("grid", 0, y, sh.WIDTH, y)
    yield from scale.grid(y + 18, y + 32)
    found = spread(row, log=scale.log, scale=scale)
    left_out = len(row.values) - (len(found.values) if found else 0)
    yield sh.Text("", sh.MARGIN, y + 14, shorten(row.label, LABEL_LENGTH - (LEFT_OUT_LENGTH if left_out else 0)))
    if found is None or left_out:
        yield sh.Text("value end", sh.WIDTH - sh.MARGIN, y + 14, f"{left_out:,} not drawn" if left_out else "no values")
    if found is None:
        return
    places = [scale.place(value) for value in found.values]
    inner = places[found.lows : len(places) - found.highs]
    low, middle, high = found.box
    yield sh.Rect("box", low, y + 18, high - low, 14)
    yield sh.Line("whisker", inner[0], y + 25, inner[-1], y + 25)
    yield _dots("", places if not row.named else inner, y)
    yield sh.upright("median", middle, y + 17, y + 33)
    if row.named and found.lows:
        yield _dots("low", places[: found.lows], y)
        yield sh.Text("name low", sh.MARGIN, y + 45, shorten(found.names[0], NAME_LENGTH))
    if row.named and found.highs:
        yield _dots("high", places[-found.highs :], y)
        yield sh.Text("name high end", sh.WIDTH - sh.MARGIN, y + 45, shorten(found.names[-1], NAME_LENGTH))


def _dots(kind: str, places: Sequence[float], y: float) -> sh.DotPath:
    """Dots in lanes, so that neighbours do not hide one another."""
    return sh.DotPath(f"dots {kind}".rstrip(), tuple((x, y + 21 + 4 * (i % LANES)) for i, x in enumerate(places)))


def _in_words(row: Row, unit: str, *, log: bool) -> str:
    found = spread(row, log=log)
    if found is None:
        return f"{row.label}: nothing to show"
    low, middle, high = (show(v, unit) for v in (found.values[0], found.box[1], found.values[-1]))
    first, last = (f" ({name})" if row.named and name else "" for name in (found.names[0], found.names[-1]))
    return f"{row.label}: from {low}{first} to {high}{last}, median {middle}"


TOP, HEIGHT = 22, 300
POINT_LENGTH = 26
POINT_LINE = 13
BESIDE = 7

SIDES = (("", 0.0, BESIDE, 4), (" end", 1.0, -BESIDE, 4), (" middle", 0.5, 0, -BESIDE), (" middle", 0.5, 0, BESIDE + 9))
"""Where a label may stand, right, left, above or below its dot: its kind, the share of it that lies before the
anchor, and the pixels from the dot to the anchor."""

Box = tuple[float, float, float, float]


def draw_scatter(chart: Scatter) -> sh.VectorDrawing:
    """Every point as a dot; labels that would lie on others are left out, on narrow screens more of them."""
    points = [p for p in chart.points if len(sh.finite((p.x, p.y))) == 2 and (p.x > 0 or not chart.log_x)]
    across = (sh.logarithmic if chart.log_x else sh.linear)([p.x for p in points], chart.x_unit)
    across = replace(across, start=sh.MARGIN + 30, length=sh.WIDTH - 2 * sh.MARGIN - 36)
    up = sh.linear([p.y for p in points], chart.y_unit)
    up = replace(up, start=TOP + HEIGHT - 8, length=16 - HEIGHT)
    shapes: list[sh.Shape] = [sh.Text("tick", sh.MARGIN, 12, shorten(chart.y_label, sh.FOOT_LENGTH))]
    shapes += (*across.grid(TOP, TOP + HEIGHT), *_rows(up))
    for point in sorted(points, key=lambda p: p.labelled):
        kind, radius = ("point labelled", 4) if point.labelled else ("point", 3)
        shapes.append(sh.Dot(kind, across.place(point.x), up.place(point.y), radius, _said(chart, point)))
    shapes.extend(_labels([p for p in points if p.labelled], across, up))
    left_out = len(chart.points) - len(points)
    said = "; ".join(_said(chart, p) for p in points if p.labelled)
    drawn = f"{counted(len(points), 'points')}{f', {left_out:,} not drawn' if left_out else ''}"
    return across.drawing(chart.title, [f"{drawn}{f': {said}' if said else ''}"], shapes, TOP + HEIGHT, chart.x_label)


def _rows(up: sh.ChartScale) -> Iterator[sh.Shape]:
    for mark in up.marks:
        y = up.place(mark)
        yield sh.Line("grid", sh.MARGIN, y, sh.WIDTH - sh.MARGIN, y)
        yield sh.Text("tick", sh.MARGIN, y - 3, up.tick(mark))


def _said(chart: Scatter, point: ScatterPoint) -> str:
    return f"{point.label}: {show(point.x, chart.x_unit)}, {show(point.y, chart.y_unit)}"


def _labels(points: list[ScatterPoint], across: sh.ChartScale, up: sh.ChartScale) -> Iterator[sh.Text]:
    """A label for every point that has room for it."""
    dots = [(across.place(p.x), up.place(p.y)) for p in points]
    taken: dict[int, list[Box]] = {
        width: [_around(x * width / sh.WIDTH, y) for x, y in dots] for width in (sh.WIDTH, sh.WIDE)
    }
    for i, (point, (x, y)) in enumerate(zip(points, dots, strict=True)):
        text = shorten(point.label, POINT_LENGTH)
        for kind, before, shift, down in SIDES:
            start, length = shift - before * sh.LETTER * len(text), sh.LETTER * len(text)
            top = y + down - POINT_LINE + 3
            boxes = {
                w: (x * w / sh.WIDTH + start, top, x * w / sh.WIDTH + start + length, top + POINT_LINE) for w in taken
            }
            room = [w for w, box in boxes.items() if _is_free(box, taken[w], i, w)]
            if sh.WIDE in room:
                yield sh.Text(f"label{kind}{'' if sh.WIDTH in room else ' wide-only'}", x, y + down, text, shift=shift)
                for w in room:
                    taken[w].append(boxes[w])
                break


def _around(x: float, y: float) -> Box:
    return x - 4, y - 4, x + 4, y + 4


def _is_free(box: Box, taken: list[Box], own: int, width: int) -> bool:
    left, top, right, bottom = box
    others = (b for i, b in enumerate(taken) if i != own)
    inside = left >= 0 and right <= width and top >= 0
    return inside and not any(left < b[2] and b[0] < right and top < b[3] and b[1] < bottom for b in others)
