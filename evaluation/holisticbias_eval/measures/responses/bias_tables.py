"""Tables of generation bias, in one run and in two."""

from __future__ import annotations

from collections.abc import Sequence

from holisticbias_eval.blocks import Cell, Column, Paragraph, Table, ends
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import CHANGE_NAMES, View
from holisticbias_eval.measures.responses.bias_figures import NAME, UNIT
from holisticbias_eval.sections import Bar, Bars, Block, Section


def _label(view: View, figure: Figure) -> str:
    return ", ".join(view.label(key, value) for key, value in figure.keys.items()) or "All axes"


def change_sections(changes: Figures, view: View) -> tuple[Section, ...]:
    """Show the corrected bias of both runs and its change: by axis, cluster and style."""
    blocks: list[Block] = []
    for key in ("axis", "cluster", "style"):
        every = changes.by(NAME, "change") if len(changes.by(NAME, "change", "axis")) > 1 else ()
        found = [*(every if key == "axis" else ()), *changes.by(NAME, "change", key)]
        if found:
            table = _change_table(changes, view, found, key)
            bars = tuple(Bar(str(row[0]), _number(row[2]), before=_number(row[1])) for row in table.rows)
            blocks += [Bars(table.name, table.caption, UNIT, bars, "bar: B, mark: A"), table]
    reading = "Both runs are restricted to the descriptors and templates that both have. Sampling noise is taken off."
    return (Section("generation-bias-changes", "Generation bias of A and B", (*blocks, Paragraph(reading, "note"))),)


def _change_table(changes: Figures, view: View, found: Sequence[Figure], key: str) -> Table:
    columns = (
        Column(key, key.title()),
        *(Column(name, CHANGE_NAMES[name], UNIT) for name in ("first", "second")),
        Column("change", CHANGE_NAMES["change"], f"{UNIT} difference"),
        Column("interval", "95% interval", f"{UNIT} difference", interval=True),
        Column("p_value", "p", "p_value"),
    )
    rows = tuple(
        (
            _label(view, figure),
            *(changes.value(NAME, name, figure.keys) for name in ("first", "second")),
            figure.value,
            ends(figure.interval),
            figure.p_value,
        )
        for figure in found
    )
    what = "Full" if key == "axis" else "Partial"
    return Table(f"changes-by-{key}", f"{what} Gen Bias of A and B by {key}, corrected", columns, rows)


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None
