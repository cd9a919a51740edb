"""A report as data: its frame, the sections that each measure gives, and their blocks for readers of text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import UnionType

from holisticbias_eval.measures.info import Info
from holisticbias_eval.report.drawings.dots import spread
from holisticbias_eval.sections.blocks import Bars, Chart, DotPlot, Forest, Scatter, Section, StackedBars
from holisticbias_eval.sections.tables import Column, Paragraph, Table

SCOPE = (
    (
        "A difference has several possible causes.",
        "A sentence may be less likely because a word is rare, long or new to the model, or because the model has "
        "learnt a prejudice. The figures show where a model treats people's words differently; people judge which "
        "differences harm.",
    ),
    (
        "A significant difference may be small.",
        "A test says that a difference is more than chance; effect sizes say how large it is. Tests that pair the same "
        "nouns call differences significant that nobody would notice.",
    ),
    (
        "The terms are American English.",
        "They are gathered with people who use them, and never complete. No result here applies to another language "
        "or place.",
    ),
    (
        "Communities decide what they prefer to be called.",
        "A community preference adds up judgements that have a named source and a date. It can be wrong, people of one "
        "community differ, and it is revised. Some words are out of date or hurt; they are measured because people "
        "still write them and models learn from that.",
    ),
)
"""Scope and limits of every figure: a lead, and what follows it."""


@dataclass(frozen=True)
class Chapter:
    """The sections of a measure, or how to make them: they are made when they are asked for."""

    info: Info
    made: tuple[Section, ...] | Callable[[], tuple[Section, ...]]

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The sections, in order."""
        return self.made() if callable(self.made) else self.made


@dataclass(frozen=True, slots=True)
class Report:
    """A report of a run, or of several in comparison, which ``runs`` then names: A, B and so on.

    ``measured`` says what was measured, a sentence each, and ``notes`` what must
    be read before the figures. ``signature`` has a row for each property: its
    name, and its value in each run. ``classifiers`` has the title of each
    classifier and what is known about it. ``scope`` is shown if the report has one.
    """

    title: str
    chapters: tuple[Chapter, ...]
    signature: tuple[tuple[str, ...], ...] = ()
    measured: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    classifiers: tuple[tuple[str, str], ...] = ()
    scope: tuple[tuple[str, str], ...] = SCOPE

    @property
    def preferences(self) -> bool:
        """Whether a table shows community preferences, so that the report has to explain them."""
        tables = (table for chapter in self.chapters for section in chapter.sections for table in section.tables)
        return any(column.unit == "preference" for table in tables for column in table.columns)

    def __repr__(self) -> str:
        """One line: the title."""
        return f"<Report: {self.title}>"


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The letters that stand for the runs of a comparison."""

Part = Section | Table | Chart
Kinds = tuple[type | UnionType, ...]


def said_by(lines: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names of those who say a line, by line; pairs are a name and a line."""
    names: dict[str, list[str]] = {}
    for name, line in lines:
        names.setdefault(line, []).append(name)
    return names


def tables(report: Report) -> Iterator[tuple[str, Table | Chart]]:
    """Everything that can be written as CSV, with its name: tables, then charts with other names."""
    return ((name, part) for name, part in _named(report, (Table, Chart)) if not isinstance(part, Section))


def drawables(report: Report) -> Iterator[tuple[str, Part]]:
    """Everything that can be drawn, with its name: charts, then tables and sections with other names."""
    return _named(report, (Chart, Table, Section))


def _named(report: Report, kinds: Kinds) -> Iterator[tuple[str, Part]]:
    """The parts of these kinds; a name that an earlier measure uses is preceded by the measure's."""
    used: set[str] = set()
    for chapter in report.chapters:
        own: dict[str, Part] = {}
        for kind in kinds:
            for part in _parts(chapter):
                if isinstance(part, kind):
                    own.setdefault(part.name, part)
        for name, part in own.items():
            yield f"{chapter.info.name}.{name}" if name in used else name, part
        used.update(own)


def _parts(chapter: Chapter) -> Iterator[Part]:
    for section in chapter.sections:
        if section.blocks:
            yield section
        yield from (block for block in section.blocks if not isinstance(block, Paragraph))


def text_blocks(section: Section, known: Sequence[Table]) -> Iterator[Paragraph | Table]:
    """The blocks of a section, each chart as a table unless one of the ``known`` tables has all its values."""
    for block in section.blocks:
        if isinstance(block, (Paragraph, Table)):
            yield block
        elif not any(_covers(table, block) for table in known):
            yield chart_table(block)


def chart_table(chart: Chart) -> Table:
    """The values of a chart; for a dot plot the ends and the median of each row."""
    return _spreads(chart) if isinstance(chart, DotPlot) else chart.table()


def _covers(table: Table, chart: Chart) -> bool:
    """Whether a table has a row for each bar, estimate or point of a chart, with its value and its mark."""
    if isinstance(chart, Forest) and any(e.marked for e in chart.estimates):
        return False
    rows = {row[0]: row for row in table.rows}
    match chart:
        case Bars(bars=values) | Forest(estimates=values):
            return all(v.label in rows and v.value in rows[v.label] for v in values)
        case StackedBars():
            return all(label in rows and {*values} <= set(rows[label]) for label, values in chart.rows)
        case Scatter():
            return all(p.label in rows and {p.x, p.y} <= set(rows[p.label]) for p in chart.points)
        case _:
            return False


def _spreads(chart: DotPlot) -> Table:
    columns = (
        Column("label", "Name"),
        Column("values", "Values", "count"),
        Column("lowest", "Lowest", chart.unit),
        Column("median", "Median", chart.unit),
        Column("highest", "Highest", chart.unit),
    )
    rows = []
    for row in chart.rows:
        found = spread(row, log=chart.log)
        ends = (found.values[0], found.box[1], found.values[-1]) if found else (None, None, None)
        rows.append((row.label, len(row.values), *ends))
    return Table(chart.name, chart.title, columns, tuple(rows))
