"""Bars from zero, bars of several parts, and estimates with their intervals, one below the other."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from holisticbias_eval.figures import DEVIATION, as_shown
from holisticbias_eval.report.drawings import shapes as sh
from holisticbias_eval.report.drawings.grids import rows_in_words
from holisticbias_eval.sections.blocks import Bar, Bars, Estimate, Forest, StackedBars
from holisticbias_eval.sections.tables import ends
from holisticbias_eval.units import POINTS, shorten, show

ROW = 30
BESIDE_BRIEF, ALONE = 22, 34
"""Letters of a label on a phone, beside an interval and without one."""
BRIEF_LETTER, BOLD_LETTER, BETWEEN = 5.5, 8.0, 16


def draw_bars(chart: Bars) -> sh.VectorDrawing:
    """The bars from zero, with the interval as a line and the floor as a mark; a value beyond the scale ends at it."""
    values = [v for b in chart.bars for v in (b.value, b.floor, b.before, *(ends(b.interval) or ()))]
    scale = sh.linear((0.0, *chart.references, *values), chart.unit, chart.limits)
    shapes, said = list[sh.Shape](), []
    for i, bar in enumerate(chart.bars):
        shapes.extend(_row(bar, i * ROW, scale, chart))
        brief = _brief(bar, chart)
        said.append(f"{bar.label} {_value(bar, chart.unit)}{f' ({brief})' if brief else ''}")
    return scale.drawing(chart.title, said, shapes, len(chart.bars) * ROW, _reading(chart, chart.bars))


def _row(bar: Bar, y: float, scale: sh.ChartScale, chart: Bars) -> Iterator[sh.Shape]:
    yield from _texts(bar, y + 14, chart)
    yield sh.Rect("track", sh.MARGIN, y + 19, sh.SPAN, 7)
    yield from scale.grid(y + 17, y + 28)
    if sh.finite((bar.value,)) and bar.value is not None:
        zero, end = scale.place(0.0), scale.place(bar.value)
        kind = " faint" if bar.faint else " negative" if bar.value < 0 else ""
        yield sh.Rect(f"bar{kind}", min(zero, end), y + 19, abs(end - zero), 7)
    if bar.interval and len(sh.finite(ends(bar.interval) or ())) == 2:
        low, high = scale.place(bar.interval.low), scale.place(bar.interval.high)
        yield sh.Line("interval", low, y + 22.5, high, y + 22.5)
        yield from (sh.upright("interval", x, y + 19.5, y + 25.5) for x in (low, high))
    for value in sh.finite((bar.before,)):
        yield sh.upright("before", scale.place(value), y + 17, y + 28)
    for value in sh.finite((bar.floor, *chart.references)):
        yield sh.upright("reference", scale.place(value), y + 17, y + 28)


def _texts(bar: Bar, y: float, chart: Bars) -> Iterator[sh.Text]:
    """The label, and the value after its interval and floor; a phone without room for the floor has its mark alone."""
    value, brief = _value(bar, chart.unit), _brief(bar, chart)
    letters = BESIDE_BRIEF if brief else ALONE
    yield from sh.label(bar.label, y, letters)
    taken = sh.LETTER * min(len(bar.label), letters) + BOLD_LETTER * len(value) + BRIEF_LETTER * len(brief) + BETWEEN
    if bar.floor is None or taken <= sh.SPAN:
        yield sh.Text("value end", sh.WIDTH - sh.MARGIN, y, value, brief)
        return
    yield sh.Text("value end wide-only", sh.WIDTH - sh.MARGIN, y, value, brief)
    yield sh.Text("value end narrow-only", sh.WIDTH - sh.MARGIN, y, value, _brief(replace(bar, floor=None), chart))


def _value(bar: Bar, unit: str) -> str:
    value = show(bar.value, unit)
    return value if bar.before is None else f"{show(bar.before, unit)} → {value}"


def _brief(bar: Bar, chart: Bars) -> str:
    """The interval and the floor, as short as a phone needs them."""
    said = [brief_interval(ends(bar.interval), chart.unit)] if bar.interval else []
    if bar.floor is not None:
        deviation = chart.unit.endswith(DEVIATION)  # also faint if its interval reaches 0
        at = "at " if bar.faint and not chart.test and not deviation else ""
        floor = show(as_shown(bar.floor, chart.unit), chart.unit.removesuffix(DEVIATION))
        said.append(f"{at}{chart.mark} {floor}")
    return ", ".join(said)


def brief_interval(interval: tuple[float, float] | None, unit: str) -> str:
    """An interval with one percent sign, and without the word points."""
    low, to, high = show(interval, unit).removesuffix(POINTS).partition(" to ")
    return f"{low.removesuffix('%') if high.endswith('%') else low}{to}{high}"


COLOURS = 8
STACK_ROW, BAR, LEGEND_ROW, SWATCH = 38, 15, 20, 15
NAME_LENGTH = 20
LETTER_ROOM = 11


def draw_stacked_bars(chart: StackedBars) -> sh.VectorDrawing:
    """The parts of each bar side by side, each with its letter as far as there is room; the sum stands beside it."""
    sums = (sum(value for value in sh.finite(values) if value > 0) for _, values in chart.rows)
    scale = sh.linear((0.0, *sums), chart.unit)
    shapes: list[sh.Shape] = list(_legend(chart.columns))
    top = LEGEND_ROW * math.ceil(len(chart.columns) / 2) + 4
    for i, (name, values) in enumerate(chart.rows):
        shapes.extend(_stack_row(name, values, top + i * STACK_ROW, scale))
    return scale.drawing(chart.title, rows_in_words(chart), shapes, top + len(chart.rows) * STACK_ROW, chart.scale)


def letter(part: int) -> str:
    """The letter of a part: A to Z, then A again."""
    return chr(ord("A") + part % 26)


def _legend(parts: Sequence[str]) -> Iterator[sh.Shape]:
    """Two columns of swatches with a letter and the name of a part."""
    for i, part in enumerate(parts):
        x, y = sh.MARGIN + (i % 2) * sh.WIDTH / 2, i // 2 * LEGEND_ROW
        yield from _labelled(i, x, y, SWATCH)
        for kind, length in (("narrow-only", NAME_LENGTH), ("wide-only", 2 * NAME_LENGTH)):
            yield sh.Text(kind, x + SWATCH, y + 12, shorten(part, length), shift=6)


def _labelled(part: int, x: float, y: float, width: float) -> Iterator[sh.Shape]:
    """A rectangle in the colour of a part, with its letter if that fits."""
    colour = part % COLOURS
    yield sh.Rect(f"stack stack-{colour}", x, y, width, BAR)
    if width * sh.WIDE / sh.WIDTH >= LETTER_ROOM:
        room = "" if width >= LETTER_ROOM else " wide-only"
        yield sh.Text(f"middle part stack-ink-{colour}{room}", x + width / 2, y + BAR - 4, letter(part))


def _stack_row(name: str, values: Sequence[float | None], y: float, scale: sh.ChartScale) -> Iterator[sh.Shape]:
    yield from sh.label(name, y + 13, ALONE)
    known = sh.finite(values)
    yield sh.Text("value end", sh.WIDTH - sh.MARGIN, y + 13, show(sum(known) if known else None, scale.unit))
    yield sh.Rect("track", sh.MARGIN, y + 18, sh.SPAN, BAR)
    start = 0.0
    for part, value in enumerate(values):
        if value is not None and math.isfinite(value) and value > 0:
            left, right = scale.place(start), scale.place(start + value)
            yield from _labelled(part, left, y + 18, right - left)
            start += value


GROUP_ROW, GROUP_LENGTH = 26, 42


def draw_forest(chart: Forest) -> sh.VectorDrawing:
    """Every estimate as a dot on its interval: filled if marked, else open. A new group starts with its name."""
    values = [v for e in chart.estimates for v in (e.value, e.beside, *(ends(e.interval) or ()))]
    scale = sh.linear((chart.reference, *values), chart.unit)
    shapes: list[sh.Shape] = []
    y, group = 0.0, ""
    for estimate in chart.estimates:
        if estimate.group != group:
            group = estimate.group
            named, lower = sh.wrapped(group, y + 18, GROUP_LENGTH, "group")
            shapes.extend(named)
            y += GROUP_ROW + lower
        narrow = BESIDE_BRIEF if _interval(estimate, chart) else ALONE
        named, lower = sh.wrapped(estimate.label, y + 14, narrow)
        shapes.extend((*named, *_estimate_row(estimate, y + lower, scale, chart)))
        y += ROW + lower
    said = (_estimate_in_words(estimate, chart.unit, chart.beside) for estimate in chart.estimates)
    return scale.drawing(chart.title, said, shapes, y, _reading(chart, chart.estimates))


def _reading(chart: Bars | Forest, rows: Sequence[Bar | Estimate]) -> str:
    """The words below a scale; they explain the line of intervals if a row has an interval."""
    line = f"line: {chart.line}" if any(row.interval for row in rows) else ""
    return sh.DOT.join(filter(None, (chart.scale, line, *chart.marks)))


def _estimate_row(estimate: Estimate, y: float, scale: sh.ChartScale, chart: Forest) -> Iterator[sh.Shape]:
    kind = " marked" if estimate.marked else ""
    yield sh.Text(
        f"value end{kind}", sh.WIDTH - sh.MARGIN, y + 14, show(estimate.value, chart.unit), _interval(estimate, chart)
    )
    yield from scale.grid(y + 18, y + 29)
    yield sh.upright("reference", scale.place(chart.reference), y + 17, y + 30)
    low, high = ends(estimate.interval) or (None, None)
    if low is not None and high is not None and len(sh.finite((low, high))) == 2:
        yield sh.Line(f"estimate{kind}", scale.place(low), y + 23.5, scale.place(high), y + 23.5)
    for value in sh.finite((estimate.beside,)):
        yield sh.upright("before", scale.place(value), y + 18, y + 29)
    for value in sh.finite((estimate.value,)):
        yield sh.Dot(f"estimate-dot{kind}", scale.place(value), y + 23.5, 4)


def _interval(estimate: Estimate, chart: Forest) -> str:
    return brief_interval(ends(estimate.interval), chart.unit) if estimate.interval else ""


def _estimate_in_words(estimate: Estimate, unit: str, name: str) -> str:
    interval = f" ({show(ends(estimate.interval), unit)})" if estimate.interval else ""
    group = f"{estimate.group}: " if estimate.group else ""
    marked = ", marked" if estimate.marked else ""
    beside = "" if estimate.beside is None else f", {name} {show(estimate.beside, unit)}"
    return f"{group}{estimate.label} {show(estimate.value, unit)}{interval}{beside}{marked}"
