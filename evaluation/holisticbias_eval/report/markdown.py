"""A report as Markdown, with tables as GitHub reads them."""

import re
from collections.abc import Iterable, Iterator, Sequence

from holisticbias_eval.report.report import LETTERS, Chapter, Report, text_blocks
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import Paragraph, Table
from holisticbias_eval.units import PREFERENCES, WORDS, printable, show_rows

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|#&~!]")


def render_markdown(report: Report) -> str:
    """The whole report, details included. All text is escaped."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {plain(report.title)}"
    if report.runs:
        yield ""
        yield from (f"- {name}: {plain(run)}" for name, run in zip(LETTERS, report.runs, strict=False))
    yield from (f"\n{plain(words)}" for words in report.measured)
    yield from (f"\n> {plain(words)}" for words in report.notes)
    for chapter in report.chapters:
        yield from _chapter(chapter)
    if report.scope:
        yield "\n## Scope and limits\n"
        yield from (f"- **{plain(lead)}** {plain(words)}" for lead, words in report.scope)
    if report.classifiers:
        yield "\n## Classifiers\n"
        yield from (f"- **{plain(name)}** {plain(about)}" for name, about in report.classifiers)
    if report.preferences:
        yield "\n## What the community preferences mean\n"
        yield from (f"- **{name}** (`{key}`): {plain(meaning)}" for key, (name, meaning) in PREFERENCES.items())
    if report.signature:
        yield "\n## Signature\n"
        yield from _signature(report)


def _chapter(chapter: Chapter) -> Iterator[str]:
    yield f"\n## {plain(chapter.info.title)}"
    known = [table for section in chapter.sections for table in section.tables]
    for section in chapter.sections:
        yield f"\n### {plain(section.title)}"
        yield from markdown_section(section, known)


def markdown_section(section: Section, known: Sequence[Table] = ()) -> Iterator[str]:
    """The blocks of a section, line by line; charts with the values of ``known`` are left out."""
    for block in text_blocks(section, known):
        yield ""
        if isinstance(block, Paragraph):
            yield f"**{plain(block.text)}**" if block.role == "finding" else plain(block.text)
        else:
            yield f"**{plain(block.caption)}**"
            if block.rows:
                yield ""
                yield from markdown_table(block)
            if block.note:
                yield f"\n{plain(block.note)}"


def markdown_table(table: Table) -> Iterator[str]:
    """A table, line by line."""
    yield _row(column.heading for column in table.columns)
    yield "|" + "|".join(" --- " if column.unit in WORDS else " ---: " for column in table.columns) + "|"
    yield from map(_row, show_rows(table))


def _signature(report: Report) -> Iterator[str]:
    if not report.runs:
        yield from (f"- {plain(name)}: {plain('; '.join(values))}" for name, *values in report.signature)
        return
    yield _row(("Property", *LETTERS[: len(report.runs)]))
    yield "|" + " --- |" * (1 + len(report.runs))
    yield from (_row(row) for row in report.signature)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"


def plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text))
