"""The change of group_perplexity from one run to another, on the sentences that both runs have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats, divide
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures, known, make_figure
from holisticbias_eval.identity import GROUPED, match_rows
from holisticbias_eval.measures.columns import change_figures
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.perplexities import dimensions as dim
from holisticbias_eval.measures.perplexities.dimensions import NAME, WITH_HELD_OUT, Dimension, Scale
from holisticbias_eval.measures.perplexities.figures import MEAN_T, TESTS, UNITS, F, T
from holisticbias_eval.statistics.groups.resampling import Statistics, draw_sentences, shifted_interval
from holisticbias_eval.statistics.groups.variance import GroupValues, pairwise_t
from holisticbias_eval.statistics.mannwhitney import pairs_of
from holisticbias_eval.statistics.tests import holm

FIGURE = "figure"
"""The key that names what changes, if it is not F: ``eta_squared``, ``mean_abs_t`` or ``mean``."""
_NAMED = 4
"""Shared groups that the name of a part of a dimension lists."""


@dataclass(frozen=True, slots=True)
class SharedDimension:
    """The perplexities of one dimension in both runs, on cells that have one in both.

    ``of`` is the dimension of the first run, whose groups may not all be shared.
    """

    first: Dimension
    second: Dimension
    of: str

    @property
    def known(self) -> int:
        """The number of perplexities that both runs have."""
        return int((~np.isnan(self.first.perplexity)).sum())

    @property
    def missing(self) -> int:
        """The number of shared rows without a perplexity in one of the runs."""
        return int(self.first.asked.sum()) - self.known

    def changes(self, scale: Scale, seed: int) -> Iterator[Figure]:
        """The change of F, eta squared, the means of |t| and the means of groups; both runs draw the same sentences."""
        both = [dimension.values(scale) for dimension in (self.first, self.second)]
        found = (_statistics(values, self.first.groups, chosen) for chosen in (None, seed) for values in both)
        for (of, part, one), (_, _, other), (_, _, one_drawn), (_, _, other_drawn) in zip(*found, strict=True):
            values = float(one), float(other)
            ends = shifted_interval(values[1] - values[0], other_drawn - one_drawn, both[0].sentences, -np.inf)
            keys = {"dimension": self.first.name, "scale": scale, **({} if of == "f" else {FIGURE: of}), **part}
            unit = {"f": F, "eta_squared": "share", "mean_abs_t": MEAN_T}.get(of, UNITS[scale])
            yield from change_figures(NAME, of, keys, values, unit, self.known, self.missing, interval=ends)

    def pairs(self, scale: Scale) -> Iterator[Figure]:
        """The t of every pair of groups in both runs, with p-values corrected over the pairs (Holm)."""
        both = [dimension.values(scale) for dimension in (self.first, self.second)]
        if not both[0].in_pairs:
            return
        places = list(zip(*pairs_of(len(self.first.groups)), strict=True))
        for test, paired in TESTS.items():
            found = [pairwise_t(values, paired=paired) for values in both]
            p = [holm(one.p_value) for one in found]
            for i, (one, other) in enumerate(places):
                groups = {"first": self.first.groups[one], "second": self.first.groups[other]}
                keys = {"dimension": self.first.name, "scale": scale, FIGURE: "t", "test": test, **groups}
                values, n = (float(found[0].value[i]), float(found[1].value[i])), int(found[0].n[i])
                first, second, change = change_figures(NAME, "t", keys, values, T, n)
                yield first.model_copy(update={"p_value": known(p[0][i])})
                yield second.model_copy(update={"p_value": known(p[1][i])})
                yield change


def share_dimensions(first: pa.Table, second: pa.Table) -> Iterator[SharedDimension]:
    """The dimensions of which both tables have the same sentences of at least two groups.

    A dimension is compared with that of the second table which has the same groups: of the same name, or the same with
    or without held-out groups. If the groups of the same name differ, the groups that both have are another dimension,
    named after them: an F over two groups never stands beside one over four.
    """
    groups = [_groups_of(table) for table in (first, second)]
    for name, own in groups[0].items():
        base = name.removesuffix(WITH_HELD_OUT)
        names = dict.fromkeys((name, base, f"{base}{WITH_HELD_OUT}"))
        same = next((other for other in names if groups[1].get(other) == own), None)
        if same is not None:
            yield from _share(first, second, name, same, name)
        shared = [group for group in own if group in groups[1].get(name, {})]
        if same != name and len(shared) > 1:
            listed = ", ".join(shared) if len(shared) <= _NAMED else f"{len(shared)} groups"
            yield from _share(first, second, name, name, dim.of_groups(name, listed))


def _groups_of(table: pa.Table) -> dict[str, dict[str, None]]:
    """The groups of each dimension that has at least two."""
    rows = table.group_by(["dimension", "group"], use_threads=False).aggregate([])
    found: dict[str, dict[str, None]] = {}
    for name, group in zip(rows["dimension"].to_pylist(), rows["group"].to_pylist(), strict=True):
        found.setdefault(name, {})[group] = None
    return {name: groups for name, groups in found.items() if len(groups) > 1}


def _share(first: pa.Table, second: pa.Table, name: str, other: str, called: str) -> Iterator[SharedDimension]:
    """A dimension of the first table and one of the second on the sentences that both have, under a new name."""
    tables = [t.filter(pc.equal(t["dimension"], n)) for t, n in ((first, name), (second, other))]
    wholes = [table.num_rows for table in tables]
    place = [table.column_names.index("dimension") for table in tables]
    named = [t.set_column(i, "dimension", pa.array([called] * t.num_rows, pa.string()))
             for t, i in zip(tables, place, strict=True)]  # fmt: skip
    parts = _shared_rows(*named)
    if parts[0].num_rows and len(pc.unique(parts[0]["group"])) > 1:
        yield _both_known(
            name, *(_without_order(dim.read_dimensions(part)[0], part.num_rows == wholes[0]) for part in parts)
        )


def _shared_rows(first: pa.Table, second: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows of both tables with the same dimension, group, sentence and id, in the order of the first."""
    names = [n for n in (*GROUPED.key, *dim.IDS) if all(n in table.column_names for table in (first, second))]
    columns = [*names, "perplexity"]
    shared = match_rows(first, second, replace(GROUPED, key=tuple(names)))
    return shared.rows(first.select(columns), second.select(columns))


