"""Bars from zero, and bars of several parts, one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holisticbias_eval.blocks import ends
from holisticbias_eval.figures import DEVIATION
from holisticbias_eval.report.drawings.scales import ChartScale, finite, foot_height, linear
from holisticbias_eval.report.drawings.shapes import (
    MARGIN,
    SPAN,
    WIDE,
    WIDTH,
    Line,
    Rect,
    Shape,
    Text,
    VectorDrawing,
    label,
    upright,
)
from holisticbias_eval.report.units import shorten, show
from holisticbias_eval.sections import Bar, Bars, Stack, StackedBars

ROW = 30
BESIDE_BRIEF, ALONE = 22, 34
"""Letters of a label on a phone, beside an interval and without one."""


def draw_bars(chart: Bars) -> VectorDrawing:
    """The bars from zero, with the interval as a line and the floor as a mark; a value beyond the scale ends at it."""
    scale = linear((0.0, *_values(chart)), chart.unit, chart.limits)
    shapes: list[Shape] = []
    for i, bar in enumerate(chart.bars):
        shapes.extend(_row(bar, i * ROW, scale, chart))
    foot = len(chart.bars) * ROW
    shapes.extend(scale.foot(foot, chart.scale))
    said = (f"{bar.label} {_value(bar, chart.unit)}{_in_brackets(_brief(bar, chart))}" for bar in chart.bars)
    return VectorDrawing(chart.title, "; ".join(said), foot + foot_height(chart.scale), tuple(shapes))


def _values(chart: Bars) -> Iterator[float | None]:
    yield from chart.references
    for bar in chart.bars:
        yield from (bar.value, bar.floor, bar.before, *(ends(bar.interval) or ()))


def _row(bar: Bar, y: float, scale: ChartScale, chart: Bars) -> Iterator[Shape]:
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


COLOURS = 8
STACK_ROW, BAR, LEGEND_ROW, SWATCH = 38, 15, 20, 15
NAME_LENGTH = 20
LETTER_ROOM = 11


def draw_stacked_bars(chart: StackedBars) -> VectorDrawing:
    """The parts of each bar side by side, each with its letter as far as there is room; the sum stands beside it."""
    ends = [sum(_drawn(bar)) for bar in chart.bars]
    scale = linear((0.0, *ends), chart.unit)
    shapes: list[Shape] = list(_legend(chart.parts))
    top = LEGEND_ROW * math.ceil(len(chart.parts) / 2) + 4
    for i, bar in enumerate(chart.bars):
        shapes.extend(_stack_row(bar, top + i * STACK_ROW, scale, chart.unit))
    foot = top + len(chart.bars) * STACK_ROW
    shapes.extend(scale.foot(foot, chart.scale))
    said = "; ".join(_stack_in_words(bar, chart) for bar in chart.bars)
    return VectorDrawing(chart.title, said, foot + foot_height(chart.scale), tuple(shapes))


def letter(part: int) -> str:
    """The letter of a part: A to Z, then A again."""
    return chr(ord("A") + part % 26)


def _drawn(bar: Stack) -> list[float]:
    return [value for value in finite(bar.values) if value > 0]


def _legend(parts: Sequence[str]) -> Iterator[Shape]:
    """Two columns of swatches with a letter and the name of a part."""
    for i, part in enumerate(parts):
        x, y = MARGIN + (i % 2) * WIDTH / 2, i // 2 * LEGEND_ROW
        yield from _labelled(i, x, y, SWATCH)
        for kind, length in (("narrow-only", NAME_LENGTH), ("wide-only", 2 * NAME_LENGTH)):
            yield Text(kind, x + SWATCH, y + 12, shorten(part, length), shift=6)


def _labelled(part: int, x: float, y: float, width: float) -> Iterator[Shape]:
    """A rectangle in the colour of a part, with its letter if that fits."""
    colour = part % COLOURS
    yield Rect(f"stack stack-{colour}", x, y, width, BAR)
    if width * WIDE / WIDTH >= LETTER_ROOM:
        room = "" if width >= LETTER_ROOM else " wide-only"
        yield Text(f"middle part stack-ink-{colour}{room}", x + width / 2, y + BAR - 4, letter(part))


def _stack_row(bar: Stack, y: float, scale: ChartScale, unit: str) -> Iterator[Shape]:
    yield from label(bar.label, y + 13, ALONE)
    known = finite(bar.values)
    yield Text("value end", WIDTH - MARGIN, y + 13, show(sum(known) if known else None, unit))
    yield Rect("track", MARGIN, y + 18, SPAN, BAR)
    start = 0.0
    for part, value in enumerate(bar.values):
        if value is not None and math.isfinite(value) and value > 0:
            left, right = scale.place(start), scale.place(start + value)
            yield from _labelled(part, left, y + 18, right - left)
            start += value


def _stack_in_words(bar: Stack, chart: StackedBars) -> str:
    parts = (f"{part} {show(value, chart.unit)}" for part, value in zip(chart.parts, bar.values, strict=True))
    return f"{bar.label}: {', '.join(parts)}"
