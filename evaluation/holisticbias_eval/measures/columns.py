"""Columns of tables whose rows are figures, and the figures and columns of a change from one run to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holisticbias_eval.blocks import Cell, ColumnOf
from holisticbias_eval.figures import Ends, Figure, Figures, Interval, make_figure

CHANGE_NAMES = {"first": "A", "second": "B", "change": "Change"}
"""The names of the figures of a comparison, and the headings of their columns."""

FigureColumns = tuple[ColumnOf[Figure], ...]


def key_of(key: str, heading: str = "") -> ColumnOf[Figure]:
    """The value of a key, as it is."""
    return ColumnOf(key, heading or key.capitalize(), lambda f: f.keys.get(key))


def value_of(key: str, heading: str, unit: str) -> ColumnOf[Figure]:
    """The value."""
    return ColumnOf(key, heading, lambda f: f.value, unit)


def interval_of(unit: str, key: str = "interval", heading: str = "95% interval") -> ColumnOf[Figure]:
    """The interval."""
    return ColumnOf(key, heading, lambda f: f.interval, unit, interval=True)


def p_of(heading: str = "p", key: str = "p_value") -> ColumnOf[Figure]:
    """The p-value."""
    return ColumnOf(key, heading, lambda f: f.p_value, "p_value")


def adjusted_p_of(heading: str = "p (Holm)", key: str = "adjusted_p") -> ColumnOf[Figure]:
    """The p-value corrected for the number of tests."""
    return ColumnOf(key, heading, lambda f: f.adjusted_p, "p_value")


def n_of(key: str, heading: str) -> ColumnOf[Figure]:
    """The number of items that the value is of, in every table."""
    return ColumnOf(key, heading, lambda f: f.n, "count", base=True)


def missing_of(key: str = "missing", heading: str = "Missing") -> ColumnOf[Figure]:
    """The number of items left out."""
    return ColumnOf(key, heading, lambda f: f.missing, "count")


def beside(
    figures: Figures, name: str, heading: str, unit: str, key: str = "", more: Mapping[str, str] | None = None
) -> ColumnOf[Figure]:
    """The value of another figure of the same measure with the same keys, and ``more``."""

    def cell(f: Figure) -> Cell:
        return figures.value(f.measure, name, {**f.keys, **(more or {})})

    return ColumnOf(key or name, heading, cell, unit)


def interval_beside(figures: Figures, name: str, heading: str, unit: str, key: str = "") -> ColumnOf[Figure]:
    """The interval of another figure of the same measure with the same keys."""

    def cell(f: Figure) -> Cell | Interval:
        found = figures.get(f.measure, name, f.keys)
        return found.interval if found else None

    return ColumnOf(key or name, heading, cell, unit, interval=True)


def change_columns(changes: Figures, unit: str) -> FigureColumns:
    """Both values, the change and its interval, of rows that are figures ``change``."""
    return (
        *(beside(changes, name, CHANGE_NAMES[name], unit) for name in ("first", "second")),
        value_of("change", CHANGE_NAMES["change"], f"{unit} difference"),
        interval_of(f"{unit} difference"),
    )


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
) -> Iterator[Figure]:
    """The figures ``first``, ``second`` and ``change`` of a figure; without ``change`` it is their difference."""
    first, second = values
    for name, value in zip(("first", "second"), values, strict=True):
        yield make_figure(measure, name, keys, value, unit, n, missing, of=of)
    if change is None and first is not None and second is not None:
        change = second - first
    yield make_figure(
        measure, "change", keys, change, f"{unit} difference", n, missing, interval=interval, p_value=p_value, of=of
    )
