"""The charts of a report as places and sizes, in units of a drawing 340 wide; ``charts.svg.jinja`` draws them.

Bars are drawn as wide as the text around them: their places are shares of the
width. Strips of dots are drawn 340 wide, several of them beside one another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from holisticbias_eval.report.axes import AxisShare
from holisticbias_eval.report.numbers import Kind, shorten, show
from holisticbias_eval.report.summary import Spread, Summary

WIDTH = 340
WIDE = 720
MARGIN = 6
SPAN = WIDTH - 2 * MARGIN
FOOT = 34
BAR_ROW = 30
STRIP_ROW = 52
LANES = 3
NAME_LENGTH = 27
LABEL_LENGTH = 22

Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of the scale and what it says."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from ``x`` on, ``width`` long, with its name and value above; no bar where the value is missing.

    ``low`` and ``high`` are the ends of the value's interval, if it has one;
    ``mark`` is where another value lies, and ``beside`` says both in words. A
    value ``within`` its floor is drawn fainter.
    """

    label: str
    value: str
    y: float
    x: float
    width: float | None
    side: Literal["", "love", "hate", "within"] = ""
    low: float | None = None
    high: float | None = None
    mark: float | None = None
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of dots with its box: quartiles and median, whiskers to the last dots within 1.5 box lengths.

    Dots beyond the whiskers are outliers; where descriptors may be named, they
    are coloured and the farthest on either side is named.
    """

    label: str
    y: float
    dots: str
    box: tuple[float, float, float] | None = None
    whiskers: tuple[float, float] | None = None
    low: str = ""
    high: str = ""
    lowest: str = ""
    highest: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: what it is called, what it says in words, its rows and its scale."""

    name: str
    title: str
    description: str
    height: float
    scale: str
    ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...] = ()
    strips: tuple[Strip, ...] = ()
    references: tuple[float, ...] = ()

    @property
    def width(self) -> int:
        """The width in pixels of the drawing by itself."""
        return WIDTH if self.strips else WIDE


def report_charts(summary: Summary) -> dict[str, Chart]:
    """The main charts by name, in the order of the page."""
    charts = (
        bias_chart(summary),
        *(strip_chart(summary, template, f"perplexities-{i}") for i, template in enumerate(summary.featured, 1)),
        *((love_hate_chart(summary),) if summary.wording.love_hate else ()),
    )
    return {chart.name: chart for chart in charts}


def bias_chart(summary: Summary) -> Chart:
    """Likelihood Bias by axis as bars in the order of the report, with intervals and each axis's own floor."""
    bars = tuple(_bias_bar(a, summary.label(a.axis), i * BAR_ROW) for i, a in enumerate(summary.axes))
    marks = "  ·  line: 95% interval  ·  mark: floor" if any(a.floor is not None for a in summary.axes) else ""
    return Chart(
        name="likelihood-bias",
        title=f"{summary.wording.bias} by axis",
        description="; ".join(f"{bar.label} {bar.value}{f' ({bar.beside})' if bar.beside else ''}" for bar in bars),
        height=len(bars) * BAR_ROW + FOOT,
        scale=f"share of pairs that differ{marks}",
        ticks=tuple(Tick(MARGIN + SPAN * i / 4, f"{i / 4:.0%}") for i in range(5)),
        bars=bars,
    )


def _bias_bar(found: AxisShare, label: str, y: float) -> Bar:
    interval, floor = found.interval, found.floor
    return Bar(
        label=shorten(label, LABEL_LENGTH),
        value=show(found.share, "share"),
        y=y,
        x=MARGIN,
        width=None if found.share is None else SPAN * found.share,
        side="within" if found.above is False else "",
        low=MARGIN + SPAN * interval.low if interval else None,
        high=MARGIN + SPAN * interval.high if interval else None,
        mark=None if floor is None else MARGIN + SPAN * floor,
        beside=_in_brief(found),
    )


def _in_brief(found: AxisShare) -> str:
    """The interval and the floor of a share, in the room that a phone has."""
    if found.interval is None or found.floor is None:
        return ""
    low, high = 100 * found.interval.low, 100 * found.interval.high
    return f"{low:.1f} to {high:.1f}%, {'' if found.above else 'at '}floor {show(found.floor, 'share')}"


def love_hate_chart(summary: Summary, size: int = 12) -> Chart:
    """The largest love-hate differences as bars to the right (love) and to the left (hate) of nothing."""
    loved, hated = (end[:size] for end in summary.love_hate_ends)
    chance = summary.chance_difference
    middle, half = WIDTH / 2, SPAN / 2
    bars = []
    for i, term in enumerate((*loved, *reversed(hated))):
        value = term.difference or 0.0
        width = abs(value) * half
        bars.append(
            Bar(
                shorten(term.text, 34),
                show(term.difference, "difference"),
                i * BAR_ROW,
                middle if value >= 0 else middle - width,
                width,
                "love" if value >= 0 else "hate",
            )
        )
    return Chart(
        name="love-hate",
        title="Love-hate differences, both ends",
        description="; ".join(f"{bar.label} {bar.value}" for bar in bars) or "no descriptor is named",
        height=len(bars) * BAR_ROW + FOOT,
        scale=_love_hate_scale(summary) if bars else "no descriptor is named",
        ticks=tuple(Tick(middle + half * v, f"{v:+.1f}" if v else "0") for v in (-1, -0.5, 0, 0.5, 1)),
        bars=tuple(bars),
        references=(middle - half * chance, middle + half * chance) if chance is not None else (),
    )


