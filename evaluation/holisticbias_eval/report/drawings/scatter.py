"""Points by two values each, some with their labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from holisticbias_eval.report.drawings.scales import FOOT_LENGTH, ChartScale, finite, foot_height, linear, logarithmic
from holisticbias_eval.report.drawings.shapes import (
    LETTER,
    MARGIN,
    WIDE,
    WIDTH,
    Dot,
    Line,
    Shape,
    Text,
    VectorDrawing,
)
from holisticbias_eval.report.units import shorten, show, tick
from holisticbias_eval.sections import Scatter, ScatterPoint

TOP, HEIGHT = 22, 300
LABEL_LENGTH = 26
LINE = 13
BESIDE = 7

SIDES = (("", 0.0, BESIDE, 4), (" end", 1.0, -BESIDE, 4), (" middle", 0.5, 0, -BESIDE), (" middle", 0.5, 0, BESIDE + 9))
"""Where a label may stand, right, left, above or below its dot: its kind, the share of it that lies before the
anchor, and the pixels from the dot to the anchor."""

Box = tuple[float, float, float, float]


def draw_scatter(chart: Scatter) -> VectorDrawing:
    """Every point as a dot; labels that would lie on others are left out, on narrow screens more of them."""
    points = [p for p in chart.points if len(finite((p.x, p.y))) == 2 and (p.x > 0 or not chart.log_x)]
    across = (logarithmic if chart.log_x else linear)([p.x for p in points], chart.x_unit)
    across = replace(across, start=MARGIN + 30, length=WIDTH - 2 * MARGIN - 36)
    up = linear([p.y for p in points], chart.y_unit)
    up = replace(up, start=TOP + HEIGHT - 8, length=16 - HEIGHT)
    foot = TOP + HEIGHT
    shapes: list[Shape] = [
        Text("tick", MARGIN, 12, shorten(chart.y_label, FOOT_LENGTH)),
        *across.grid(TOP, TOP + HEIGHT),
        *_rows(up),
    ]
    for point in sorted(points, key=lambda p: p.labelled):
        kind = "point labelled" if point.labelled else "point"
        shapes.append(
            Dot(kind, across.place(point.x), up.place(point.y), 4 if point.labelled else 3, _said(chart, point))
        )
    shapes.extend(_labels([p for p in points if p.labelled], across, up))
    shapes.extend(across.foot(foot, chart.x_label))
    left_out = len(chart.points) - len(points)
    said = "; ".join(_said(chart, p) for p in points if p.labelled)
    counted = f"{len(points):,} points{f', {left_out:,} not drawn' if left_out else ''}"
    description = f"{counted}{f': {said}' if said else ''}"
    return VectorDrawing(chart.title, description, foot + foot_height(chart.x_label), tuple(shapes))


def _rows(up: ChartScale) -> Iterator[Shape]:
    for mark in up.marks:
        y = up.place(mark)
        yield Line("grid", MARGIN, y, WIDTH - MARGIN, y)
        yield Text("tick", MARGIN, y - 3, tick(mark, up.unit))


def _said(chart: Scatter, point: ScatterPoint) -> str:
    return f"{point.label}: {show(point.x, chart.x_unit)}, {show(point.y, chart.y_unit)}"


def _labels(points: list[ScatterPoint], across: ChartScale, up: ChartScale) -> Iterator[Text]:
    """A label for every point that has room for it."""
    dots = [(across.place(p.x), up.place(p.y)) for p in points]
    taken: dict[int, list[Box]] = {width: [_around(x * width / WIDTH, y) for x, y in dots] for width in (WIDTH, WIDE)}
    for i, (point, (x, y)) in enumerate(zip(points, dots, strict=True)):
        text = shorten(point.label, LABEL_LENGTH)
        for kind, before, shift, down in SIDES:
            start, length = shift - before * LETTER * len(text), LETTER * len(text)
            top = y + down - LINE + 3
            boxes = {w: (x * w / WIDTH + start, top, x * w / WIDTH + start + length, top + LINE) for w in taken}
            room = [w for w, box in boxes.items() if _is_free(box, taken[w], i, w)]
            if WIDE in room:
                yield Text(f"label{kind}{'' if WIDTH in room else ' wide-only'}", x, y + down, text, shift=shift)
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
