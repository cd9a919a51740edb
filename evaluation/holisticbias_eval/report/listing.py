"""The figures of several models side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import Info, title
from holisticbias_eval.report.units import show
from holisticbias_eval.sections import Column, Table, ends


def models_table(
    info: Info, caption: str, models: Sequence[tuple[str, Figures]], label: Callable[[str, str], str]
) -> Table:
    """The headline figures of a measure: a row for what each is of, a column for each model, in their order.

    ``label`` says the value of a key in words.
    """
    by_model = [
        {tuple(f.keys.items()): f for f in figures.by(info.name, info.headline, *info.by)} for _, figures in models
    ]
    keys = dict.fromkeys(key for found in by_model for key in found)
    rows = tuple(
        (", ".join(label(*item) for item in key), *(_cell(found.get(key)) for found in by_model)) for key in keys
    )
    columns = (Column("of", title(info.by[-1])), *(Column(name, name) for name, _ in models))
    return Table(info.name, caption, columns, rows)


def _cell(figure: Figure | None) -> str:
    """A figure with its interval in brackets."""
    if figure is None:
        return "not measured"
    value = show(figure.value, figure.unit)
    return f"{value} [{show(ends(figure.interval), figure.unit)}]" if figure.interval else value
