"""The registry of results as tables: a row an axis, a column a model, one table a release and measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from holisticbias_eval.measures import MEASURES
from holisticbias_eval.report.markdown import markdown_table, plain
from holisticbias_eval.report.numbers import printable, show
from holisticbias_eval.report.tables import Column, Table, ends
from holisticbias_eval.results.registry import AxisFigure, Entry

REMINDER = (
    "These figures are no verdicts and this is no ranking: models stand in the order of their names. A share says how "
    "often a model treats the words of an axis differently, and people judge which differences harm. In brackets: the "
    "95% interval."
)


def leaderboard_tables(entries: Sequence[Entry]) -> tuple[Table, ...]:
    """A table for every release and measure; figures of different ones are not comparable."""
    ordered = sorted(entries, key=lambda e: (*_group(e), e.signature.model.name.lower()))
    return tuple(_table(*group, tuple(own)) for group, own in groupby(ordered, key=_group))


def _group(entry: Entry) -> tuple[str, str, str]:
    release = entry.signature.release
    return release.version, release.subset or "", entry.measure


def _table(version: str, subset: str, measure: str, entries: tuple[Entry, ...]) -> Table:
    title = MEASURES[measure].title if measure in MEASURES else measure
    labels = {figure.axis: figure.label for entry in entries for figure in entry.by_axis}
    by_axis = [{figure.axis: figure for figure in entry.by_axis} for entry in entries]
    rows = [(label, *(_cell(found.get(axis)) for found in by_axis)) for axis, label in labels.items()]
    columns = (Column("axis", "Axis"), *(Column(e.file_name, e.signature.model.name) for e in entries))
    caption = f"{title} on HolisticBias {version}{f', subset {subset}' if subset else ''}"
    return Table(f"{version}-{subset}-{measure}", caption, columns, tuple(rows))


def _cell(figure: AxisFigure | None) -> str:
    if figure is None:
        return "not measured"
    share = show(figure.share, "share")
    return share if figure.interval is None else f"{share} [{show(ends(figure.interval), 'interval')}]"


def render_leaderboard(entries: Sequence[Entry]) -> str:
    """The tables as Markdown."""
    return "\n".join(_lines(entries)) + "\n"


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    yield f"> {REMINDER}"
    yield from (f">\n> {plain(note)}" for note in _notes(entries))
    for table in leaderboard_tables(entries):
        yield f"\n## {plain(table.caption)}\n"
        yield from markdown_table(table)


def _notes(entries: Sequence[Entry]) -> Iterator[str]:
    """What has to be read beside a model's figures, once each."""
    notes = ((e.signature.model.name, note) for e in entries for note in (e.signature.model.note, e.note) if note)
    yield from (f"{model}: {note}" for model, note in dict.fromkeys(notes))


def print_leaderboard(entries: Sequence[Entry], console: Console | None = None) -> None:
    """Print the tables, and what they do not say."""
    console = console or Console(highlight=False)
    for table in leaderboard_tables(entries):
        shown = RichTable(title=Text(printable(table.caption)), title_justify="left")
        for column in table.columns:
            shown.add_column(Text(printable(column.heading)), overflow="fold")
        for row in table.rows:
            shown.add_row(*(Text(show(cell, "text")) for cell in row))
        console.print(shown)
    for note in (*_notes(entries), REMINDER):
        console.print(Text(printable(note)))
