"""The sentences that two runs share, and statistics of both on the same draws of sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats
from holisticbias_eval.measures.perplexities.dimensions import IDS, Dimension, Scale, read_dimensions
from holisticbias_eval.statistics.group_resampling import Statistics, draw_sentences, interval_of
from holisticbias_eval.statistics.group_variance import GroupValues

_KEY = ("dimension", "group", "sentence")


@dataclass(frozen=True, slots=True)
class Change:
    """A statistic of both runs and its 95% interval of the second minus the first; ``keys`` say which it is."""

    name: str
    keys: dict[str, str]
    first: float
    second: float
    ends: tuple[float, float] | None
    n: int


@dataclass(frozen=True, slots=True)
class SharedDimension:
    """The perplexities of one dimension in both runs, on cells that have one in both."""

    first: Dimension
    second: Dimension

    @property
    def known(self) -> int:
        """The number of perplexities that both runs have."""
        return int((~np.isnan(self.first.perplexity)).sum())

    @property
    def missing(self) -> int:
        """The number of shared rows without a perplexity in one of the runs."""
        return int(self.first.asked.sum()) - self.known

    def changes(self, scale: Scale, seed: int) -> Iterator[Change]:
        """The change of F, eta squared, the means of |t| and the means of groups; both runs draw the same sentences."""
        both = [dimension.values(scale) for dimension in (self.first, self.second)]
        values = [dict(_named(_statistics(one))) for one in both]
        drawn = [dict(_named(_drawn(one, seed))) for one in both]
        sentences = int((~np.isnan(both[0].values)).any(axis=1).sum())
        for name in values[0]:
            one, other = (float(v[name]) for v in values)
            ends = shifted_change(other - one, drawn[1][name] - drawn[0][name], sentences)
            figure, _, part = name.partition(" ")
            keys = {"test": part} if figure == "mean_abs_t" else {}
            if figure == "mean" and part:
                keys = {"group": self.first.groups[int(part)]}
            yield Change(figure, keys, one, other, ends, self.known)


def share_dimensions(first: pa.Table, second: pa.Table) -> Iterator[SharedDimension]:
    """The dimensions of which both tables have the same sentences of at least two groups."""
    one, other = _shared_rows(first, second)
    for name in pc.unique(one["dimension"]).to_pylist() if one.num_rows else ():
        chosen = pc.equal(one["dimension"], name)
        parts = [table.filter(chosen) for table in (one, other)]
        if len(pc.unique(parts[0]["group"])) > 1:
            whole = pc.sum(pc.equal(first["dimension"], name)).as_py()
            yield _both_known(*(_without_order(read_dimensions(part)[0], part.num_rows == whole) for part in parts))


def shifted_change(value: float, drawn: Floats, sentences: int) -> tuple[float, float] | None:
    """The interval of a change: draws are moved by their mean distance from it, as in ``shifted_interval``."""
    known = drawn[~np.isnan(drawn)]
    return interval_of(value, drawn - (known.mean() - value), sentences) if len(known) else None


def _shared_rows(first: pa.Table, second: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows of both tables with the same dimension, group, sentence and id, in the order of the first."""
    names = [n for n in (*_KEY, *IDS) if all(n in table.column_names for table in (first, second))]
    keys, others = ([tuple(row.values()) for row in t.select(names).to_pylist()] for t in (first, second))
    places = {key: row for row, key in enumerate(others)}
    found = [(row, places[key]) for row, key in enumerate(keys) if key in places]
    rows = [pa.array([pair[side] for pair in found], pa.int64()) for side in (0, 1)]
    columns = [*names, "perplexity"]
    return first.select(columns).take(rows[0]), second.select(columns).take(rows[1])


def _without_order(dimension: Dimension, complete: bool) -> Dimension:
    """Rows that are paired by their order are paired only if none of the table is left out."""
    return dimension if complete or dimension.by != "order" else replace(dimension, by="none")


def _both_known(first: Dimension, second: Dimension) -> SharedDimension:
    missing = np.isnan(first.perplexity) | np.isnan(second.perplexity)
    one, other = (replace(d, perplexity=np.where(missing, np.nan, d.perplexity)) for d in (first, second))
    return SharedDimension(one, other)


@dataclass(frozen=True, slots=True)
class _Statistics:
    """Statistics of a table and the means of its groups, or of draws with a first axis."""

    of_all: Statistics
    mean: Floats


def _statistics(values: GroupValues) -> _Statistics:
    sums, known = values.sums(), ~np.isnan(values.values)
    with np.errstate(invalid="ignore"):
        mean = np.where(known, values.values, 0.0).sum(axis=0) / known.sum(axis=0)
    return _Statistics(Statistics.of(sums, in_pairs=values.in_pairs), mean)


def _drawn(values: GroupValues, seed: int) -> _Statistics:
    found = draw_sentences(values, np.random.default_rng(seed))
    return _Statistics(found.statistics, found.mean)


def _named(found: _Statistics) -> Iterator[tuple[str, Floats]]:
    """Every statistic by name: ``mean`` is the mean over groups, ``mean 0`` that of the first group."""
    yield "f", found.of_all.f
    yield "eta_squared", found.of_all.eta_squared
    yield "mean_abs_t unpaired", found.of_all.unpaired
    yield "mean_abs_t paired", found.of_all.paired
    yield "mean", found.mean.mean(axis=-1)
    for g in range(found.mean.shape[-1]):
        yield f"mean {g}", found.mean[..., g]
