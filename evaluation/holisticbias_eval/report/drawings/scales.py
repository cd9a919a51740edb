"""Scales of charts: from values to places, with round marks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holisticbias_eval.figures import DEVIATION
from holisticbias_eval.report.drawings.shapes import MARGIN, SPAN, Shape, Text, upright
from holisticbias_eval.report.units import tick

HUGE = 1e300
DOT, KEPT = "  ·  ", "\u00a0"
FOOT, FOOT_LINE, FOOT_LENGTH = 34, 13, 64
NEAR_THE_RIGHT, NEAR_THE_LEFT = 310, 30


@dataclass(frozen=True, slots=True)
class ChartScale:
    """A scale from ``low`` to ``high``, drawn from ``start`` over ``length``; values beyond an end are drawn at it."""

    low: float
    high: float
    unit: str
    marks: tuple[float, ...]
    log: bool = False
    start: float = MARGIN
    length: float = SPAN

    def place(self, value: float) -> float:
        """The place of a value."""
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, self._within(value)))
        return self.start + self.length * (value - low) / (high - low)

    def _within(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def grid(self, top: float, bottom: float) -> Iterator[Shape]:
        """A vertical line at every mark."""
        return (upright("grid", self.place(mark), top, bottom) for mark in self.marks)

    def foot(self, y: float, text: str) -> Iterator[Shape]:
        """The marks' values below a chart, and the name of the scale."""
        for mark in self.marks:
            x = self.place(mark)
            side = " end" if x > NEAR_THE_RIGHT else " middle" if x > NEAR_THE_LEFT else ""
            yield Text(f"tick{side}", x, y + 14, tick(mark, self.unit))
        for i, line in enumerate(_lines(text)):
            yield Text("tick middle", MARGIN + SPAN / 2, y + 29 + i * FOOT_LINE, line)


def foot_height(text: str) -> float:
    """The height of the foot of a chart with this name of the scale."""
    return FOOT + FOOT_LINE * max(0, len(_lines(text)) - 1)


def _lines(text: str) -> list[str]:
    """The lines of a foot; its parts are kept whole if they fit a line."""
    joined = DOT.join(p.replace(" ", KEPT) if len(p) <= FOOT_LENGTH else p for p in text.split(DOT))
    return [line.replace(KEPT, " ").strip(" ·") for line in textwrap.wrap(joined, FOOT_LENGTH)]


def finite(values: Iterable[float | None]) -> list[float]:
    """The values that can be drawn."""
    return [value for value in values if value is not None and math.isfinite(value)]


def linear(values: Iterable[float | None], unit: str, limits: tuple[float, float] | None = None) -> ChartScale:
    """A scale in equal steps; without limits it ends at the round marks around the values.

    The scale of standard deviations starts at 0.
    """
    if unit.endswith(DEVIATION):
        values = [max(value, 0.0) for value in finite(values)]
    low, high = limits or _range(values)
    step = _step(high - low)
    if limits is None:
        low, high = step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return ChartScale(low, high, unit, tuple(float(f"{i * step:.12g}") for i in range(first, last + 1)))


def logarithmic(values: Iterable[float | None], unit: str, limits: tuple[float, float] | None = None) -> ChartScale:
    """A logarithmic scale of the positive values."""
    known = [value for value in finite(limits or values) if value > 0] or [1.0]
    low, high = min(known), max(known)
    if math.log(high) - math.log(low) <= 1e-6:
        low, high = low / math.e**0.5, high * math.e**0.5
    return ChartScale(low, high, unit, _log_marks(low, high), log=True)


def _range(values: Iterable[float | None]) -> tuple[float, float]:
    known = [min(max(value, -HUGE), HUGE) for value in finite(values)] or [0.0]
    low, high = min(known), max(known)
    size = max(abs(low), abs(high))
    if high - low > 1e-9 * max(size, 1e-3):
        return low, high
    return (low - 0.5 * size, high + 0.5 * size) if size > 1e-3 else (-0.5, 0.5)


def _step(span: float, steps: int = 4) -> float:
    """The smallest round step of which a span holds at most ``steps``."""
    power: float = 10.0 ** math.floor(math.log10(span / steps))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10, 20) if span / (power * factor) <= steps + 1e-9)


def _log_marks(low: float, high: float) -> tuple[float, ...]:
    """Round values, at most six: powers of ten, or values between them if there are too few."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        marks = [float(f"{s}e{d}") for d in decades for s in steps if low <= float(f"{s}e{d}") <= high]
        if len(marks) >= 3:
            return tuple(marks[:: math.ceil(len(marks) / 6)])
    return tuple(float(f"{math.exp(math.log(low) + part * math.log(high / low)):.3g}") for part in (0.0, 0.5, 1.0))
