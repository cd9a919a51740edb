"""Paragraphs, and tables with typed columns."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from holisticbias_eval.figures import Interval

Cell = str | int | float | tuple[float, float] | None
NUMBER = "number"
MIXED = (NUMBER, f"{NUMBER} difference")
"""Units of columns for which each row can name another unit."""
Role = Literal["text", "finding", "caveat", "note"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in files, its heading, and the unit of its values.

    Units are those of figures (``share``, ``nats per sentence``, ``share difference`` ...), ``text`` for words, and
    ``preference`` for the key of a community preference, which is shown by its name.
    Cells of an interval column are pairs: ``unit`` then applies to both ends. A ``base`` column has the number of items
    that the values of a row are of: no renderer leaves it out.
    """

    key: str
    heading: str
    unit: str = "text"
    interval: bool = False
    base: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph: a finding is shown large, a caveat and a note less prominently than text."""

    text: str
    role: Role = "text"


@dataclass(frozen=True, slots=True)
class Marked:
    """A line of text with marked places: ``parts`` alternate between text that is not marked and text that is."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A named table; missing values are ``None``. The first column names the row.

    ``note`` says which rows are left out, and why. ``details`` has some lines
    for each row, shown on demand; it is empty or as long as ``rows``. A long table
    can be searched; ``search`` says that a short one can be, too. ``units`` has the
    unit of each row's values if rows differ: it takes the place of ``number`` in
    the units of columns.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    details: tuple[tuple[str | Marked, ...], ...] = ()
    search: bool = False
    units: tuple[str, ...] = ()

    def units_of(self, row: int) -> list[str]:
        """The unit of each cell of a row."""
        units = [column.unit for column in self.columns]
        if not self.units:
            return units
        return [self.units[row] + unit.removeprefix(NUMBER) if unit in MIXED else unit for unit in units]


Row = TypeVar("Row")


@dataclass(frozen=True)
class ColumnOf(Generic[Row]):
    """A column, and the cell that a row has in it; an interval becomes its ends."""

    key: str
    heading: str
    cell: Callable[[Row], Cell | Interval]
    unit: str = "text"
    interval: bool = False
    base: bool = False

    @property
    def column(self) -> Column:
        """The column without its cells."""
        return Column(self.key, self.heading, self.unit, self.interval, self.base)

    def of(self, row: Row) -> Cell:
        """The cell of a row."""
        cell = self.cell(row)
        return ends(cell) if isinstance(cell, Interval) else cell


def table_of(
    name: str,
    caption: str,
    columns: Sequence[ColumnOf[Row]],
    rows: Iterable[Row],
    note: str = "",
    *,
    details: Callable[[Row], tuple[str | Marked, ...]] | None = None,
    search: bool = False,
    drop_empty: bool = False,
    unit: Callable[[Row], str] | None = None,
) -> Table:
    """A table of rows by the columns' declarations; ``drop_empty`` leaves out columns without any value.

    ``details`` gives the lines of a row that are shown on demand, ``unit`` the unit of its numbers if rows differ.
    """
    listed = tuple(rows)
    cells = tuple(tuple(column.of(row) for column in columns) for row in listed)
    lines = tuple(map(details, listed)) if details else ()
    units = tuple(map(unit, listed)) if unit else ()
    table = Table(name, caption, tuple(column.column for column in columns), cells, note, lines, search, units)
    return without_empty(table) if drop_empty else table


def ends(interval: Interval | None) -> tuple[float, float] | None:
    """The ends of an interval, as a cell."""
    return (interval.low, interval.high) if interval else None


def yes(shown: bool | None) -> str | None:
    """The answer of a test as a cell."""
    return None if shown is None else "yes" if shown else "no"


def without_empty(table: Table, keys: Collection[str] = ()) -> Table:
    """The table without columns in which every value is missing, of all or of these; the first column stays."""
    asked = [i > 0 and (not keys or column.key in keys) for i, column in enumerate(table.columns)]
    kept = [i for i, of in enumerate(asked) if not of or any(row[i] is not None for row in table.rows)]
    rows = tuple(tuple(row[i] for i in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[i] for i in kept), rows=rows)
