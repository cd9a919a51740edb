"""A comparison of two runs as a table in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from holisticbias_eval.compare import ComparedRuns
from holisticbias_eval.measures.comparison import Change
from holisticbias_eval.report.numbers import model_title, printable

COLUMNS = ("A", "B", "gone", "changed", "added", "model", "95 % interval", "p")


def print_comparison(compared: ComparedRuns, labels: Mapping[str, str]) -> None:
    """Print how the share of each axis changed, and what changed it; ``labels`` are the releases' names of axes."""
    console = Console(highlight=False)
    for name, signature in (("A", compared.first), ("B", compared.second)):
        model = printable(model_title(signature.model.name))
        console.print(Text(f"{name}: {model} on HolisticBias {printable(signature.release.version)}"))
    counts = compared.comparison
    console.print(
        f"{counts.common:,} sentences in both; {counts.changed:,} changed, {counts.gone:,} gone, "
        f"{counts.added:,} added. What differs: {compared.differs}."
    )
    table = Table(title="Likelihood Bias, and what changed it (percentage points)")
    table.add_column("axis")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for change in counts.changes:
        axis = change.axis or "all"
        table.add_row(printable(labels.get(axis, axis)), *_row(change))
    console.print(table)
    console.print("A change is a change, not a verdict: which differences harm is for people to judge.")


def _row(change: Change) -> tuple[str, ...]:
    return (
        _percent(change.first),
        _percent(change.second),
        *(_points(v) for v in (change.gone, change.changed, change.added, change.model)),
        f"{change.interval.low * 100:+.1f} to {change.interval.high * 100:+.1f}" if change.interval else "not known",
        "not known" if change.p_value is None else f"{change.p_value:.3f}",
    )


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{share:.1%}"


def _points(difference: float | None) -> str:
    return "not known" if difference is None else f"{difference * 100:+.1f}"
