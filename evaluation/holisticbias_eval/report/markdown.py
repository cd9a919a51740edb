"""The report as Markdown: what was measured, scope and limits, and every table."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holisticbias_eval.report.contents import report_tables
from holisticbias_eval.report.finding import baseline, caveats, finding, pooled
from holisticbias_eval.report.numbers import printable, show
from holisticbias_eval.report.summary import Summary
from holisticbias_eval.report.tables import Table
from holisticbias_eval.report.words import (
    CAVEATS,
    PREFERENCES,
    measured,
    run_title,
    signature_rows,
    size_of_differences,
)

BESIDE = {
    "by-axis": ("verdict", "language"), "effects": ("size",), "tests": ("tests",), "descriptors": ("preferences",),
}  # fmt: skip
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|#&~!]")


def render_markdown(summary: Summary) -> str:
    """The whole report, with tables as GitHub reads them; texts of the run are escaped."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: Summary) -> Iterator[str]:
    signature = summary.result.signature
    yield f"# {plain(run_title(signature))}"
    yield f"\n{plain(measured(signature))}"
    yield f"\n**{plain(' '.join(finding(summary)))}**"
    yield from (f"\n{plain(words)}" for words in (baseline(summary), signature.model.note) if words)
    for name, table in report_tables(summary).items():
        yield f"\n## {plain(table.caption)}\n"
        if table.rows:
            yield from markdown_table(table)
        if table.left_out:
            yield f"\n{plain(table.left_out)}"
        yield from (f"\n{plain(words)}" for words in _beside(summary, name))
    yield "\n## What the community preferences mean\n"
    yield from (f"- **{name}** (`{key}`): {plain(meaning)}" for key, (name, meaning) in PREFERENCES.items())
    yield "\n## Signature\n"
    yield from (f"- {plain(name)}: {plain(value)}" for name, value in signature_rows(signature))


def _beside(summary: Summary, table: str) -> Iterator[str]:
    """What must be read beside a table."""
    if table == "by-axis":
        yield from caveats(summary)
    for caveat in BESIDE.get(table, ()):
        yield " ".join(CAVEATS[caveat])
    further = {"by-axis": pooled(summary), "effects": size_of_differences(summary.result)}
    if words := further.get(table):
        yield words


def markdown_table(table: Table) -> Iterator[str]:
    """A table, line by line."""
    yield _row(column.heading for column in table.columns)
    yield "|" + "|".join(" --- " if column.kind == "text" else " ---: " for column in table.columns) + "|"
    for row in table.rows:
        yield _row(show(cell, column.kind) for cell, column in zip(row, table.columns, strict=True))


def _row(cells: Iterator[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text))
