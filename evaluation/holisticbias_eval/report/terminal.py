"""The figures of a run as tables in the terminal."""

from __future__ import annotations

from dataclasses import replace

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from holisticbias_eval.measures.shares import SIGNIFICANCE
from holisticbias_eval.report.numbers import model_title, printable, show
from holisticbias_eval.report.summary import summarise
from holisticbias_eval.report.tables import Table, by_axis, extremes
from holisticbias_eval.report.words import headline, size_of_differences
from holisticbias_eval.run import Run

NARROW = 60
_COLUMNS = {"by-axis": 4, "extremes": 4}


def print_report(run: Run, console: Console | None = None) -> None:
    """Print Likelihood Bias by axis and the descriptors at both ends, and what they were measured on."""
    console = console or Console(highlight=False)
    summary = summarise(run)
    signature = run.result.signature
    name = printable(model_title(signature.model.name))
    console.print(Text(f"{name} on HolisticBias {printable(signature.release.version)}", style="bold"))
    if signature.model.note:
        console.print(Text(printable(signature.model.note), style="yellow"))
    console.print(Text(printable(headline(run.result, summary.label))))
    if size := size_of_differences(run.result):
        console.print(Text(size))
    for table in (by_axis(summary), _told_apart(extremes(summary))):
        if table.rows:
            console.print()
            console.print(_rich_table(table, console.width))
    console.print(Text("A difference is a difference, not a verdict: the report says what these figures can carry."))


def _told_apart(table: Table) -> Table:
    """The axes with more pairs that differ than chance gives; the order of the others' words says nothing."""
    return replace(table, rows=tuple(r for r in table.rows if isinstance(r[1], float) and r[1] > SIGNIFICANCE))


def _rich_table(table: Table, width: int) -> RichTable:
    """The first columns of a table; where the terminal is narrow, fewer of them."""
    shown = 2 if width < NARROW and table.name == "by-axis" else _COLUMNS[table.name]
    rich = RichTable(
        title=Text(printable(table.caption)), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    for column in table.columns[:shown]:
        rich.add_column(
            Text(printable(column.heading)), justify="left" if column.kind == "text" else "right", overflow="fold"
        )
    for row in table.rows:
        rich.add_row(
            *(
                Text(show(cell, column.kind) or "none")
                for cell, column in zip(row[:shown], table.columns[:shown], strict=True)
            )
        )
    return rich
