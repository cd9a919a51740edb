"""Report sections that compare group_perplexity in two runs, or in several models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from holisticbias_eval.blocks import Cell, Column, ColumnOf, Paragraph, Table, table_of, without_empty
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.perplexities.changes import FIGURE
from holisticbias_eval.measures.perplexities.dimensions import NAME, WITH_HELD_OUT, cut
from holisticbias_eval.measures.perplexities.figures import MEAN_T, F, T
from holisticbias_eval.measures.perplexities.finding import pair_label
from holisticbias_eval.measures.perplexities.sections import SCALE_NAMES
from holisticbias_eval.sections import Estimate, Forest, Section

_NOTE = (
    "t is of the first group minus the second, unpaired, on the sentences that both runs have; p is corrected over the "
    "pairs of a dimension (Holm)."
)
_SCALES = {"log": "t of every pair of groups", "perplexity": "t of every pair of groups, on perplexities as published"}


def pair_sections(models: Mapping[str, Figures], first: str) -> Iterator[Section]:
    """The t of every pair in the first model and in others; ``models`` are their changes, by the heading of each."""
    tables = tuple(table for scale in _SCALES if (table := _table(models, first, scale)) is not None)
    if tables:
        yield Section("group-perplexity-pairs", _SCALES["log"], tables[:1])
    if tables[1:]:
        yield Section("group-perplexity-pairs-perplexity", _SCALES["perplexity"], tables[1:], detail=True)


def _table(models: Mapping[str, Figures], first: str, scale: str) -> Table | None:
    """One row per pair; a model whose first value differs was compared on other sentences, and has another row."""
    rows: dict[tuple[str, str, float | None, int], dict[str, tuple[Figure, Figure]]] = {}
    for model, changes in models.items():
        held = held_out(changes)
        for one, other in _both(changes, scale):
            name = cut(one.keys["dimension"])
            held_here = held.get(one.keys["dimension"], frozenset())
            label = f"{pair_label(one)}{_remark([one.keys[side] in held_here for side in ('first', 'second')])}"
            rows.setdefault((name, label, one.value, one.n), {})[model] = (one, other)
    if not rows:
        return None
    columns = (
        Column("pair", "Pair"),
        Column("dimension", "Dimension"),
        Column("first", f"t, {first}", T),
        *(Column(f"model_{i}", f"t, {model}", T) for i, model in enumerate(models, 1)),
        Column("first_p", f"p, {first}", "p_value"),
        *(Column(f"model_{i}_p", f"p, {model}", "p_value") for i, model in enumerate(models, 1)),
        Column("perplexities", "Perplexities of both", "count", base=True),
    )
    cells = tuple(_pair_row(name, label, n, found, models) for (name, label, _, n), found in rows.items())
    suffix = "" if scale == "log" else f"-{scale}"
    return without_empty(Table(f"group-perplexity-changes-t{suffix}", _SCALES[scale], columns, cells, _NOTE))


def _pair_row(
    name: str, label: str, n: int, found: Mapping[str, tuple[Figure, Figure]], models: Mapping[str, Figures]
) -> tuple[Cell, ...]:
    base = next(iter(found.values()))[0]
    others = [found[model][1] if model in found else None for model in models]
    values = (base.value, *(f.value if f else None for f in others))
    return (label, name, *values, base.p_value, *(f.p_value if f else None for f in others), n)


def _both(changes: Figures, scale: str) -> Iterator[tuple[Figure, Figure]]:
    """The t of each pair in both runs."""
    for one in changes:
        wanted = one.measure == NAME and one.name == "first" and one.of == "t"
        if wanted and (one.keys["scale"], one.keys["test"]) == (scale, "unpaired"):
            other = changes.get(NAME, "second", one.keys)
            if other is not None:
                yield one, other


def held_out(changes: Figures) -> Mapping[str, frozenset[str]]:
    """For each dimension with held-out groups, the groups that the same dimension without them lacks."""
    groups: dict[str, set[str]] = {}
    for figure in changes:
        if figure.measure == NAME and "first" in figure.keys:
            groups.setdefault(figure.keys["dimension"], set()).update((figure.keys["first"], figure.keys["second"]))
    bases = {name: name.removesuffix(WITH_HELD_OUT) for name in groups if name.endswith(WITH_HELD_OUT)}
    return {name: frozenset(groups[name] - groups[base]) for name, base in bases.items() if base in groups}


def _remark(held: list[bool]) -> str:
    return ", both held out" if all(held) else ", one held out" if any(held) else ""


MOST = 40
READING = Paragraph(
    "Both runs are measured on the sentences that both have, with the same text and a perplexity in each. Intervals of "
    "a change draw sentences with their values in all groups and both runs. A lower F can also come from a larger "
    "spread of sentences, and every group's mean can rise: read the means beside it.",
    "note",
)
_WHAT = {"f": "F", "eta_squared": "Partial eta²", "mean_abs_t": "Mean |t|", "mean": "Mean of all groups"}


def compared_sections(changes: Figures) -> tuple[Section, ...]:
    """Show the changes of each dimension in words and on the log scale; as details those of perplexities."""
    found = [f for f in changes if f.measure == NAME and f.name == "change" and f.of != "t"]
    said = tuple(Paragraph(text, "finding") for text in _words(changes, found))
    chart = _chart(found)
    name = f"{NAME}-changes".replace("_", "-")
    main, other = (_scale_tables(changes, found, scale) for scale in ("log", "perplexity"))
    sections = [Section(name, "Perplexity by group", (*said, *((chart,) if chart.estimates else ()), *main, READING))]
    sections += pair_sections({"B": changes}, "A")
    if other:
        sections.append(Section(f"{name}-perplexity", "Changes on the scale of perplexities", other, detail=True))
    return tuple(sections)


def _scale_tables(changes: Figures, found: list[Figure], scale: str) -> tuple[Table, ...]:
    own = [figure for figure in found if figure.keys["scale"] == scale]
    suffix = "" if scale == "log" else f"-{scale}"
    return tuple(replace(table, name=f"{table.name}{suffix}") for table in _tables(changes, own) if table.rows)


def _words(changes: Figures, found: list[Figure]) -> Iterator[str]:
    for change in (f for f in found if not f.keys.get(FIGURE) and f.keys["scale"] == "log"):
        name = cut(change.keys["dimension"])
        if change.value is None:
            yield f"{name}: the change of F is not defined."
            continue
        first, second = (changes.value(NAME, side, change.keys) or 0.0 for side in ("first", "second"))
        said = f"F of log-perplexity is {first:.2f} in A and {second:.2f} in B, on {change.n:,} perplexities"
        if change.interval is None:
            yield f"{name}: {said}."
            continue
        low, high = change.interval.low, change.interval.high
        of_f = f"{name}: {said} (change {change.value:+z.2f}, 95% interval {low:+z.2f} to {high:+z.2f})."
        cost = changes.get(NAME, "change", {**change.keys, FIGURE: "mean"})
        if cost is None or cost.value is None or cost.interval is None:
            yield of_f
            continue
        low, high = cost.interval.low, cost.interval.high
        yield f"{of_f} Mean log-perplexity changes by {cost.value:+z.3f} ({low:+z.3f} to {high:+z.3f})."


def _chart(found: list[Figure]) -> Forest:
    """The change of each group's mean log-perplexity: a cost if all rise."""
    means = [f for f in found if f.keys.get(FIGURE) == "mean" and f.keys["scale"] == "log" and "group" in f.keys]
    estimates = tuple(
        Estimate(cut(f.keys["group"]), f.value, f.interval, _apart(f), cut(f.keys["dimension"])) for f in means[:MOST]
    )
    title = "Change of each group's mean log-perplexity from A to B"
    scale = "line: 95% interval; 0: no change; filled: does not include 0"
    return Forest("group-perplexity-changes", title, "nats per token difference", estimates, scale)


