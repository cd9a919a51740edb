"""Bars, one below the other, each with its name and value above it."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias_eval.blocks import ends
from holisticbias_eval.figures import DEVIATION
from holisticbias_eval.report.drawings.scales import Scale, finite, foot_height, linear
from holisticbias_eval.report.drawings.shapes import (
    MARGIN,
    SPAN,
    WIDTH,
    Drawing,
    Line,
    Rect,
    Shape,
    Text,
    label,
    upright,
)
from holisticbias_eval.report.units import show
from holisticbias_eval.sections import Bar, Bars

ROW = 30
BESIDE_BRIEF, ALONE = 22, 34
"""Letters of a label on a phone, beside an interval and without one."""


def draw_bars(chart: Bars) -> Drawing:
    """The bars from zero, with the interval as a line and the floor as a mark; a value beyond the scale ends at it."""
    scale = linear((0.0, *_values(chart)), chart.unit, chart.limits)
    shapes: list[Shape] = []
    for i, bar in enumerate(chart.bars):
        shapes.extend(_row(bar, i * ROW, scale, chart))
    foot = len(chart.bars) * ROW
    shapes.extend(scale.foot(foot, chart.scale))
    said = (f"{bar.label} {_value(bar, chart.unit)}{_in_brackets(_brief(bar, chart))}" for bar in chart.bars)
    return Drawing(chart.title, "; ".join(said), foot + foot_height(chart.scale), tuple(shapes))


def _values(chart: Bars) -> Iterator[float | None]:
    yield from chart.references
    for bar in chart.bars:
        yield from (bar.value, bar.floor, bar.before, *(ends(bar.interval) or ()))


def _row(bar: Bar, y: float, scale: Scale, chart: Bars) -> Iterator[Shape]:
    brief = _brief(bar, chart)
    yield from label(bar.label, y + 14, BESIDE_BRIEF if brief else ALONE)
    yield Text("value end", WIDTH - MARGIN, y + 14, _value(bar, chart.unit), brief)
    yield Rect("track", MARGIN, y + 19, SPAN, 7)
    yield from scale.grid(y + 17, y + 28)
    if finite((bar.value,)) and bar.value is not None:
        zero, end = scale.place(0.0), scale.place(bar.value)
        kind = " faint" if bar.faint else " negative" if bar.value < 0 else ""
        yield Rect(f"bar{kind}", min(zero, end), y + 19, abs(end - zero), 7)
    if bar.interval and len(finite(ends(bar.interval) or ())) == 2:
        low, high = scale.place(bar.interval.low), scale.place(bar.interval.high)
        yield Line("interval", low, y + 22.5, high, y + 22.5)
        yield from (upright("interval", x, y + 19.5, y + 25.5) for x in (low, high))
    for value in finite((bar.before,)):
        yield upright("before", scale.place(value), y + 17, y + 28)
    for value in finite((bar.floor, *chart.references)):
        yield upright("reference", scale.place(value), y + 17, y + 28)


def _value(bar: Bar, unit: str) -> str:
    value = show(bar.value, unit)
    return value if bar.before is None else f"{show(bar.before, unit)} → {value}"


def _brief(bar: Bar, chart: Bars) -> str:
    """The interval and the floor, as short as a phone needs them."""
    said = [brief_interval(ends(bar.interval), chart.unit)] if bar.interval else []
    if bar.floor is not None:
        at = "at " if bar.faint and not chart.test else ""
        said.append(f"{at}{chart.mark} {_mark(bar.floor, chart.unit)}")
    return ", ".join(said)


def _mark(value: float, unit: str) -> str:
    """A marked value: of a standard deviation at least 0."""
    return show(max(value, 0.0), unit.removesuffix(DEVIATION)) if unit.endswith(DEVIATION) else show(value, unit)


def brief_interval(interval: tuple[float, float] | None, unit: str) -> str:
    """An interval with one percent sign, and without the word points."""
    low, _, high = show(interval, unit).removesuffix(" points").partition(" to ")
    if not high:
        return low
    return f"{low.removesuffix('%') if high.endswith('%') else low} to {high}"


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""