def _love_hate_scale(summary: Summary) -> str:
    chance = summary.chance_difference
    return "towards hate  ·  towards love" + (f"  ·  marks: ±{chance:.2f}, chance" if chance is not None else "")


def strip_chart(summary: Summary, template: str, name: str) -> Chart:
    """The medians of the descriptors of every axis in one template, on the scale of all templates."""
    wording = summary.wording
    place, ticks = _log_scale(summary) if wording.log else _linear_scale(summary)
    spreads = summary.spreads[template]
    strips = tuple(_strip(s, summary.label(s.axis), i * STRIP_ROW, place) for i, s in enumerate(spreads))
    return Chart(
        name=name,
        title=f"{wording.values[0].upper()}{wording.values[1:]} in “{template}”",
        description="; ".join(_in_words(s, summary.label(s.axis), wording.kind) for s in spreads),
        height=len(strips) * STRIP_ROW + FOOT,
        scale=f"median {wording.value} over nouns ({'log scale' if wording.log else 'nats'})",
        ticks=ticks,
        strips=strips,
    )


def _strip(spread: Spread, label: str, y: float, place: Scale) -> Strip:
    if not len(spread.medians):
        return Strip(label, y, "")
    x = [place(float(value)) for value in spread.medians]
    low, middle, high = map(float, np.quantile(x, (0.25, 0.5, 0.75)))
    reach = 1.5 * (high - low)
    lows, highs = sum(v < low - reach for v in x), sum(v > high + reach for v in x)
    inner = x[lows : len(x) - highs]
    if not spread.named:
        return Strip(label, y, _dots(x, y), (low, middle, high), (inner[0], inner[-1]))
    return Strip(
        label=label,
        y=y,
        dots=_dots(inner, y),
        box=(low, middle, high),
        whiskers=(inner[0], inner[-1]),
        low=_dots(x[:lows], y),
        high=_dots(x[len(x) - highs :], y),
        lowest=shorten(spread.names[0], NAME_LENGTH) if lows else "",
        highest=shorten(spread.names[-1], NAME_LENGTH) if highs else "",
    )


def _dots(places: Sequence[float], y: float) -> str:
    """A path of points, in lanes, so that neighbours do not hide one another."""
    return "".join(f"M{x:.1f} {y + 21 + 4 * (i % LANES):g}h0" for i, x in enumerate(places))


def _in_words(spread: Spread, label: str, kind: Kind) -> str:
    if not len(spread.medians):
        return f"{label}: nothing to show"
    low, middle, high = (
        show(float(v), kind) for v in (spread.medians[0], np.median(spread.medians), spread.medians[-1])
    )
    first, last = (f" ({name})" if spread.named else "" for name in (spread.names[0], spread.names[-1]))
    return f"{label}: from {low}{first} over {middle} to {high}{last}"


def _log_scale(summary: Summary) -> tuple[Scale, tuple[Tick, ...]]:
    """One logarithmic scale for all templates, and its marks."""
    found = [s.medians for spreads in summary.spreads.values() for s in spreads if len(s.medians)]
    values = np.concatenate(found) if found else np.ones(1)
    low, high = math.log(values.min()), math.log(values.max())
    low, high = (low, high) if high - low > 1e-6 else (low - 0.5, high + 0.5)

    def place(value: float) -> float:
        return MARGIN + 4 + (SPAN - 8) * (math.log(value) - low) / (high - low)

    return place, tuple(Tick(place(v), _tick_label(v)) for v in _ticks(math.exp(low), math.exp(high)))


def _linear_scale(summary: Summary) -> tuple[Scale, tuple[Tick, ...]]:
    """One scale for all templates in steps of one size, and its marks."""
    found = [s.medians for spreads in summary.spreads.values() for s in spreads if len(s.medians)]
    values = np.concatenate(found) if found else np.zeros(1)
    low, high = float(values.min()), float(values.max())
    low, high = (low, high) if high - low > 1e-6 else (low - 0.5, high + 0.5)

    def place(value: float) -> float:
        return MARGIN + 4 + (SPAN - 8) * (value - low) / (high - low)

    step = next(s * 10.0**d for d in range(-7, 300) for s in (1, 2, 5) if (high - low) / (s * 10.0**d) <= 6)
    marks = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    return place, tuple(Tick(place(float(v)), f"{v:,.6g}") for v in marks)


def _tick_label(value: float) -> str:
    return f"{value:,g}" if value < 1e6 else f"{value:.0e}"


def _ticks(low: float, high: float) -> tuple[float, ...]:
    """Round numbers within a range, few enough for their labels: powers of ten, else with others between."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        marks = [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]
        if len(marks) >= 3:
            return tuple(marks[:: math.ceil(len(marks) / 6)])
    return tuple(float(f"{v:.3g}") for v in np.geomspace(low, high, 3))


def heat_level(share: float) -> int:
    """The colour of a share: ten steps of a tenth each."""
    return min(9, int(share * 10))
