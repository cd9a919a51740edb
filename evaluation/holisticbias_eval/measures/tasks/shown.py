"""Sections of scores of tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holisticbias_eval.blocks import Column, Paragraph, Table, ends, without_empty
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import CHANGE_NAMES
from holisticbias_eval.sections import Section


def score_section(info: Info, found: Sequence[tuple[str, Figure]], unit: str, said: str) -> Section:
    """Show scores by name, with their intervals."""
    columns = (
        Column("score", "Score"),
        Column("value", "Value", unit),
        Column("interval", "95% interval", unit, interval=True),
        Column("n", "Items", "count", base=True),
    )
    rows = tuple((label, figure.value, ends(figure.interval), figure.n or None) for label, figure in found)
    table = without_empty(Table(info.name, info.title, columns, rows))
    return Section(info.name, info.title, (Paragraph(said, "finding"), table))


def change_table(info: Info, changes: Figures, labels: Mapping[tuple[str, ...], str], unit: str, note: str) -> Section:
    """Show the change of scores; ``labels`` has the name of each by the values of its keys."""
    columns = (
        Column("score", "Score"),
        *(Column(name, CHANGE_NAMES[name], unit) for name in ("first", "second")),
        Column("change", CHANGE_NAMES["change"], f"{unit} difference"),
        Column("interval", "95% interval", f"{unit} difference", interval=True),
        Column("p", "p", "p_value"),
        Column("n", "Items", "count", base=True),
    )
    rows = []
    for figure in changes:
        key = tuple(figure.keys.values())
        if figure.measure == info.name and figure.name == "change" and key in labels:
            both = (changes.value(info.name, name, figure.keys) for name in ("first", "second"))
            rows.append((labels[key], *both, figure.value, ends(figure.interval), figure.p_value, figure.n or None))
    table = without_empty(Table(f"{info.name}-changes", f"{info.title} of A and B", columns, tuple(rows)))
    return Section(f"{info.name}-changes", info.title, (table, Paragraph(note, "note")))
