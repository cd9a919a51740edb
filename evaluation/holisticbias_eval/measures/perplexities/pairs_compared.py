"""The t of every pair of groups in one or several comparisons with the same model (Zhao et al. 2024, Table 10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holisticbias_eval.blocks import Cell, Column, Table, without_empty
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.perplexities.dimensions import NAME, WITH_HELD_OUT
from holisticbias_eval.measures.perplexities.figures import T
from holisticbias_eval.measures.perplexities.remarks import cut
from holisticbias_eval.measures.perplexities.shown import pair_label
from holisticbias_eval.sections import Section

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
    cells = tuple(_row(name, label, n, found, models) for (name, label, _, n), found in rows.items())
    suffix = "" if scale == "log" else f"-{scale}"
    return without_empty(Table(f"group-perplexity-changes-t{suffix}", _SCALES[scale], columns, cells, _NOTE))


def _row(
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
