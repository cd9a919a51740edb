"""Blocks of a report: charts of six kinds, each with the table of its values, and the sections that they stand in."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holisticbias_eval.figures import Interval
from holisticbias_eval.sections.tables import Column, ColumnOf, Paragraph, Table, table_of, without_empty, yes

INTERVAL = "95% interval"


@dataclass(frozen=True, slots=True)
class UnitChart:
    """A chart of values of one unit."""

    name: str
    title: str
    unit: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar with its interval and floor, or another value that the chart marks.

    A ``faint`` bar does not exceed its floor, or is not what ``Bars.test`` says. ``before`` is an earlier value to
    compare with.
    """

    label: str
    value: float | None
    interval: Interval | None = None
    floor: float | None = None
    faint: bool = False
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Bars(UnitChart):
    """Horizontal bars from zero, to both sides if values have both signs.

    Below the scale stands what the values are (``scale``), then what the lines of intervals are (``line``) if a bar has
    one, and what else is drawn (``marks``).
    ``limits`` are the ends of the scale; by default those of the values.
    ``references`` are values marked across all bars. ``mark`` names what bars have as their floor, and ``test`` what
    is not shown of faint bars, in the table of values.
    """

    bars: tuple[Bar, ...]
    scale: str
    limits: tuple[float, float] | None = None
    references: tuple[float, ...] = ()
    mark: str = "floor"
    test: str = ""
    line: str = INTERVAL
    marks: tuple[str, ...] = ()

    def table(self) -> Table:
        """The values of the chart."""
        columns: Sequence[ColumnOf[Bar]] = (
            ColumnOf("label", "Name", lambda bar: bar.label),
            ColumnOf("value", "Value", lambda bar: bar.value, self.unit),
            ColumnOf("shown", self.test, lambda bar: yes(not bar.faint) if self.test else None),
            ColumnOf("interval", INTERVAL, lambda bar: bar.interval, self.unit, interval=True),
            ColumnOf("floor", self.mark.capitalize(), lambda bar: bar.floor, self.unit),
            ColumnOf("before", "Before", lambda bar: bar.before, self.unit),
        )
        return table_of(self.name, self.title, columns, self.bars, drop_empty=True)


@dataclass(frozen=True, slots=True)
class GridChart(UnitChart):
    """Rows of values, one for each of the named columns; values may be missing."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]
    scale: str

    def table(self) -> Table:
        """The values of the chart."""
        columns = (Column("label", "Name"), *(Column(name, name, self.unit) for name in self.columns))
        return Table(self.name, self.title, columns, tuple((label, *values) for label, values in self.rows))


@dataclass(frozen=True, slots=True)
class StackedBars(GridChart):
    """Horizontal bars of parts that add up, named by columns; a part that is missing or not above 0 is not drawn."""


@dataclass(frozen=True, slots=True)
class HeatMap(GridChart):
    """Values by row and column, each shown as a colour; ``limits`` are the ends of the colour scale."""

    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Dots:
    """A row of a dot plot: values in ascending order, and the name of each.

    ``named`` says whether outliers may be named.
    """

    label: str
    values: tuple[float, ...]
    names: tuple[str, ...]
    named: bool = True


@dataclass(frozen=True, slots=True)
class DotPlot(UnitChart):
    """Rows of dots with box and whiskers; outliers are named. ``limits`` let several plots share one scale."""

    rows: tuple[Dots, ...]
    scale: str
    log: bool = False
    limits: tuple[float, float] | None = None

    def table(self) -> Table:
        """Every dot: rows that may not be named have only their values."""
        columns = (Column("label", "Name"), Column("item", "Item"), Column("value", "Value", self.unit))
        rows = tuple(
            (row.label, (name or None) if row.named else None, value)
            for row in self.rows
            for name, value in zip(row.names, row.values, strict=True)
        )
        return without_empty(Table(self.name, self.title, columns, rows))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point with its interval; ``marked`` if it differs from what it is compared with after correction.

    ``beside`` is another value in the same row, such as that of texts written by people.
    """

    label: str
    value: float | None
    interval: Interval | None = None
    marked: bool = False
    group: str = ""
    beside: float | None = None


@dataclass(frozen=True, slots=True)
class Forest(UnitChart):
    """Estimates with intervals, one below the other, beside a reference line: pairwise differences, contrasts.

    ``scale``, ``line`` and ``marks`` are as for ``Bars``.
    ``beside`` names the other value that rows may have, and ``test`` what is shown of marked rows.
    """

    estimates: tuple[Estimate, ...]
    scale: str
    reference: float = 0.0
    beside: str = "beside"
    test: str = "Differs after correction"
    line: str = INTERVAL
    marks: tuple[str, ...] = ()

    def table(self) -> Table:
        """The values of the chart."""
        some = any(estimate.marked for estimate in self.estimates)
        columns: Sequence[ColumnOf[Estimate]] = (
            ColumnOf("label", "Name", lambda estimate: estimate.label),
            ColumnOf("group", "Group", lambda estimate: estimate.group or None),
            ColumnOf("value", "Value", lambda estimate: estimate.value, self.unit),
            ColumnOf("marked", self.test, lambda estimate: yes(estimate.marked) if some else None),
            ColumnOf("interval", INTERVAL, lambda estimate: estimate.interval, self.unit, interval=True),
            ColumnOf("beside", self.beside.capitalize(), lambda estimate: estimate.beside, self.unit),
        )
        return table_of(self.name, self.title, columns, self.estimates, drop_empty=True)


def in_parts(name: str, estimates: Sequence[Estimate], most: int) -> Iterator[tuple[str, tuple[Estimate, ...]]]:
    """Estimates for charts of at most so many rows, each with its name: ``name``, ``name-2`` and so on."""
    for number, start in enumerate(range(0, len(estimates), most), 1):
        yield name if number == 1 else f"{name}-{number}", tuple(estimates[start : start + most])


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """A point of a scatter plot; labelled ones have their label drawn."""

    x: float
    y: float
    label: str
    labelled: bool = False


@dataclass(frozen=True, slots=True)
class Scatter:
    """Two values of each item against each other; ``log_x`` makes the scale of x logarithmic, without values of 0."""

    name: str
    title: str
    x_label: str
    y_label: str
    x_unit: str
    y_unit: str
    points: tuple[ScatterPoint, ...]
    log_x: bool = False

    def table(self) -> Table:
        """The values of the chart."""
        x, y = Column("x", self.x_label, self.x_unit), Column("y", self.y_label, self.y_unit)
        rows = tuple((p.label, p.x, p.y) for p in self.points)
        return Table(self.name, self.title, (Column("label", "Name"), x, y), rows)


Chart = Bars | StackedBars | DotPlot | HeatMap | Forest | Scatter


def has_values(chart: Chart) -> bool:
    """Whether a chart has a number to draw."""
    cells = (cell for row in chart.table().rows for cell in row)
    return any(isinstance(cell, float | int) and math.isfinite(cell) for cell in cells)


Block = Paragraph | Table | Chart


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report. Details are folded on the page and left out in the terminal.

    Without ``in_terminal`` a section is shown everywhere but in the terminal.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    detail: bool = False
    in_terminal: bool = True

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables."""
        return tuple(block for block in self.blocks if isinstance(block, Table))

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Its charts."""
        return tuple(block for block in self.blocks if isinstance(block, Chart))
