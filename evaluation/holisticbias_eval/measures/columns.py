"""Columns of tables whose rows are figures, and the figures and columns of a change from one run to another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from holisticbias_eval.figures import Ends, Figure, Figures, Interval, difference_limits, make_figure
from holisticbias_eval.sections.blocks import Bar, Bars
from holisticbias_eval.sections.tables import Cell, ColumnOf

CHANGE_NAMES = {"first": "A", "second": "B", "change": "Change"}
"""The names of the figures of a comparison, and the headings of their columns."""

FigureColumns = tuple[ColumnOf[Figure], ...]


def key(key: str) -> ColumnOf[Figure]:
    """The value of a key, as it is."""
    return ColumnOf(key, key.capitalize(), lambda f: f.keys.get(key))


def value(key: str, heading: str, unit: str) -> ColumnOf[Figure]:
    """The value."""
    return ColumnOf(key, heading, lambda f: f.value, unit)


def interval(unit: str, key: str = "interval", heading: str = "95% interval") -> ColumnOf[Figure]:
    """The interval."""
    return ColumnOf(key, heading, lambda f: f.interval, unit, interval=True)


def estimate(key: str, heading: str, unit: str, ends: str = "interval") -> FigureColumns:
    """The value and its interval."""
    return value(key, heading, unit), interval(unit, ends)


def p(heading: str = "p", key: str = "p_value") -> ColumnOf[Figure]:
    """The p-value."""
    return ColumnOf(key, heading, lambda f: f.p_value, "p_value")


def floor(unit: str) -> ColumnOf[Figure]:
    """The value expected by chance."""
    return ColumnOf("floor", "Floor", lambda f: f.floor, unit)


def adjusted_p(heading: str = "p (Holm)", key: str = "adjusted_p") -> ColumnOf[Figure]:
    """The p-value corrected for the number of tests."""
    return ColumnOf(key, heading, lambda f: f.adjusted_p, "p_value")


def n(key: str, heading: str, *, base: bool = True) -> ColumnOf[Figure]:
    """The number of items that the value is of; a base stands in every table."""
    return ColumnOf(key, heading, lambda f: f.n, "count", base=base)


def missing(key: str = "missing", heading: str = "Missing") -> ColumnOf[Figure]:
    """The number of items left out."""
    return ColumnOf(key, heading, lambda f: f.missing, "count")


def beside(
    figures: Figures,
    name: str,
    heading: str,
    unit: str,
    key: str = "",
    attribute: str = "value",
    more: Mapping[str, str] | None = None,
    *,
    base: bool | None = None,
) -> ColumnOf[Figure]:
    """An attribute of another figure of the measure with the same keys, and ``more``; ``n`` is a base by default."""

    def cell(f: Figure) -> Cell | Interval:
        found = figures.get(f.measure, name, {**f.keys, **(more or {})})
        value: Cell | Interval = getattr(found, attribute, None)
        return value

    is_base = attribute == "n" if base is None else base
    return ColumnOf(key or name, heading, cell, unit, interval=attribute.endswith("interval"), base=is_base)


def whole(column: ColumnOf[Figure]) -> ColumnOf[Figure]:
    """The column with whole numbers."""

    def cell(f: Figure) -> Cell | Interval:
        value = column.cell(f)
        return int(value) if isinstance(value, float) else value

    return replace(column, cell=cell)


def difference(unit: str) -> str:
    """The unit of a difference of two values; a difference of differences has the same."""
    return unit if unit.endswith(" difference") else f"{unit} difference"


def unit_of(changes: Figures, measure: str) -> str:
    """The unit of the values of both runs."""
    return next((f.unit for f in changes if f.measure == measure and f.name != "change"), "")


def of_both(figures: Figures, unit: str) -> FigureColumns:
    """The values of both runs, of rows that are figures ``change``."""
    return tuple(beside(figures, name, CHANGE_NAMES[name], unit) for name in ("first", "second"))


def changes(figures: Figures, unit: str) -> FigureColumns:
    """Both values, the change and its interval, of rows that are figures ``change``."""
    return (
        *of_both(figures, unit),
        value("change", CHANGE_NAMES["change"], difference(unit)),
        interval(difference(unit)),
    )


def of_runs(*runs: Figure | None) -> Iterator[Figure]:
    """A figure of each of two runs, if it has it, named after the run; ``of`` names the figure."""
    for name, figure in zip(("first", "second"), runs, strict=True):
        if figure is not None:
            yield figure.model_copy(update={"name": name, "of": figure.name})


def change_figures(
    measure: str,
    of: str,
    keys: dict[str, str],
    values: tuple[float | None, float | None],
    unit: str,
    n: float,
    missing: float = 0,
    *,
    change: float | None = None,
    interval: Ends = None,
    p_value: float | None = None,
    limits: tuple[float, float] | None = None,
) -> Iterator[Figure]:
    """The figures ``first``, ``second`` and ``change`` of a figure; without ``change`` it is their difference.

    ``limits`` are the least and the largest change, by default those of the unit.
    """
    first, second = values
    for name, value in zip(("first", "second"), values, strict=True):
        yield make_figure(measure, name, keys, value, unit, n, missing, of=of)
    if change is None and first is not None and second is not None:
        change = second - first
    yield make_figure(
        measure, "change", keys, change, difference(unit), n, missing, interval=interval, p_value=p_value, of=of,
        limits=limits or difference_limits(unit),
    )  # fmt: skip


def change_bars(
    changes: Figures, found: Sequence[Figure], label: Callable[[Figure], str], name: str, caption: str, unit: str,
    limits: tuple[float, float] | None = None, scale: str = "",
) -> Bars:  # fmt: skip
    """The value of both runs of each change as a bar with a mark."""
    bars = tuple(
        Bar(label(f), changes.value(f.measure, "second", f.keys), before=changes.value(f.measure, "first", f.keys))
        for f in found
    )
    return Bars(name, caption, unit, bars, scale, limits=limits, marks=("bar: B, mark: A",))
