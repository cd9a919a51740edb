"""A report in the terminal: the main sections, with the columns that fit."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from holisticbias.terminal import counted
from holisticbias_eval.report.report import LETTERS, Chapter, Report, text_blocks
from holisticbias_eval.sections.blocks import DotPlot, HeatMap, Scatter, Section
from holisticbias_eval.sections.tables import Paragraph, Role, Table
from holisticbias_eval.units import POINTS, SHARES, WORDS, printable, show_rows

STYLES: dict[Role, str] = {"text": "", "finding": "bold", "caveat": "dim", "note": "dim"}
PICTURES = (DotPlot, HeatMap, Scatter)
MOST_ROWS = 30
LEAST_FOLDED, MOST_FOLDED = 12, 24
"""Bounds of the width to which a column of words is folded before columns are left out."""
PADDING, EDGE = 2, 1


def print_report(report: Report, console: Console | None = None) -> None:
    """Print what was measured, and the main sections of every measure."""
    console = console or Console(highlight=False)
    _say(report.title, console, "bold")
    for name, run in zip(LETTERS, report.runs, strict=False):
        _say(f"{name}: {run}", console)
    for words in report.measured:
        _say(words, console)
    for words in report.notes:
        _say(words, console, "yellow")
    for chapter in report.chapters:
        if len(report.chapters) > 1:
            console.print()
            _say(chapter.info.title, console, "bold underline")
        main = _main_sections(chapter)
        known = [table for section in main for table in section.tables]
        for section in main:
            print_section(section, console, known)
        left = [table.caption for section in chapter.sections for table in section.tables] if not main else []
        if left:
            _say(f"Not shown: {'; '.join(left)}.", console, "dim")


def _main_sections(chapter: Chapter) -> list[Section]:
    """The sections to print: if others remain, without those whose only figures are charts of many values per row."""
    main = [section for section in chapter.sections if section.in_terminal and not section.detail]
    brief = [s for s in main if s.tables or not s.charts or not all(isinstance(c, PICTURES) for c in s.charts)]
    return brief or main


def print_section(section: Section, console: Console, known: Sequence[Table] = ()) -> None:
    """Print a section: paragraphs, and tables as far as they fit; charts with the values of ``known`` are left out."""
    for block in text_blocks(section, known):
        if isinstance(block, Paragraph):
            _say(block.text, console, STYLES[block.role])
        else:
            _print_table(block, console)


def _say(text: str, console: Console, style: str = "") -> None:
    console.print(Text(printable(text), style=style))


def _print_table(table: Table, console: Console) -> None:
    console.print()
    if table.rows:
        rows = islice(show_rows(table), MOST_ROWS)
        in_points = [column.unit in SHARES for column in table.columns]
        cells = [[c.removesuffix(POINTS) if pts else c for c, pts in zip(row, in_points, strict=True)] for row in rows]
        # a heading has the unit that its cells leave out
        columns = (replace(c, heading=f"{c.heading} (points)") if c.unit in SHARES else c for c in table.columns)
        table = replace(table, columns=tuple(columns))
        widths = _widths(table, cells, console.width)
        console.print(_rich_table(table, cells, widths))
        _say(_left_out(table, widths), console, "dim")
    if table.note:
        _say(table.note, console)


def _widths(table: Table, cells: list[list[str]], width: int) -> dict[int, int]:
    """The widths by column of those from the left that fit the terminal, at least two; numbers are never folded.

    The numbers of items stay, wherever they are.
    """
    least, most = dict[int, int](), dict[int, int]()
    for i, column in enumerate(table.columns):
        words = [cell_len(word) for word in printable(column.heading).split()]
        widest = max(cell_len(row[i]) for row in cells)
        least[i] = max((*words, _folded([row[i] for row in cells]) if column.unit in WORDS else widest, 1))
        most[i] = max(sum(words) + len(words) - 1, widest, 1)
    room = width - EDGE
    others = [i for i in least if i > 1 and not table.columns[i].base]
    while others and sum(least.values()) + PADDING * len(least) > room:
        del least[others.pop()]
    spare = room - sum(least.values()) - PADDING * len(least)
    for i, own in least.items():
        more = max(0, min(spare, most[i] - own))
        least[i] += more
        spare -= more
    return least


def _folded(cells: list[str]) -> int:
    """The least width of a column of words: that of its longest word, within bounds."""
    longest = max((cell_len(word) for cell in cells for word in cell.split()), default=0)
    return min(max(map(cell_len, cells)), MOST_FOLDED, max(longest, LEAST_FOLDED))


def _left_out(table: Table, shown: Collection[int]) -> str:
    """A sentence on the rows and columns for which the terminal has no room."""
    said = []
    if rows := max(0, len(table.rows) - MOST_ROWS):
        said.append(counted(rows, "more rows"))
    if columns := [column for i, column in enumerate(table.columns) if i not in shown]:
        headings = (f"“{c.heading}”" if "," in c.heading else c.heading for c in columns)
        said.append(f"columns {', '.join(headings)}")
    return f"Not shown: {'; '.join(said)}." if said else ""


def _rich_table(table: Table, cells: list[list[str]], widths: Mapping[int, int]) -> RichTable:
    rich = RichTable(
        title=Text(printable(table.caption)), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )  # fmt: skip
    for i, width in widths.items():
        column = table.columns[i]
        heading = Text(printable(column.heading))
        rich.add_column(heading, justify="left" if column.unit in WORDS else "right", overflow="fold", width=width)
    for row in cells:
        rich.add_row(*(Text(row[i]) for i in widths))
    return rich
