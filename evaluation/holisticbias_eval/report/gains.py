"""The chapter of gains and costs: what changed from one model to one or several others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isclose

from holisticbias.terminal import counted
from holisticbias_eval.figures import Interval
from holisticbias_eval.measures.info import Info
from holisticbias_eval.report.gain_words import BEFORE_AFTER, LARGE, Labels, Models, NamedGain, findings
from holisticbias_eval.report.report import Chapter
from holisticbias_eval.results.gains import KINDS, Aim, Gain, Kind
from holisticbias_eval.sections.blocks import INTERVAL, Block, Estimate, Forest, Section
from holisticbias_eval.sections.tables import NUMBER, Cell, Column, ColumnOf, Paragraph, Table, table_of

GAINS = Info(
    name="gains",
    title="Gains and costs",
    summary="the change of every headline figure from A to another model, and whether it is in the figure's direction",
    direction=(
        "a gain is a change in the direction of the figure that is more than chance (p < 0.05, or an interval without "
        "0), a cost the opposite; a figure without a direction only changes"
    ),
    limits=(
        "p-values are those of each measure and not corrected for the number of figures here; what is not measured "
        "does not appear"
    ),
    source="this project",
    headline="",
)
SIDES, MITIGATED = ("A", "B"), ("A (before)", "B (after)")
"""The headings of the values of two models, and of one model before and after a mitigation."""
RELATIVE = "relative change"
_PARTS = "By axis, domain and specification"
_LARGEST = 1.0
_MOST_COLUMNS = 10
_WORDS: Mapping[Kind, str] = {
    "aimed at": "Aimed at",
    "transfer": "With groups that were not trained on",
    "quality": "Quality and retention",
    "other": "Other measures",
}


def gains_chapter(
    models: Models,
    labels: Labels,
    aims: Mapping[str, Sequence[Aim]] | None = None,
    sides: tuple[str, str] = SIDES,
    validation: Mapping[str, float | None] | None = None,
) -> Chapter:
    """Gains and costs: in words, then one row for each thing that is measured, then all figures as details.

    ``aims`` are those of each model, ``sides`` the headings of the values before and after. With several models
    the perplexities of ``validation`` texts by model, A's under "", stand beside the figures.
    """
    named = list(_named(models, labels))
    main = _in_order([row for row in named if row.gain.main])
    aim = (Paragraph(f"Aimed at: {labels.aim}."),) if labels.aim else ()
    said = tuple(findings(models, named, aims or {}, sides))
    tables: tuple[Table, ...] = ()
    if len(models) == 1:
        by_kind = {kind: [row for row in main if row.gain.kind == kind] for kind in KINDS}
        tables = tuple(
            _changes_table(kind.replace(" ", "-"), _WORDS[kind], rows, sides, full=False)
            for kind, rows in by_kind.items()
            if rows
        )
    elif main:
        levels = [row for row in main if row.gain.level]
        models_table = _models_table(_aim_first([row for row in main if not row.gain.level]), validation, sides[0])
        tables = (models_table, *_levels_table(levels, sides[0]), _outcomes_table(_aim_first(main)))
    blocks: tuple[Block, ...] = (*said, *tables) if len(models) <= LARGE else (*tables, *said)
    first = Section("gains", GAINS.title, (*aim, *blocks))
    details = _details(named, main, sides, several=len(models) > 1)
    return Chapter(GAINS, (first, *_chart_section(main, sides[0]), *details))


def _details(
    named: Sequence[NamedGain], main: Sequence[NamedGain], sides: tuple[str, str], *, several: bool
) -> Iterator[Section]:
    """Every change with its interval, other scales and figures, and parts."""
    others = _in_order([row for row in named if row.gain.whole and not row.gain.main])
    parts = [row for row in named if not row.gain.whole]
    tables = [("changes", "Every change", main if several or others else ()), ("others", "Other figures", others)]
    blocks = tuple(_changes_table(slug, text, rows, sides, full=True) for slug, text, rows in tables if rows)
    if blocks:
        yield Section("gains-all", "All figures, scales and units", blocks, detail=True)
    for aimed, name, text in ((True, "parts", "aimed at"), (False, "other-parts", "other figures")):
        rows = [row for row in parts if (row.gain.kind == "aimed at") == aimed]
        if rows:
            table = _changes_table(name, f"{_PARTS}: {text}", rows, sides, full=True)
            yield Section(f"gains-{name}", f"{_PARTS}: {text}", (table,), detail=not aimed)


def _named(models: Models, labels: Labels) -> Iterator[NamedGain]:
    """Each change with its name; with the name of its run, if figures of several runs would have one name."""
    for model, gains in models.items():
        times = [gain.identity for gain in gains]
        for gain in gains:
            of_run = f" ({gain.run})" if gain.run and times.count(gain.identity) > 1 else ""
            yield NamedGain(model, f"{labels.figure(gain)}{of_run}", gain)


def _in_order(rows: Sequence[NamedGain]) -> list[NamedGain]:
    """The rows by kind, then in the order in which figures first appear, all models of a figure together."""
    places: dict[str, int] = {}
    for row in rows:
        places.setdefault(row.figure, len(places))
    directed = {row.figure: row.gain.better == "none" for row in rows}
    return sorted(rows, key=lambda row: (KINDS.index(row.gain.kind), directed[row.figure], places[row.figure]))


def _aim_first(rows: Sequence[NamedGain]) -> Sequence[NamedGain]:
    """The rows of the measures that are aimed at, then all others; otherwise in the order given."""
    aimed = _aimed_measures(rows)
    return sorted(rows, key=lambda row: row.gain.measure not in aimed)


def _aimed_measures(rows: Sequence[NamedGain]) -> set[str]:
    return {row.gain.measure for row in rows if row.gain.kind == "aimed at"}


def _changes_table(slug: str, caption: str, rows: Sequence[NamedGain], sides: tuple[str, str], *, full: bool) -> Table:
    """A row for each change; ``full`` adds the direction of the figure, its unit and the number of items.

    Columns without a value are left out, and the model if there is one. A row without a p-value or a point stays blank
    beside others.
    """
    several = len({row.model for row in rows}) > 1
    unit = rows[0].gain.unit if len({row.gain.unit for row in rows}) == 1 else NUMBER

    def point(name: str) -> Callable[[NamedGain], Cell]:
        values = {id(row): getattr(row.gain, name) for row in rows}
        some = any(value is not None for value in values.values())
        return lambda row: "" if some and values[id(row)] is None else values[id(row)]

    columns = [
        ColumnOf[NamedGain]("figure", "Figure", lambda row: row.figure),
        ColumnOf("model", "Model", lambda row: row.model if several else None),
        ColumnOf("outcome", "Reads as", lambda row: row.gain.outcome),
        ColumnOf("before", sides[0], lambda row: row.gain.before, unit),
        ColumnOf("after", sides[1], lambda row: row.gain.after, unit),
        ColumnOf("change", "Change", lambda row: row.gain.change, f"{unit} difference"),
        ColumnOf("interval", "95% interval", lambda row: row.gain.interval, f"{unit} difference", interval=True),
        ColumnOf("p_value", "p", point("p_value"), "p_value"),
        ColumnOf("chance", "95th percentile, permuted", point("chance"), unit),
    ]
    if full:
        columns += [
            ColumnOf("distribution", "95th percentile, F distribution", point("distribution"), unit),
            ColumnOf("unit", "Unit", lambda row: row.gain.unit),
            ColumnOf("better", "Better", lambda row: "" if row.gain.better == "none" else row.gain.better),
            ColumnOf("n", "Items", lambda row: row.gain.n, "count", base=True),
        ]
    return table_of(f"gains-{slug}", caption, columns, rows, drop_empty=True, unit=lambda row: row.gain.unit)


def _models_table(rows: Sequence[NamedGain], validation: Mapping[str, float | None] | None, first: str) -> Table:
    """One row per model and one column per figure, in the order of the rows; validation follows those aimed at."""
    figures = list(dict.fromkeys((row.figure, row.gain.unit) for row in rows))
    shown, aimed = figures[:_MOST_COLUMNS], _aimed_measures(rows)
    place = len({row.figure for row in rows if row.gain.measure in aimed and (row.figure, row.gain.unit) in shown})
    value, note = _values(rows)
    columns = [ColumnOf(name, name, partial(value, name), unit) for name, unit in shown]
    if validation:
        validated = "Perplexity of validation texts"
        columns.insert(place, ColumnOf(validated, validated, validation.get, "perplexity"))
    left = len(figures) - len(shown)
    more = f"The table of changes has {counted(left, 'more figures')}. " if left else ""
    models = dict.fromkeys(("", *(row.model for row in rows)))
    model = ColumnOf[str]("model", "Model", lambda name: name or first)
    return table_of("gains-models", "Figures of every model", [model, *columns], models, f"{more}{note}".strip())


def _values(rows: Sequence[NamedGain]) -> tuple[Callable[[str, str], Cell], str]:
    """The value of a figure in a model, A's under ""; and in words, what was compared with A on other items.

    The first model has a value on the items that it shares with each other model. Those models stand in a column
    whose value differs by less than 1% from that which most have.
    """
    bases: dict[str, list[float]] = {}
    for row in rows:
        if row.gain.before is not None:
            bases.setdefault(row.figure, []).append(row.gain.before)
    values: dict[tuple[str, str], Cell] = {
        (name, ""): max(found, key=lambda v: sum(_alike(v, other) for other in found)) for name, found in bases.items()
    }
    left_out = []
    for row in rows:
        if row.gain.before is None or _alike(row.gain.before, values[row.figure, ""]):
            values[row.figure, row.model] = row.gain.after
        else:
            left_out.append(f"{row.figure} of {row.model}")
    note = f"Left out, because these were compared with A on other items: {'; '.join(left_out)}." if left_out else ""
    return lambda figure, model: values.get((figure, model), "" if model else None), note


def _alike(one: float, other: Cell) -> bool:
    return isinstance(other, float) and isclose(one, other, rel_tol=0.01, abs_tol=1e-9)


def _outcomes_table(rows: Sequence[NamedGain]) -> Table:
    """The reading of each change: one row per figure, one column per model."""
    outcomes = {(row.figure, row.model): row.gain.outcome for row in rows}
    return _by_model("outcomes", "How each change reads", rows, "text", lambda *place: outcomes.get(place))


def _levels_table(rows: Sequence[NamedGain], first: str) -> Iterator[Table]:
    """How much there is of something unwanted: one row per figure, one column per model; none without such figures."""
    if rows:
        value, note = _values(rows)
        yield _by_model("levels", "How much there is, whatever the groups", rows, rows[0].gain.unit, value, first, note)


def _by_model(
    slug: str, caption: str, rows: Sequence[NamedGain], unit: str, value: Callable[[str, str], Cell], first: str = "",
    note: str = "",
) -> Table:  # fmt: skip
    """One row per figure and one column per model, that of the first model, if it has a heading, before the others."""
    models = dict.fromkeys(row.model for row in rows)
    headed = [("first", "", first)] if first else []
    headed += [(f"model_{i}", model, model) for i, model in enumerate(models, 1)]
    figures = list(dict.fromkeys(row.figure for row in rows))
    columns = (Column("figure", "Figure"), *(Column(key, heading, unit) for key, _, heading in headed))
    cells = tuple((name, *(value(name, model) for _, model, _ in headed)) for name in figures)
    return Table(f"gains-{slug}", caption, columns, cells, note)


def _chart_section(rows: Sequence[NamedGain], first: str) -> Iterator[Section]:
    """Relative changes with their intervals; the scale leaves out changes beyond its ends, and scores around one half.

    ``first`` is the heading of the values that the changes are shares of.
    """
    drawn = [row for row in rows if _fits(row.gain)]
    if not drawn:
        return
    value = "the value before" if first == BEFORE_AFTER[0] else f"the value in {first}"
    caption = f"Change as a share of {value}"
    line, marks = f"{INTERVAL}, down to -100%", ("filled: more than chance",)
    estimates, scale = tuple(_estimates(drawn)), f"change in % of {value}"
    blocks: list[Block] = [Forest("gains-chart", caption, RELATIVE, estimates, scale, line=line, marks=marks)]
    left = [row for row in rows if not _fits(row.gain)]
    if left:
        also = {row.figure for row in drawn}
        names = "; ".join(dict.fromkeys(f"{r.figure} of {r.model}" if r.figure in also else r.figure for r in left))
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
        label, group = (row.model, row.figure) if several else (row.figure, _WORDS[row.gain.kind])
        yield Estimate(label, row.gain.relative, _relative(row.gain), row.gain.is_shown, group)


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
