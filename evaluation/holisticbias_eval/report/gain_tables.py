"""Tables and charts of gains and costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from math import isclose
from typing import TypeVar

from holisticbias_eval.blocks import Cell, Column, Paragraph, Table, ends, without_empty
from holisticbias_eval.figures import Interval
from holisticbias_eval.report.gain_words import BEFORE_AFTER
from holisticbias_eval.results.gains import KINDS, Gain, Kind
from holisticbias_eval.sections import Block, Estimate, Forest, Section

WORDS: Mapping[Kind, str] = {
    "aimed at": "Aimed at",
    "transfer": "With groups that were not trained on",
    "quality": "Quality and retention",
    "other": "Other measures",
}
RELATIVE = "relative change"
T = TypeVar("T")
_LARGEST = 1.0
_MOST_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class NamedGain:
    """A change with the name of its figure, and the model that it is of."""

    model: str
    figure: str
    gain: Gain


@dataclass(frozen=True, slots=True)
class Further:
    """A value of every model that is not a figure of a run: its name, unit, and values by model, A's first."""

    name: str
    unit: str
    before: float | None
    after: Mapping[str, float | None]


def changes_table(slug: str, caption: str, rows: Sequence[NamedGain], sides: tuple[str, str], *, full: bool) -> Table:
    """A row for each change; ``full`` adds the direction of the figure, its unit and the number of items.

    Columns without a value are left out, and the model if there is one. A missing p-value stays empty beside an
    interval.
    """
    several = len({row.model for row in rows}) > 1
    unit = rows[0].gain.unit if len({row.gain.unit for row in rows}) == 1 else "number"
    columns = (
        Column("figure", "Figure"),
        Column("model", "Model"),
        Column("outcome", "Reads as"),
        Column("before", sides[0], unit),
        Column("after", sides[1], unit),
        Column("change", "Change", f"{unit} difference"),
        Column("interval", "95% interval", f"{unit} difference", interval=True),
        Column("p_value", "p", "p_value"),
        Column("chance", "95% of permuted", unit),
        Column("distribution", "95% point", unit),
        Column("unit", "Unit"),
        Column("better", "Better"),
        Column("n", "Items", "count", base=True),
    )
    blank = {name for name in _POINTS if any(getattr(row.gain, name) is not None for row in rows)}
    cells = tuple(_cells(row, several, blank, full) for row in rows)
    return without_empty(Table(f"gains-{slug}", caption, columns, cells))


_POINTS = ("p_value", "chance", "distribution")
"""What only some figures have: a row without it is left blank beside others."""


def _cells(row: NamedGain, several: bool, blank: Set[str], full: bool) -> tuple[Cell, ...]:
    g = row.gain
    values = (getattr(g, name) for name in _POINTS)
    p, *points = ("" if value is None and name in blank else value for name, value in zip(_POINTS, values, strict=True))
    further = (*points, g.unit, "" if g.better == "none" else g.better, g.n) if full else (points[0], *[None] * 4)
    model = row.model if several else None
    return (row.figure, model, g.outcome, g.before, g.after, g.change, ends(g.interval), p, *further)


def aim_first(rows: Sequence[NamedGain]) -> Sequence[NamedGain]:
    """The rows of the measures that are aimed at, then all others; otherwise in the order given."""
    aimed = {row.gain.measure for row in rows if row.gain.kind == "aimed at"}
    return sorted(rows, key=lambda row: row.gain.measure not in aimed)


class _Values:
    """The values of figures in several models; a value that was compared on other items is left out."""

    def __init__(self, rows: Sequence[NamedGain]) -> None:
        self.models = list(dict.fromkeys(row.model for row in rows))
        self.before, self.left_out = same_base(rows)
        self._after = {(row.model, row.figure): row.gain.after for row in rows}

    def of(self, model: str, figure: str) -> float | str | None:
        """The value of a figure in a model; empty if it has none."""
        return "" if (model, figure) in self.left_out else self._after.get((model, figure), "")

    @property
    def note(self) -> str:
        """The values that are left out, in words."""
        named = "; ".join(f"{figure} of {model}" for model, figure in self.left_out)
        return f"Left out, because these were compared with A on other items: {named}." if named else ""


def models_table(rows: Sequence[NamedGain], further: Sequence[Further], first: str) -> Table:
    """One row per model and one column per figure, in the order of the rows; further values follow those aimed at."""
    figures = dict.fromkeys((row.figure, row.gain.unit) for row in rows)
    shown = list(figures)[:_MOST_COLUMNS]
    aimed = {row.gain.measure for row in rows if row.gain.kind == "aimed at"}
    place = len({row.figure for row in rows if row.gain.measure in aimed and (row.figure, row.gain.unit) in shown})
    values = _Values(rows)

    def between(own: Sequence[T], others: Iterable[T]) -> tuple[T, ...]:
        return (*own[:place], *others, *own[place:])

    of_figures = [Column(f"figure_{i}", name, unit) for i, (name, unit) in enumerate(shown, 1)]
    of_further = (Column(f"further_{i}", one.name, one.unit) for i, one in enumerate(further, 1))
    columns = (Column("model", "Model"), *between(of_figures, of_further))
    first_row = between([values.before[name] for name, _ in shown], (one.before for one in further))
    cells: list[tuple[Cell, ...]] = [(first, *first_row)]
    for model in values.models:
        own = [values.of(model, name) for name, _ in shown]
        cells.append((model, *between(own, (one.after.get(model) for one in further))))
    left = len(figures) - len(shown)
    note = f"{left:,} more figures are in the table of changes. " if left else ""
    return Table("gains-models", "Figures of every model", columns, tuple(cells), f"{note}{values.note}".strip())


