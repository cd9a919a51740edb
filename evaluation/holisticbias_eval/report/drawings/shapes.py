"""A drawing as shapes, before it becomes SVG, and the scales from values to places.

Places from left to right are in units of a drawing 340 wide. A fluid drawing is
as wide as the text around it: its places become shares of the width, and its
letters keep their size. Other drawings keep their proportions.
"""

import math
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holisticbias_eval.figures import as_shown
from holisticbias_eval.units import shorten, tick

WIDTH = 340
WIDE = 720
MARGIN = 6
SPAN = WIDTH - 2 * MARGIN
LETTER = 6.4
"""Pixels a letter of 12 px takes, more or less."""
LINE = 15
"""Height of a line of a label."""
_LONGEST = 60  # characters of a label on a wide screen


HUGE = 1e300
DOT, KEPT = "  ·  ", "\u00a0"
FOOT, FOOT_LINE, FOOT_LENGTH = 34, 13, 64
NEAR_THE_RIGHT, NEAR_THE_LEFT = 310, 30


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text; ``brief`` stands before it in small letters, ``shift`` moves it by pixels."""

    kind: str
    x: float
    y: float
    text: str
    brief: str = ""
    shift: float = 0
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle."""

    kind: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    kind: str
    x: float
    y: float
    to_x: float
    to_y: float


@dataclass(frozen=True, slots=True)
class Dot:
    """A dot; ``label`` is shown when it is pointed at."""

    kind: str
    x: float
    y: float
    radius: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class DotPath:
    """Many dots as one path, for drawings that are not fluid: places as pairs."""

    kind: str
    places: tuple[tuple[float, float], ...]


Shape = Text | Rect | Line | Dot | DotPath


@dataclass(frozen=True, slots=True)
class VectorDrawing:
    """A drawing: its title, what it shows in words, its size in pixels by itself, and its shapes."""

    title: str
    description: str
    height: float
    shapes: tuple[Shape, ...]
    width: float = WIDE
    fluid: bool = True


def upright(kind: str, x: float, top: float, bottom: float) -> Line:
    """A vertical line."""
    return Line(kind, x, top, x, bottom)


def label(text: str, y: float, narrow: int) -> tuple[Text, ...]:
    """A label on the left, on a narrow screen with at most so many letters."""
    if len(text) <= narrow:
        return (Text("", MARGIN, y, text),)
    return (
        Text("wide-only", MARGIN, y, shorten(text, _LONGEST)),
        Text("narrow-only", MARGIN, y, shorten(text, narrow)),
    )


def wrapped(text: str, y: float, narrow: int, kind: str = "") -> tuple[tuple[Text, ...], float]:
    """A label on the left in as many lines as a narrow screen needs, and the height of those after the first.

    A wide screen needs fewer lines: they end at the height of the last.
    """
    lines = textwrap.wrap(text, narrow) or [""]
    if len(lines) == 1:
        return (Text(kind, MARGIN, y, lines[0]),), 0.0
    lower = LINE * (len(lines) - 1)
    named = [("wide-only", textwrap.wrap(text, _LONGEST)), ("narrow-only", lines)]
    return tuple(
        Text(f"{kind} {screen}".strip(), MARGIN, y + lower - LINE * (len(own) - 1 - i), line)
        for screen, own in named
        for i, line in enumerate(own)
    ), lower


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

    def tick(self, mark: float) -> str:
        """The value of a mark."""
        return tick(mark, self.unit, max(map(abs, self.marks)))

    def grid(self, top: float, bottom: float) -> Iterator[Shape]:
        """A vertical line at every mark."""
        return (upright("grid", self.place(mark), top, bottom) for mark in self.marks)

    def drawing(
        self, title: str, said: Iterable[str], shapes: Iterable[Shape], y: float, name: str, *, fluid: bool = True
    ) -> VectorDrawing:
        """The drawing of shapes with a foot at ``y``: the marks' values, and the name of the scale."""
        lines, foot = _lines(name), list[Shape]()
        for mark in self.marks:
            x = self.place(mark)
            side = " end" if x > NEAR_THE_RIGHT else " middle" if x > NEAR_THE_LEFT else ""
            foot.append(Text(f"tick{side}", x, y + 14, self.tick(mark)))
        for i, line in enumerate(lines):
            foot.append(Text("tick middle", MARGIN + SPAN / 2, y + 29 + i * FOOT_LINE, line))
        height = y + FOOT + FOOT_LINE * max(0, len(lines) - 1)
        return VectorDrawing(title, "; ".join(said), height, (*shapes, *foot), WIDE if fluid else WIDTH, fluid=fluid)


def _lines(text: str) -> list[str]:
    """The lines of a foot; its parts are kept whole if they fit a line."""
    joined = DOT.join(p.replace(" ", KEPT) if len(p) <= FOOT_LENGTH else p for p in text.split(DOT))
    return [line.replace(KEPT, " ").strip(" ·") for line in textwrap.wrap(joined, FOOT_LENGTH)]


def finite(values: Iterable[float | None]) -> list[float]:
    """The values that can be drawn."""
    return [value for value in values if value is not None and math.isfinite(value)]


def linear(values: Iterable[float | None], unit: str, limits: tuple[float, float] | None = None) -> ChartScale:
    """A scale in equal steps; without limits it ends at the round marks around the values.

    The scale of standard deviations starts at 0. Limits that are equal are a value.
    """
    low, high = limits or (0.0, 0.0)
    if low == high:
        low, high = _range((as_shown(value, unit) for value in limits or values), unit)
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


def _range(values: Iterable[float | None], unit: str) -> tuple[float, float]:
    """The smallest and the largest value; around values that are all equal a range, that of shares from 0 to 1."""
    known = [min(max(value, -HUGE), HUGE) for value in finite(values)] or [0.0]
    low, high = min(known), max(known)
    size = max(abs(low), abs(high))
    if high - low > 1e-9 * max(size, 1e-3):
        return low, high
    if unit in ("share", "probability") and 0 <= low <= high <= 1:
        return 0.0, 1.0
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
