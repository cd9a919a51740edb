"""The figures of a run as tables in the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from holisticbias_eval.report.finding import baseline, caveats, finding, pooled
from holisticbias_eval.report.numbers import printable, show
from holisticbias_eval.report.summary import summarise
from holisticbias_eval.report.tables import Table, by_axis, extremes
from holisticbias_eval.report.words import CAVEATS, measured, run_title, size_of_differences
from holisticbias_eval.results.run import Run

NARROW = 60
_COLUMNS = {"by-axis": 4, "extremes": 5}


def print_report(run: Run, console: Console | None = None) -> None:
    """Print Likelihood Bias by axis and the descriptors at both ends, and what they were measured on."""
    console = console or Console(highlight=False)
    summary = summarise(run)
    signature = run.result.signature

    def say(*words: str | None, style: str = "") -> None:
        for text in filter(None, words):
            console.print(Text(printable(text), style=style))

    say(run_title(signature), style="bold")
    say(measured(signature))
    say(" ".join(finding(summary)), style="bold")
    say(baseline(summary))
    say(signature.model.note, style="yellow")
    _show(by_axis(summary), console)
    say(*caveats(summary), " ".join(CAVEATS["verdict"]), pooled(summary), size_of_differences(run.result))
    _show(extremes(summary), console)


def _show(table: Table, console: Console) -> None:
    console.print()
    if table.rows:
        console.print(_rich_table(table, console.width))
    if table.left_out:
        console.print(Text(printable(table.left_out)))


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
