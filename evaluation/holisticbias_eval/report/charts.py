"""The charts of a report as places and sizes, in units of a drawing 340 wide; ``charts.svg.jinja`` draws them.

One narrow drawing serves a phone, a column of a wide page and a printed page alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from holisticbias_eval.measures.records import Interval
from holisticbias_eval.measures.shares import SIGNIFICANCE
from holisticbias_eval.report.numbers import Kind, shorten, show
from holisticbias_eval.report.summary import Spread, Summary, Term
from holisticbias_eval.run import Share

WIDTH = 340
MARGIN = 6
SPAN = WIDTH - 2 * MARGIN
FOOT = 34
BAR_ROW = 30
STRIP_ROW = 52
LANES = 3
NAME_LENGTH = 27

Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of the scale and what it says."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from ``x`` on, ``width`` long, with its name and value above; no bar where the value is missing.

    ``low`` and ``high`` are the ends of the value's interval, where it has one; ``mark`` is where another value lies.
    """

    label: str
    value: str
    y: float
    x: float
    width: float | None
    side: Literal["", "love", "hate"] = ""
    low: float | None = None
    high: float | None = None
    mark: float | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of dots with its box: quartiles and median, whiskers to the last dots within 1.5 box lengths.

    Dots beyond the whiskers are outliers; the farthest on either side is named.
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


def report_charts(summary: Summary) -> dict[str, Chart]:
    """The main charts by name, in the order of the page."""
    charts = (
        bias_chart(summary),
        *(strip_chart(summary, template, f"perplexities-{i}") for i, template in enumerate(summary.featured, 1)),
        *((love_hate_chart(love_hate_ends(summary), summary.chance_difference),) if summary.wording.love_hate else ()),
    )
    return {chart.name: chart for chart in charts}


def bias_chart(summary: Summary) -> Chart:
    """Likelihood Bias by axis as bars, highest first, with the share that chance alone gives."""
    shares = sorted(
        summary.result.likelihood_bias.by_axis, key=lambda s: -1.0 if s.share is None else s.share, reverse=True
    )
    trusted = {t.axis: t.interval for t in summary.result.trust.by_axis} if summary.result.trust else {}
    bars = tuple(_bias_bar(s, summary.label(s.axis), trusted.get(s.axis), i * BAR_ROW) for i, s in enumerate(shares))
    return Chart(
        name="likelihood-bias",
        title=f"{summary.wording.bias} by axis",
        description="; ".join(f"{bar.label} {bar.value}" for bar in bars),
        height=len(bars) * BAR_ROW + FOOT,
        scale=f"pairs with p < {SIGNIFICANCE:g}  ·  mark: {SIGNIFICANCE:.0%}, chance alone",
        ticks=tuple(Tick(MARGIN + SPAN * i / 4, f"{i / 4:.0%}") for i in range(5)),
        bars=bars,
        references=(MARGIN + SPAN * SIGNIFICANCE,),
    )


def _bias_bar(share: Share, label: str, interval: Interval | None, y: float) -> Bar:
    return Bar(
        label=label,
        value=show(share.share, "share"),
        y=y,
        x=MARGIN,
        width=None if share.share is None else SPAN * share.share,
        low=MARGIN + SPAN * interval.low if interval else None,
        high=MARGIN + SPAN * interval.high if interval else None,
    )


def love_hate_ends(summary: Summary, size: int = 12) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """The descriptors with the greatest and the smallest love-hate differences, each from its end.

    Only those beyond what chance gives: no word is named where nothing was found.
    """
    chance = summary.chance_difference or 0
    ordered = summary.by_love_hate
    loved = [t for t in ordered[::-1] if (t.difference or 0) > chance]
    hated = [t for t in ordered if (t.difference or 0) < -chance]
    return tuple(loved[:size]), tuple(hated[:size])


def love_hate_chart(ends: tuple[tuple[Term, ...], tuple[Term, ...]], chance: float | None) -> Chart:
    """Love-hate differences as bars to the right (love) and to the left (hate) of nothing, with chance marked."""
    terms = [*ends[0], *reversed(ends[1])]
    middle, half = WIDTH / 2, SPAN / 2
    bars = []
    for i, term in enumerate(terms):
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
        description="; ".join(f"{bar.label} {bar.value}" for bar in bars) or "no descriptor has a difference",
        height=len(bars) * BAR_ROW + FOOT,
        scale="towards hate  ·  towards love" + (f"  ·  marks: ±{chance:.2f}, chance" if chance is not None else ""),
        ticks=tuple(Tick(middle + half * v, f"{v:+.1f}" if v else "0") for v in (-1, -0.5, 0, 0.5, 1)),
        bars=tuple(bars),
        references=(middle - half * chance, middle + half * chance) if chance is not None else (),
    )


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
        return f"{label}: none"
    low, middle, high = (
        show(float(v), kind) for v in (spread.medians[0], np.median(spread.medians), spread.medians[-1])
    )
    return f"{label}: from {low} ({spread.names[0]}) over {middle} to {high} ({spread.names[-1]})"


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
