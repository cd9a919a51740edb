"""The chapter of gains and costs: what changed from one model to one or several others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holisticbias_eval.blocks import Table
from holisticbias_eval.measures.info import Info
from holisticbias_eval.report.gain_tables import (
    WORDS,
    Further,
    NamedGain,
    aim_first,
    by_kind,
    changes_table,
    chart_section,
    levels_table,
    models_table,
    outcomes_table,
    slug_of,
)
from holisticbias_eval.report.gain_words import Labels, Models, findings
from holisticbias_eval.report.report import Chapter
from holisticbias_eval.results.gains import KINDS, Aim
from holisticbias_eval.sections import Section

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
SIDES = ("A", "B")
_PARTS = "By axis, domain and specification"


def gains_chapter(
    models: Models,
    labels: Labels,
    aims: Mapping[str, Sequence[Aim]] | None = None,
    sides: tuple[str, str] = SIDES,
    further: Sequence[Further] = (),
) -> Chapter:
    """Gains and costs: in words, then one row for each thing that is measured, then all figures as details.

    ``aims`` are those of each model, ``sides`` the headings of the values before and after. With several models
    ``further`` values of each stand beside the figures.
    """
    named = list(_named(models, labels))
    main = _in_order([row for row in named if row.gain.main])
    names = {id(row.gain): row.figure for row in named}
    said = findings(models, aims or {}, labels.aim, lambda gain: names[id(gain)], sides)
    tables: tuple[Table, ...] = ()
    if len(models) == 1:
        tables = tuple(changes_table(slug_of(kind), WORDS[kind], own, sides, full=False) for kind, own in by_kind(main))
    elif main:
        levels = [row for row in main if row.gain.level]
        apart = models_table(aim_first([row for row in main if not row.gain.level]), further, sides[0])
        tables = (apart, *levels_table(levels, sides[0]), outcomes_table(aim_first(main)))
    first = Section("gains", GAINS.title, (*said, *tables))
    details = tuple(_details(named, main, sides, several=len(models) > 1))
    return Chapter(GAINS, (first, *chart_section(main, sides[0]), *details))


def _details(
    named: Sequence[NamedGain], main: Sequence[NamedGain], sides: tuple[str, str], *, several: bool
) -> Iterator[Section]:
    """Every change with its interval, other scales and figures, and parts."""
    others = _in_order([row for row in named if row.gain.whole and not row.gain.main])
    parts = [row for row in named if not row.gain.whole]
    tables = [("changes", "Every change", main if several or others else ()), ("others", "Other figures", others)]
    blocks = tuple(changes_table(slug, text, rows, sides, full=True) for slug, text, rows in tables if rows)
    if blocks:
        yield Section("gains-all", "All figures, scales and units", blocks, detail=True)
    for aimed, name, text in ((True, "parts", "aimed at"), (False, "other-parts", "other figures")):
        rows = [row for row in parts if (row.gain.kind == "aimed at") == aimed]
        if rows:
            table = changes_table(name, f"{_PARTS}: {text}", rows, sides, full=True)
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
