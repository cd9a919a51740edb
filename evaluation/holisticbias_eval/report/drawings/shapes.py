"""A drawing as shapes, before it becomes SVG.

Places from left to right are in units of a drawing 340 wide. A fluid drawing is
as wide as the text around it: its places become shares of the width, and its
letters keep their size. Other drawings keep their proportions.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from holisticbias_eval.report.units import shorten

WIDTH = 340
WIDE = 720
MARGIN = 6
SPAN = WIDTH - 2 * MARGIN
LETTER = 6.4
"""Pixels a letter of 12 px takes, more or less."""
LINE = 15
"""Height of a line of a label."""


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


def label(text: str, y: float, narrow: int, wide: int = 60) -> tuple[Text, ...]:
    """A label on the left, shorter on a narrow screen: at most so many letters there, and on a wide one."""
    if len(text) <= narrow:
        return (Text("", MARGIN, y, text),)
    return (
        Text("wide-only", MARGIN, y, shorten(text, wide)),
        Text("narrow-only", MARGIN, y, shorten(text, narrow)),
    )


def wrapped(text: str, y: float, narrow: int, kind: str = "", wide: int = 60) -> tuple[tuple[Text, ...], float]:
    """A label on the left in as many lines as a narrow screen needs, and the height of those after the first.

    A wide screen has one line, at the height of the last; only there a very long label is cut.
    """
    lines = textwrap.wrap(text, narrow) or [""]
    if len(lines) == 1:
        return (Text(kind, MARGIN, y, lines[0]),), 0.0
    lower = LINE * (len(lines) - 1)
    own = (Text(f"{kind} narrow-only".strip(), MARGIN, y + LINE * i, line) for i, line in enumerate(lines))
    return (Text(f"{kind} wide-only".strip(), MARGIN, y + lower, shorten(text, wide)), *own), lower
