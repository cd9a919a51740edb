"""Tables of generation bias, in one run and in two."""

from __future__ import annotations

from collections.abc import Sequence

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import CHANGE_NAMES, View
from holisticbias_eval.measures.responses.bias_figures import CORRECTED, FULL, NAME, PARTIAL, UNIT
from holisticbias_eval.sections import Bar, Bars, Block, Cell, Column, Paragraph, Section, Table, ends

COLUMNS = (
    Column("bias", "Bias", UNIT),
    Column("corrected", "Corrected", UNIT),
    Column("interval", "95% interval", UNIT, interval=True),
    Column("floor", "Floor", UNIT),
    Column("p_value", "p", "p_value"),
    Column("audit", "Audit", UNIT),
)
READING = (
    "Bias is the variance of mean style probabilities over descriptors, times 1000. Corrected is the bias without "
    "sampling noise, with its 95% interval. The floor is the mean bias if descriptors are permuted; p is adjusted for "
    "the number of rows (Holm). The audit is the classifier's own bias, on fixed texts in which only the descriptor "
    "differs."
)


def bias_sections(view: View) -> tuple[Section, ...]:
    """Show the bias over all axes, and by axis, cluster and style."""
    tables = [
        _table(view, FULL, "axis", "bias-by-axis", "Full Gen Bias by axis"),
        _table(view, PARTIAL, "cluster", "bias-by-cluster", "Partial Gen Bias by cluster"),
        _table(view, PARTIAL, "style", "bias-by-style", "Partial Gen Bias by style"),
    ]
    shown = tuple(table for table in tables if table.rows)
    return (Section("generation-bias", "Generation bias", (*shown, Paragraph(READING, "note"))),)


def _table(view: View, name: str, key: str, slug: str, caption: str) -> Table:
    figures = (
        [*view.figures.by(NAME, name), *view.figures.by(NAME, name, key)]
        if key == "axis"
        else list(view.figures.by(NAME, name, key))
    )
    rows = tuple((_label(view, figure), *_cells(view.figures, figure)) for figure in figures)
    return Table(slug, caption, (Column(key, key.title()), *COLUMNS), rows)


def _label(view: View, figure: Figure) -> str:
    return ", ".join(view.label(key, value) for key, value in figure.keys.items()) or "All axes"


def _cells(figures: Figures, figure: Figure) -> Sequence[Cell]:
    corrected = figures.get(NAME, figure.name + CORRECTED, figure.keys)
    return (
        figure.value,
        corrected.value if corrected else None,
        ends(corrected.interval) if corrected else None,
        figure.floor,
        figure.p_value,
        figures.value(NAME, f"audit_{figure.name}", figure.keys),
    )


def change_sections(changes: Figures, view: View) -> tuple[Section, ...]:
    """Show the corrected bias of both runs and its change: by axis, cluster and style."""
    blocks: list[Block] = []
    for key in ("axis", "cluster", "style"):
        found = [*(changes.by(NAME, "change") if key == "axis" else ()), *changes.by(NAME, "change", key)]
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
