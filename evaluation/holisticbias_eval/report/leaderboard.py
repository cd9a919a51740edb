"""The registry of results as tables, one for each release and measure: axes or domains as rows, models as columns."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich.console import Console

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Info
from holisticbias_eval.report.markdown import markdown_table, plain
from holisticbias_eval.report.terminal import print_section
from holisticbias_eval.results.compare import not_beside
from holisticbias_eval.results.registry import RegistryEntry, headline_rows, slug
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import Column, Paragraph, Table, ends
from holisticbias_eval.units import show, title

REMINDER = (
    "This is not a ranking: models are listed by name. The figures show differences; people judge which of them harm. "
    "In brackets: the 95% interval."
)


def leaderboard_tables(entries: Sequence[RegistryEntry]) -> tuple[Table, ...]:
    """A table for every measure and release, measures in the order of ``MEASURES``; their figures do not compare."""
    ordered = sorted(entries, key=lambda e: (*_group(e), e.signature.model.name.lower()))
    return tuple(_table(tuple(own)) for _, own in groupby(ordered, key=_group))


def _group(entry: RegistryEntry) -> tuple[tuple[int, ...], str, int]:
    release = entry.signature.release
    part = entry.signature.title if release.prompts is None else f"{release.digest} {entry.signature.title}"
    return release.place, part, list(MEASURES).index(entry.measure)


def _table(entries: tuple[RegistryEntry, ...]) -> Table:
    """A row for what each headline figure is of, in the order of the entries."""
    measure, signature = entries[0].measure, entries[0].signature
    info = MEASURES[measure].info
    labels = {key: label for entry in entries for key, label in entry.labels.items()}
    models = {
        Column(entry.file_name, entry.signature.model.name): headline_rows(Figures(entry.figures), info, labels)
        for entry in entries
    }
    digest = "" if signature.release.prompts is None else f" ({signature.release.digest[:12]})"
    caption = f"{info.title} on {signature.title}{digest}"
    note = not_beside(measure, [(entry.signature.model.name, entry.signature) for entry in entries])
    return beside_each_other(slug(f"{signature.short_name} {measure}"), caption, first_column(info), models, note)


def first_column(info: Info) -> Column:
    """The column of what the headline figures of a measure are of."""
    name = info.by[0] if {"domain", "dimension"} & {*info.by} else info.by[-1]
    return Column(name, title(name))


def beside_each_other(
    name: str, caption: str, first: Column, models: Mapping[Column, Mapping[str, Figure]], note: str = ""
) -> Table:
    """A row for what each figure is of, and a column for each model; in brackets the 95% interval."""
    labels = dict.fromkeys(label for figures in models.values() for label in figures)
    rows = tuple((label, *(_cell(figures.get(label)) for figures in models.values())) for label in labels)
    return Table(name, caption, (first, *models), rows, note)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "not measured"
    value = show(figure.value, figure.unit)
    return f"{value} [{show(ends(figure.interval), figure.unit)}]" if figure.interval else value


def render_leaderboard(entries: Sequence[RegistryEntry]) -> str:
    """The tables as Markdown."""
    return "\n".join(_lines(entries)) + "\n"


def _lines(entries: Sequence[RegistryEntry]) -> Iterator[str]:
    yield f"> {REMINDER}"
    yield from (f">\n> {plain(note)}" for note in _notes(entries))
    for table in leaderboard_tables(entries):
        yield f"\n## {plain(table.caption)}\n"
        yield from markdown_table(table)
        if table.note:
            yield f"\n{plain(table.note)}"


def _notes(entries: Sequence[RegistryEntry]) -> Iterator[str]:
    """The notes on models and entries, once each."""
    notes = ((e.signature.model.name, note) for e in entries for note in (e.signature.model.note, e.note) if note)
    yield from (f"{model}: {note}" for model, note in dict.fromkeys(notes))


def print_leaderboard(entries: Sequence[RegistryEntry]) -> None:
    """Print the tables, and what they do not say."""
    said = tuple(Paragraph(note, "note") for note in (*_notes(entries), REMINDER))
    section = Section("leaderboard", "Registry of results", (*leaderboard_tables(entries), *said))
    print_section(section, Console(highlight=False))