def _without_order(dimension: Dimension, complete: bool) -> Dimension:
    """Rows that are paired by their order are paired only if none of the table is left out."""
    return dimension if complete or dimension.by != "order" else replace(dimension, by="none")


def _both_known(of: str, first: Dimension, second: Dimension) -> SharedDimension:
    missing = np.isnan(first.perplexity) | np.isnan(second.perplexity)
    one, other = (replace(d, perplexity=np.where(missing, np.nan, d.perplexity)) for d in (first, second))
    return SharedDimension(one, other, of)


def _statistics(
    values: GroupValues, groups: Sequence[str], seed: int | None
) -> Iterator[tuple[str, dict[str, str], Floats]]:
    """The statistics of a table, or with a seed of draws with a first axis: name, further keys and values."""
    if seed is None:
        known = ~np.isnan(values.values)
        mean = divide(np.where(known, values.values, 0.0).sum(axis=0), known.sum(axis=0))
        of_all = Statistics.of(values.sums(), in_pairs=values.in_pairs)
    else:
        drawn = draw_sentences(values, np.random.default_rng(seed))
        of_all, mean = drawn.statistics, drawn.mean
    yield "f", {}, of_all.f
    yield "eta_squared", {}, of_all.eta_squared
    yield "mean_abs_t", {"test": "unpaired"}, of_all.unpaired
    yield "mean_abs_t", {"test": "paired"}, of_all.paired
    yield "mean", {}, mean.mean(axis=-1)
    for g, group in enumerate(groups):
        yield "mean", {"group": group}, mean[..., g]


def perplexity_changes(first: View, second: View, settings: MeasureSettings) -> Iterator[Figure]:
    """The figures ``first``, ``second`` and ``change`` of each dimension and scale, on sentences that both runs share.

    F has the keys ``dimension`` and ``scale``; ``eta_squared``, ``mean_abs_t`` (with ``test``) and ``mean`` (with
    ``group``, or over all groups) have also the key ``figure``. The interval of a change draws sentences with their
    values of both runs. The t of every pair has the key ``figure`` too, and the groups as ``first`` and ``second``; its
    p-values are corrected over the pairs, and its change has no test. Raises ``SelectionError`` if the runs share no
    dimension.
    """
    shared = list(share_dimensions(first.answers, second.answers))
    if not shared:
        raise SelectionError("the runs have no dimension with sentences of two groups in common")
    for both in shared:
        for scale in dim.SCALES:
            yield from both.changes(scale, settings.seed)
            yield from both.pairs(scale)
    yield from _unshared(first.figures, second.figures, {both.of for both in shared})


def _unshared(first: Figures, second: Figures, shared: set[str]) -> Iterator[Figure]:
    """The F of dimensions that the runs do not share; their change is not defined."""
    alone: dict[tuple[str, ...], dict[str, str]] = {}
    for name, figures in (("first", first), ("second", second)):
        for figure in figures.by(NAME, "f", "dimension", "scale"):
            name_of = figure.keys["dimension"]
            if not {name_of, name_of.removesuffix(WITH_HELD_OUT)} & shared:
                alone[tuple(figure.keys.values())] = figure.keys
                yield figure.model_copy(update={"name": name, "of": "f"})
    for keys in alone.values():
        yield make_figure(NAME, "change", keys, None, f"{F} difference", 0, of="f")
