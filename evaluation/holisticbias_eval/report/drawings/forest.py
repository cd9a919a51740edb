"""Estimates with their intervals, one below the other, beside a reference line."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias_eval.blocks import ends
from holisticbias_eval.report.drawings.bars import ALONE, BESIDE_BRIEF, brief_interval
from holisticbias_eval.report.drawings.scales import ChartScale, finite, foot_height, linear
from holisticbias_eval.report.drawings.shapes import (
    MARGIN,
    WIDTH,
    Dot,
    Line,
    Shape,
    Text,
    VectorDrawing,
    upright,
    wrapped,
)
from holisticbias_eval.report.units import show
from holisticbias_eval.sections import Estimate, Forest

ROW = 30
GROUP_ROW, GROUP_LENGTH = 26, 42


def draw_forest(chart: Forest) -> VectorDrawing:
    """Every estimate as a dot on its interval: filled if marked, else open. A new group starts with its name."""
    values = [v for e in chart.estimates for v in (e.value, e.beside, *(ends(e.interval) or ()))]
    scale = linear((chart.reference, *values), chart.unit)
    shapes: list[Shape] = []
    y, group = 0.0, ""
    for estimate in chart.estimates:
        if estimate.group != group:
            group = estimate.group
            named, lower = wrapped(group, y + 18, GROUP_LENGTH, "group")
            shapes.extend(named)
            y += GROUP_ROW + lower
        narrow = BESIDE_BRIEF if _brief(estimate, chart) else ALONE
        named, lower = wrapped(estimate.label, y + 14, narrow)
        shapes.extend((*named, *_row(estimate, y + lower, scale, chart)))
        y += ROW + lower
    shapes.extend(scale.foot(y, chart.scale))
    said = "; ".join(_in_words(estimate, chart.unit, chart.beside) for estimate in chart.estimates)
    return VectorDrawing(chart.title, said, y + foot_height(chart.scale), tuple(shapes))


def _row(estimate: Estimate, y: float, scale: ChartScale, chart: Forest) -> Iterator[Shape]:
    kind = " marked" if estimate.marked else ""
    yield Text(f"value end{kind}", WIDTH - MARGIN, y + 14, show(estimate.value, chart.unit), _brief(estimate, chart))
    yield from scale.grid(y + 18, y + 29)
    yield upright("reference", scale.place(chart.reference), y + 17, y + 30)
    low, high = ends(estimate.interval) or (None, None)
    if low is not None and high is not None and len(finite((low, high))) == 2:
        yield Line(f"estimate{kind}", scale.place(low), y + 23.5, scale.place(high), y + 23.5)
    for value in finite((estimate.beside,)):
        yield upright("before", scale.place(value), y + 18, y + 29)
    for value in finite((estimate.value,)):
        yield Dot(f"estimate-dot{kind}", scale.place(value), y + 23.5, 4)


def _brief(estimate: Estimate, chart: Forest) -> str:
    return brief_interval(ends(estimate.interval), chart.unit) if estimate.interval else ""


def _in_words(estimate: Estimate, unit: str, name: str) -> str:
    interval = f" ({show(ends(estimate.interval), unit)})" if estimate.interval else ""
    group = f"{estimate.group}: " if estimate.group else ""
    marked = ", marked" if estimate.marked else ""
    beside = "" if estimate.beside is None else f", {name} {show(estimate.beside, unit)}"
    return f"{group}{estimate.label} {show(estimate.value, unit)}{interval}{beside}{marked}"