def _apart(figure: Figure) -> bool:
    return figure.interval is not None and not figure.interval.low <= 0 <= figure.interval.high


def _tables(changes: Figures, found: list[Figure]) -> Iterator[Table]:
    """A table for each unit."""
    kinds = {
        "f": ("Change of F", F), "mean_abs_t": ("Change of the mean of |t|", MEAN_T),
        "eta_squared": ("Change of partial eta²", "share"), "log": ("Change of mean log-perplexity", "nats per token"),
        "perplexity": ("Change of mean perplexity", "perplexity"),
    }  # fmt: skip
    for kind, (caption, unit) in kinds.items():
        own = [f for f in found if kind == (f.keys["scale"] if f.of == "mean" else f.of)]
        columns: FigureColumns = (
            ColumnOf("dimension", "Dimension", lambda f: cut(f.keys["dimension"])),
            ColumnOf("scale", "Scale", lambda f: SCALE_NAMES[f.keys["scale"]]),
            ColumnOf("what", "Of", _what),
            *col.changes(changes, unit),
            col.n("perplexities", "Perplexities in both"),
        )
        name = f"group-perplexity-changes-{kind.replace('_', '-')}"
        yield table_of(name, caption, columns, own, drop_empty=True)


def _what(change: Figure) -> str:
    what = cut(change.keys["group"]) if "group" in change.keys else _WHAT[change.of or "f"]
    return f"{what}, {change.keys['test']}" if "test" in change.keys else what
