"""Bars of several parts, one below the other, with a legend whose letters stand in the parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holisticbias_eval.report.drawings.bars import ALONE
from holisticbias_eval.report.drawings.scales import Scale, finite, foot_height, linear
from holisticbias_eval.report.drawings.shapes import (
    MARGIN,
    SPAN,
    WIDE,
    WIDTH,
    Drawing,
    Rect,
    Shape,
    Text,
    label,
)
from holisticbias_eval.report.plain_text import shorten
from holisticbias_eval.report.units import show
from holisticbias_eval.sections import Stack, StackedBars

COLOURS = 8
ROW, BAR, LEGEND_ROW, SWATCH = 38, 15, 20, 15
NAME_LENGTH = 20
LETTER_ROOM = 11


def draw_stacked_bars(chart: StackedBars) -> Drawing:
    """The parts of each bar side by side, each with its letter as far as there is room; the sum stands beside it."""
    ends = [sum(_drawn(bar)) for bar in chart.bars]
    scale = linear((0.0, *ends), chart.unit)
    shapes: list[Shape] = list(_legend(chart.parts))
    top = LEGEND_ROW * math.ceil(len(chart.parts) / 2) + 4
    for i, bar in enumerate(chart.bars):
        shapes.extend(_row(bar, top + i * ROW, scale, chart.unit))
    foot = top + len(chart.bars) * ROW
    shapes.extend(scale.foot(foot, chart.scale))
    said = "; ".join(_in_words(bar, chart) for bar in chart.bars)
    return Drawing(chart.title, said, foot + foot_height(chart.scale), tuple(shapes))


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


def _row(bar: Stack, y: float, scale: Scale, unit: str) -> Iterator[Shape]:
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


def _in_words(bar: Stack, chart: StackedBars) -> str:
    parts = (f"{part} {show(value, chart.unit)}" for part, value in zip(chart.parts, bar.values, strict=True))
    return f"{bar.label}: {', '.join(parts)}"
