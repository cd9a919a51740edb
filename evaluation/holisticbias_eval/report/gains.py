"""The chapter of gains and costs: what changed from one model to one or several others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from holisticbias_eval.figures import SIGNIFICANCE, Interval
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Info, title
from holisticbias_eval.report.report import Chapter
from holisticbias_eval.results.gains import KINDS, Aim, Gain, Kind
from holisticbias_eval.sections import (
    Block,
    Cell,
    Column,
    Estimate,
    Forest,
    Paragraph,
    Section,
    Table,
    ends,
    without_empty,
)

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
_WORDS: Mapping[Kind, str] = {"aimed at": "Aimed at", "quality": "Quality and retention", "other": "Other measures"}
RELATIVE = "relative change"
_LARGEST = 1.0
_MOST_COLUMNS = 12
_LONG = ("dimension", "specification")
"""Keys with long values, which stand last: a chart cuts long labels."""
Models = Mapping[str, Sequence[Gain]]
"""The gains and costs of each model, by its name."""


class Labels:
    """Names of figures in words; axes by the label that a release has for them."""

    def __init__(self) -> None:
        self._axes: dict[str, str] = {}

    def add(self, labels: Mapping[str, str]) -> None:
        """Add labels of axes."""
        self._axes.update(labels)

    def figure(self, gain: Gain) -> str:
        """The figure in words, and what it is of."""
        info = MEASURES[gain.measure].info
        alone = info.title if gain.figure == info.headline else f"{info.title}: {title(gain.figure)}"
        keys = [
            self._axes.get(value) or title(value) if key == "axis" else value
            for key, value in sorted(gain.keys.items(), key=lambda item: item[0] in _LONG)
            if key != "figure" and value
        ]
        return ", ".join([info.names.get(gain.figure, alone), *keys])


def gains_chapter(models: Models, labels: Labels, aims: Sequence[Aim] = ()) -> Chapter:
    """Gains and costs of one model by kind of figure, or of several in one table; an aim without a figure is named."""
    shown = _with_runs(models)
    first, *rest = _several(shown, labels) if len(models) > 1 else _one(*next(iter(shown.items())), labels)
    missed = tuple(_missed(models, aims))
    return Chapter(GAINS, (replace(first, blocks=(*missed, *first.blocks)), *rest))


def _missed(models: Models, aims: Sequence[Aim]) -> Iterator[Paragraph]:
    for model, gains in models.items():
        for aim in aims:
            if not any(aim.covers(g.measure, g.keys) for g in gains):
                keys = "".join(f", {key} {value}" for key, value in aim.keys.items())
                yield Paragraph(f"{model}: {aim.measure}{keys} is aimed at, and has no figure in both runs.", "caveat")


def _with_runs(models: Models) -> dict[str, list[tuple[Gain, str]]]:
    """Each gain with the name of its run, if figures of several runs would have one name."""
    found = {}
    for name, gains in models.items():
        times = [gain.identity for gain in gains]
        found[name] = [(gain, gain.run if times.count(gain.identity) > 1 else "") for gain in gains]
    return found


Named = Sequence[tuple[Gain, str]]


def _name(gain: Gain, run: str, labels: Labels) -> str:
    return f"{labels.figure(gain)} ({run})" if run else labels.figure(gain)


def _one(model: str, gains: Named, labels: Labels) -> Iterator[Section]:
    """The finding, a table for each kind of figure, a chart, and a table of the parts."""
    chosen = [(kind, [(g, run) for g, run in gains if g.kind == kind and g.whole]) for kind in KINDS]
    tables = [_table(kind.replace(" ", "-"), _WORDS[kind], found, labels) for kind, found in chosen if found]
    yield Section("gains", GAINS.title, (*_findings([g for g, _ in gains]), *tables))
    drawn = [(_WORDS[g.kind], _name(g, run, labels), g) for g, run in gains if g.whole]
    yield from _chart(drawn, f"Relative change from A to {model}")
    parts = [(g, run) for g, run in gains if not g.whole]
    if parts:
        yield Section("gains-parts", "By axis, domain and specification", (_table("parts", "Parts", parts, labels),))


def _findings(gains: Sequence[Gain]) -> Iterator[Paragraph]:
    aimed = [g for g in gains if g.kind == "aimed at" and g.whole]
    if aimed:
        yield Paragraph(f"Of the figures aimed at: {_counted(aimed)}.", "finding")
    rest = [g for g in gains if g.kind != "aimed at"]
    if rest:
        yield Paragraph(f"Of the {'other ' if aimed else ''}figures: {_counted(rest)}.", "finding")
    tested = sum(g.outcome in ("gain", "cost", "change", "no change shown") for g in gains)
    if tested:
        yield Paragraph(
            f"{tested:,} figures were tested at p < {SIGNIFICANCE:g}: about {SIGNIFICANCE * tested:.1f} of them would "
            "show a change if nothing had changed.",
            "note",
        )


def _counted(gains: Sequence[Gain]) -> str:
    plural = {"gain": "gains", "cost": "costs", "change": "changes without a direction"}
    one = {"gain": "gain", "cost": "cost", "change": "change without a direction"}
    found = []
    for outcome in ("gain", "cost", "change", "no change shown", "not tested", "not defined"):
        count = sum(g.outcome == outcome for g in gains)
        if count:
            words = (one if count == 1 else plural).get(outcome, outcome)
            found.append(f"{count:,} {words}")
    return ", ".join(found)


def _table(slug: str, caption: str, gains: Named, labels: Labels) -> Table:
    columns = (
        Column("figure", "Figure"),
        Column("outcome", "Reads as"),
        Column("before", "A", "number"),
        Column("after", "B", "number"),
        Column("change", "Change", "number difference"),
        Column("interval", "95% interval", "number difference", interval=True),
        Column("p_value", "p", "p_value"),
        Column("better", "Better"),
        Column("unit", "Unit"),
        Column("n", "Items", "count"),
    )
    rows = tuple((_name(g, run, labels), *_cells(g)) for g, run in gains)
    return without_empty(Table(f"gains-{slug}", caption, columns, rows))


def _cells(g: Gain) -> tuple[Cell, ...]:
    better = "" if g.better == "none" else g.better
    return g.outcome, g.before, g.after, g.change, ends(g.interval), g.p_value, better, g.unit, g.n


def _chart(gains: Sequence[tuple[str, str, Gain]], caption: str) -> Iterator[Section]:
    """Relative changes with their intervals; the scale leaves out changes beyond its ends."""
    drawn = [(group, label, g) for group, label, g in gains if _fits(g)]
    if not drawn:
        return
    estimates = tuple(
        Estimate(label, g.relative, _relative(g), g.outcome in ("gain", "cost", "change"), group)
        for group, label, g in drawn
    )
    scale = "change in % of A  ·  line: 95% interval  ·  filled: more than chance"
    blocks: list[Block] = [Forest("gains-chart", caption, RELATIVE, estimates, scale)]
    if left := len(gains) - len(drawn):
        blocks.append(
            Paragraph(
                f"Not drawn: {left:,} figures that are 0 or not defined in A, or whose change or interval goes beyond "
                f"{100 * _LARGEST:.0f}%.",
                "note",
            )
        )
    yield Section("gains-chart", "Relative changes", tuple(blocks), in_terminal=False)


def _fits(g: Gain) -> bool:
    """Whether a change and its interval have a place on the scale."""
    found = _relative(g)
    values = (g.relative, *((found.low, found.high) if found else ()))
    return all(value is not None and abs(value) <= _LARGEST for value in values)


def _relative(g: Gain) -> Interval | None:
    """The interval of the change as a share of the value before."""
    if g.interval is None or not g.before:
        return None
    return Interval(low=g.interval.low / abs(g.before), high=g.interval.high / abs(g.before))


def _several(models: Mapping[str, Named], labels: Labels) -> tuple[Section, ...]:
    """A table of models and figures, a chart by figure, and a table of every change."""
    figures: dict[tuple[str, str], tuple[Gain, str]] = {}
    by_model: dict[str, dict[tuple[str, str], Gain]] = {}
    for model, gains in models.items():
        for g, run in gains:
            key = (_name(g, run, labels), g.unit)
            by_model.setdefault(model, {})[key] = g
            if g.whole:
                figures.setdefault(key, (g, run))
    ordered = sorted(figures, key=lambda key: (KINDS.index(figures[key][0].kind), figures[key][0].better == "none"))
    drawn = [(key[0], model, own[key]) for key in ordered for model, own in by_model.items() if key in own]
    counts = tuple(
        Paragraph(f"{model}: {_counted([g for g, _ in gains])}.", "finding") for model, gains in models.items()
    )
    every = [(model, g, run) for key in ordered for model, gains in models.items() for g, run in gains
             if (_name(g, run, labels), g.unit) == key]  # fmt: skip
    parts = [(model, g, run) for model, gains in models.items() for g, run in gains if not g.whole]
    changes = _model_table("changes", "Changes from A", every, labels)
    sections = [Section("gains", GAINS.title, (*counts, _methods(ordered, figures, by_model), changes))]
    sections += _chart(drawn, "Relative change from A, by figure")
    if parts:
        table = _model_table("parts", "Parts", parts, labels)
        sections.append(Section("gains-parts", "By axis, domain and specification", (table,), detail=True))
    return tuple(sections)


def _methods(
    ordered: Sequence[tuple[str, str]],
    figures: Mapping[tuple[str, str], tuple[Gain, str]],
    by_model: Mapping[str, Mapping[tuple[str, str], Gain]],
) -> Table:
    """One row per model, one column per figure, those aimed at first."""
    shown = ordered[:_MOST_COLUMNS]
    columns = [Column("model", "Model"), *(Column(f"figure_{i}", key[0], key[1]) for i, key in enumerate(shown, 1))]
    rows: list[tuple[Cell, ...]] = [("A", *(figures[key][0].before for key in shown))]
    rows += [(model, *(own[key].after if key in own else None for key in shown)) for model, own in by_model.items()]
    left = len(ordered) - len(shown)
    note = f"{left:,} more figures are in the table of changes." if left else ""
    return Table("gains-models", "Figures of every model", tuple(columns), tuple(rows), note)


def _model_table(slug: str, caption: str, rows: Sequence[tuple[str, Gain, str]], labels: Labels) -> Table:
    of_one = _table(slug, caption, [(g, run) for _, g, run in rows], labels)
    columns = (of_one.columns[0], Column("model", "Model"), *of_one.columns[1:])
    found = tuple((row[0], model, *row[1:]) for (model, _, _), row in zip(rows, of_one.rows, strict=True))
    headings = {"before": "A", "after": "Value"}
    named = tuple(replace(c, heading=headings.get(c.key, c.heading)) for c in columns)
    return Table(of_one.name, caption, named, found)
