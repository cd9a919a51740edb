"""The registry of results as tables, one for each release and measure: axes or domains as rows, models as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console

from holisticbias_eval.blocks import Column, Paragraph, Table, ends
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import title
from holisticbias_eval.report.markdown import markdown_table, plain
from holisticbias_eval.report.terminal import print_section
from holisticbias_eval.report.units import show
from holisticbias_eval.results.entry import Entry, slug
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.sections import Section

REMINDER = (
    "This is not a ranking: models are listed by name. The figures show differences; people judge which of them harm. "
    "In brackets: the 95% interval."
)


def leaderboard_tables(entries: Sequence[Entry]) -> tuple[Table, ...]:
    """A table for every measure and release, measures in the order of ``MEASURES``; their figures do not compare."""
    ordered = sorted(entries, key=lambda e: (*_group(e), e.signature.model.name.lower()))
    return tuple(_table(tuple(own)) for _, own in groupby(ordered, key=_group))


def _group(entry: Entry) -> tuple[str, str, int]:
    release = entry.signature.release
    part = entry.signature.title if release.prompts is None else f"{release.digest} {entry.signature.title}"
    return release.version, part, [*MEASURES, entry.measure].index(entry.measure)


def _table(entries: tuple[Entry, ...]) -> Table:
    """A row for what each headline figure is of, in the order of the entries."""
    measure, signature = entries[0].measure, entries[0].signature
    info = MEASURES[measure].info if measure in MEASURES else None
    labels = {key: label for entry in entries for key, label in entry.labels.items()}
    headlines = [
        {tuple(f.keys.values()): f for f in entry.figures if info is None or f.name == info.headline}
        for entry in entries
    ]
    keys = dict.fromkeys(key for found in headlines for key in found)
    rows = [
        (", ".join(labels.get(part, title(part)) for part in key), *(_cell(found.get(key)) for found in headlines))
        for key in keys
    ]
    by = "axis" if info is None else info.by[0] if {"domain", "dimension"} & {*info.by} else info.by[-1]
    columns = (Column(by, title(by)), *(Column(e.file_name, e.signature.model.name) for e in entries))
    caption = f"{info.title if info else measure} on {_on(signature)}"
    return Table(slug(f"{signature.short_name} {measure}"), caption, columns, tuple(rows))


def _on(signature: Signature) -> str:
    if signature.release.prompts is not None:
        return f"{signature.title} ({signature.release.digest[:12]})"
    return signature.title


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "not measured"
    value = show(figure.value, figure.unit)
    return f"{value} [{show(ends(figure.interval), figure.unit)}]" if figure.interval else value


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
    """The notes on models and entries, once each."""
    notes = ((e.signature.model.name, note) for e in entries for note in (e.signature.model.note, e.note) if note)
    yield from (f"{model}: {note}" for model, note in dict.fromkeys(notes))


def print_leaderboard(entries: Sequence[Entry], console: Console | None = None) -> None:
    """Print the tables, and what they do not say."""
    said = tuple(Paragraph(note, "note") for note in (*_notes(entries), REMINDER))
    section = Section("leaderboard", "Registry of results", (*leaderboard_tables(entries), *said))
    print_section(section, console or Console(highlight=False))
