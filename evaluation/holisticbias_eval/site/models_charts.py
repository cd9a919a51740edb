"""Charts and tables of results: of several models side by side, and of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias_eval.blocks import Cell, Column, Table, ends, without_empty
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import title
from holisticbias_eval.report.units import show
from holisticbias_eval.sections import Bar, Bars, Block, Estimate, Forest
from holisticbias_eval.site.models_results import ModelResult


def row_label(measured: ModelResult, figure: Figure) -> str:
    """The axis, specification or other keys of a figure, in words."""
    return ", ".join(measured.labels.get(value, title(value)) for value in figure.keys.values()) or "All"


def side_by_side(results: Sequence[ModelResult]) -> tuple[Block, ...]:
    """A chart and a table of several models in one measure on one release, models in the given order."""
    labels = list(_rows(results))
    caption = results[0].title
    found = [{row_label(m, f): f for f in m.shown()} for m in results]
    estimates = tuple(
        Estimate(m.model, own[label].value, own[label].interval, bool(own[label].above_floor), group=label)
        for label in labels
        for m, own in zip(results, found, strict=True)
        if label in own
    )
    columns = (_first_column(results[0]), *(Column(m.key, m.model) for m in results))
    rows = tuple((label, *(_cell(own.get(label)) for own in found)) for label in labels)
    unit = next((figure.unit for figure in results[0].shown()), "")
    reading = _reading(results[0].shown(), "filled: above the value expected by chance")
    return (
        Forest("models", caption, unit, estimates, reading),
        Table("models", f"{caption}; in brackets the 95% interval", columns, rows),
    )


def _rows(results: Sequence[ModelResult]) -> dict[str, None]:
    return dict.fromkeys(row_label(m, figure) for m in results for figure in m.shown())


def _first_column(measured: ModelResult) -> Column:
    by = measured.info.by
    name = by[0] if {"domain", "dimension"} & {*by} else by[-1]
    return Column(name, title(name))


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "not measured"
    value = show(figure.value, figure.unit)
    return f"{value} [{show(ends(figure.interval), figure.unit)}]" if figure.interval else value


def _reading(figures: Sequence[Figure], chance: str) -> str:
    """The unit where values do not have it, and the meaning of the marks; ``chance`` is said if figures have floors."""
    said = sorted({f.unit for f in figures if f.unit.startswith("nats")})
    said += ["line: 95% interval"] if any(f.interval for f in figures) else []
    said += [chance] if any(f.floor is not None for f in figures) else []
    return "  ·  ".join(said)


def alone(measured: ModelResult) -> tuple[Block, ...]:
    """A chart and a table of one result."""
    figures = measured.shown()
    name = measured.title
    unit = next((figure.unit for figure in figures), "")
    bars = tuple(
        Bar(row_label(measured, f), f.value, f.interval, f.floor, faint=f.above_floor is False) for f in figures
    )
    reading = _reading(figures, "mark: value expected by chance; paler: not above it")
    limits = (0.0, 1.0) if unit == "share" else None
    return Bars(measured.key, name, unit, bars, reading, limits=limits, mark="chance"), _table(measured, name, unit)


def _table(measured: ModelResult, name: str, unit: str) -> Table:
    info = measured.info
    columns = (
        _first_column(measured),
        Column("value", info.title, unit),
        Column("interval", "95% interval", unit, interval=True),
        Column("floor", "By chance", unit),
        Column("floor_interval", "95% of chance", unit, interval=True),
        Column("p_value", "p", "p_value"),
        *(Column(beside, title(beside), _unit(measured, beside)) for beside in info.beside),
        Column("n", "n", "count"),
        Column("missing", "Missing", "count"),
    )
    return without_empty(Table(measured.key, name, columns, tuple(_cells(measured))))


def _unit(measured: ModelResult, name: str) -> str:
    return next((f.unit for f in measured.info.headlines(measured.figures, name)), "")


def _cells(measured: ModelResult) -> Iterator[tuple[Cell, ...]]:
    for f in measured.shown():
        beside = (measured.figures.value(measured.measure, name, f.keys) for name in measured.info.beside)
        chance = (f.floor, ends(f.floor_interval), f.p_value)
        yield (row_label(measured, f), f.value, ends(f.interval), *chance, *beside, f.n, f.missing or None)
