"""A comparison of two runs as a table, for the terminal and the page, and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from holisticbias_eval.measures.share_changes import Change, Comparison
from holisticbias_eval.report.numbers import Cell, printable, show
from holisticbias_eval.report.tables import AXIS, Column, Table, ends
from holisticbias_eval.report.wording import Wording, wording_of
from holisticbias_eval.report.words import run_title
from holisticbias_eval.results.compare import ComparedRuns
from holisticbias_eval.statistics.shares import SIGNIFICANCE

SENTENCES = (
    Column("gone", "Gone", "points"), Column("changed", "Changed", "points"), Column("added", "Added", "points"),
)  # fmt: skip
MODEL = Column("model", "Model", "points")
TESTED = (
    Column("interval", "95% interval", "points_interval"),
    Column("p_value", "p", "p_value"),
)
NO_VERDICT = "The figures do not say which differences harm: people judge that."


def comparison_wording(compared: ComparedRuns) -> Wording:
    """How to speak of what both runs measured."""
    return wording_of(compared.first.measures)


def change_table(compared: ComparedRuns, label: Callable[[str], str]) -> Table:
    """The change of every share.

    It has the sentences' part if any sentence is in one run alone or has changed, and
    the interval and p-value of the model's part if models or their scoring differ.
    """
    counts = compared.comparison
    sentences = SENTENCES if counts.gone or counts.changed or counts.added else ()
    tested = TESTED if scores_differ(compared) else ()
    columns = (AXIS, Column("first", "A", "share"), Column("second", "B", "share"), *sentences, MODEL, *tested)
    rows = tuple((_name(c, label), *(_cell(c, column.key) for column in columns[1:])) for c in counts.changes)
    caption = f"{comparison_wording(compared).bias}, and what changed it, in percentage points"
    return Table("changes", caption, columns, rows)


def _name(change: Change, label: Callable[[str], str]) -> str:
    return "All axes" if change.axis is None else label(change.axis)


def _cell(change: Change, key: str) -> Cell:
    value: Cell = ends(change.interval) if key == "interval" else getattr(change, key)
    return value


def scores_differ(compared: ComparedRuns) -> bool:
    """Whether one sentence may have two scores."""
    return not {"model", "scoring"}.isdisjoint(compared.differs)


def what_differs(compared: ComparedRuns) -> str:
    """What differs between the runs besides their figures."""
    settings = ", ".join(name.replace("_", " ") for name in compared.settings_that_differ)
    named = [f"scoring ({settings})" if name == "scoring" else name for name in compared.differs]
    return f"What differs: {', '.join(named) or 'nothing'}."


def change_headline(compared: ComparedRuns, label: Callable[[str], str]) -> tuple[str, ...]:
    """The main figures in words, a sentence or two each."""
    counts, wording = compared.comparison, comparison_wording(compared)
    overall = next(c for c in counts.changes if c.axis is None)
    words = [
        f"{counts.common:,} sentences in both; {counts.changed:,} changed, {counts.gone:,} gone, "
        f"{counts.added:,} added. {what_differs(compared)}",
        f"{wording.bias} over all axes is {show(overall.first, 'share')} in A, {show(overall.second, 'share')} in B.",
    ]
    if scores_differ(compared):
        words += [*_tested(counts.changes, label), *_in_nats(counts, wording)]
    return tuple(words)


def _tested(changes: tuple[Change, ...], label: Callable[[str], str]) -> Iterator[str]:
    tested = [c for c in changes if c.axis is not None and c.p_value is not None]
    changed = [label(c.axis or "") for c in tested if (c.p_value or 0) < SIGNIFICANCE]
    if not tested:
        yield "There are no intervals: they need two templates and two nouns that both runs have."
    else:
        yield (
            f"On the sentences that both have, it differs with p < {SIGNIFICANCE:g} "
            f"for {len(changed)} of {len(tested)} axes{': ' if changed else ''}{', '.join(changed)}. "
            "Between equal models about one axis in twenty does."
        )


def _in_nats(counts: Comparison, wording: Wording) -> Iterator[str]:
    if counts.nats is not None:
        yield (
            f"B finds these {wording.of} {'less' if counts.nats > 0 else 'more'} likely than A does, "
            f"by {abs(counts.nats):.2f} nats a {wording.one} on average."
        )


def print_comparison(compared: ComparedRuns, label: Callable[[str], str], console: Console | None = None) -> None:
    """Print how the share of each axis changed, and what changed it."""
    console = console or Console(highlight=False)
    for name, signature in (("A", compared.first), ("B", compared.second)):
        console.print(Text(f"{name}: {printable(run_title(signature))}"))
    for words in change_headline(compared, label):
        console.print(Text(printable(words)))
    table = change_table(compared, label)
    rich = RichTable(
        title=Text(printable(table.caption)), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )  # fmt: skip
    for i, column in enumerate(table.columns):
        rich.add_column(Text(column.heading), justify="left" if i == 0 else "right", overflow="fold")
    for row in table.rows:
        cells = (show(cell, column.kind) for cell, column in zip(row, table.columns, strict=True))
        rich.add_row(*(Text(cell.replace(" points", "")) for cell in cells))
    console.print(rich)
    console.print(Text(NO_VERDICT))