def same_base(rows: Sequence[NamedGain]) -> tuple[dict[str, float | None], list[tuple[str, str]]]:
    """The first model's value of each figure, and the models and figures that were compared on other items.

    The first model has a value on the items that it shares with each other model. Those models stand in a column
    whose value differs by less than 1% from that which most have.
    """
    bases: dict[str, list[float]] = {}
    for row in rows:
        if row.gain.before is not None:
            bases.setdefault(row.figure, []).append(row.gain.before)
    chosen = {name: max(found, key=lambda v: sum(_alike(v, other) for other in found)) for name, found in bases.items()}
    left_out = [
        (row.model, row.figure)
        for row in rows
        if row.gain.before is not None and not _alike(row.gain.before, chosen[row.figure])
    ]
    return dict(chosen), left_out


def _alike(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=0.01, abs_tol=1e-9)


def outcomes_table(rows: Sequence[NamedGain]) -> Table:
    """The reading of each change: one row per figure, one column per model."""
    models = list(dict.fromkeys(row.model for row in rows))
    found = {(row.model, row.figure): row.gain.outcome for row in rows}
    columns = (Column("figure", "Figure"), *(Column(f"model_{i}", model) for i, model in enumerate(models, 1)))
    figures = dict.fromkeys(row.figure for row in rows)
    cells = tuple((name, *(found.get((model, name)) for model in models)) for name in figures)
    return Table("gains-outcomes", "How each change reads", columns, cells)


def levels_table(rows: Sequence[NamedGain], first: str) -> Iterator[Table]:
    """How much there is of something unwanted: one row per figure, one column per model; none without such figures."""
    if not rows:
        return
    values, unit = _Values(rows), rows[0].gain.unit
    names = [Column(f"model_{i}", model, unit) for i, model in enumerate(values.models, 1)]
    columns = (Column("figure", "Figure"), Column("first", first, unit), *names)
    cells = tuple(
        (figure, values.before.get(figure), *(values.of(model, figure) for model in values.models))
        for figure in dict.fromkeys(row.figure for row in rows)
    )
    yield Table("gains-levels", "How much there is, whatever the groups", columns, cells, values.note)


def chart_section(rows: Sequence[NamedGain], first: str) -> Iterator[Section]:
    """Relative changes with their intervals; the scale leaves out changes beyond its ends, and scores around one half.

    ``first`` is the heading of the values that the changes are shares of.
    """
    drawn = [row for row in rows if _fits(row.gain)]
    if not drawn:
        return
    value = "the value before" if first == BEFORE_AFTER[0] else f"the value in {first}"
    caption = f"Change as a share of {value}"
    scale = f"change in % of {value}  ·  line: 95% interval, down to -100%  ·  filled: more than chance"
    blocks: list[Block] = [Forest("gains-chart", caption, RELATIVE, tuple(_estimates(drawn)), scale)]
    left = [row for row in rows if not _fits(row.gain)]
    if left:
        names = ", ".join(dict.fromkeys(row.figure for row in left))
        blocks.append(
            Paragraph(
                f"Not drawn, because {value} is 0 or missing, the change or its interval goes beyond "
                f"{100 * _LARGEST:.0f}%, or one half is the neutral value: {names}.",
                "note",
            )
        )
    yield Section("gains-chart", "Relative changes", tuple(blocks), in_terminal=False)


def _estimates(rows: Sequence[NamedGain]) -> Iterator[Estimate]:
    several = len({row.model for row in rows}) > 1
    for row in rows:
        label, group = (row.model, row.figure) if several else (row.figure, WORDS[row.gain.kind])
        shown = row.gain.outcome in ("gain", "cost", "change")
        yield Estimate(label, row.gain.relative, _relative(row.gain), shown, group)


def _fits(g: Gain) -> bool:
    """Whether a change and its interval have a place on the scale."""
    found = _relative(g)
    values = (g.relative, *((found.low, found.high) if found else ()))
    return all(value is not None and abs(value) <= _LARGEST for value in values)


def _relative(g: Gain) -> Interval | None:
    """The interval of the change as a share of the value before; a fall by more than all of it is not drawn."""
    if g.interval is None or not g.before:
        return None
    return Interval(low=max(g.interval.low / abs(g.before), -_LARGEST), high=g.interval.high / abs(g.before))


def by_kind(rows: Sequence[NamedGain]) -> Iterator[tuple[Kind, Sequence[NamedGain]]]:
    """The rows of each kind that has some."""
    for kind in KINDS:
        if own := [row for row in rows if row.gain.kind == kind]:
            yield kind, own


def slug_of(kind: Kind) -> str:
    """A kind in the name of a table."""
    return kind.replace(" ", "-")
