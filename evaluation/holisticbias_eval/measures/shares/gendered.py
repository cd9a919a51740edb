"""Pairs with a descriptor that goes with nouns of one gender, compared on the nouns that both have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import SIGNIFICANCE, Figure, Interval, make_figure
from holisticbias_eval.measures.shares.figures import Share
from holisticbias_eval.prompts.selection import is_gendered, stands_alone
from holisticbias_eval.statistics.cells import Cell, Compared, cross
from holisticbias_eval.statistics.intervals import middle_of
from holisticbias_eval.statistics.mannwhitney import p_values
from holisticbias_eval.statistics.pairs import ratios
from holisticbias_eval.statistics.resampling import ties_of_values

FEWEST = 4
"""Nouns that both descriptors of a pair need: with fewer no difference is significant."""
PAIRS, WITH = "gendered_pairs", "with_gendered"


def gendered_figures(
    measure: str, answers: pa.Table, value: Compared, published: Mapping[str, Share], permutations: int, seed: int
) -> Iterator[Figure]:
    """The share of pairs with a descriptor of one gender that differ, and the share with them and all other pairs.

    By axis, and without keys over all axes. A pair is tested as the others are, on the
    nouns that both descriptors have; ``missing`` counts the pairs with fewer than ``FEWEST``
    of them. In the floor the two descriptors are exchanged at random in each noun.
    ``published`` are the shares of the other pairs by axis. No figures without such descriptors.
    """
    gendered = {*answers["descriptor_id"].filter(is_gendered(answers)).cast(pa.string()).to_pylist()}
    if not gendered:
        return
    rows = answers.filter(pc.invert(stands_alone(answers)))
    axes = rows["axis"].cast(pa.string())
    some = pc.unique(axes.filter(pc.is_in(rows["descriptor_id"].cast(pa.string()), pa.array(sorted(gendered)))))
    crossing = cross(rows.filter(pc.is_in(axes, some)), value)
    if crossing.repeated:
        return
    rng = np.random.default_rng(seed)
    counted: dict[str, Ints] = {}
    for cell in crossing.cells:
        found = _count(cell, gendered, permutations, rng)
        counted[cell.axis] = counted.get(cell.axis, np.zeros_like(found)) + found
    for axis, counts in counted.items():
        yield from _figures(measure, {"axis": axis}, counts, [published[axis]] if axis in published else [])
    yield from _figures(measure, {}, np.sum([*counted.values()], axis=0), [*published.values()])


def _count(cell: Cell, gendered: set[str], permutations: int, rng: np.random.Generator) -> Ints:
    """Pairs that differ, tested pairs and all pairs, observed and in each permutation: ``[3, 1 + permutations]``."""
    values, total = cell.values, np.zeros((3, 1 + permutations), np.int64)
    marked = np.array([d in gendered for d in cell.descriptors])
    for place in np.flatnonzero(marked):
        # a pair of two such descriptors is counted once
        others = np.flatnonzero(~marked | (np.arange(len(values)) > place))
        columns = ~np.isnan(values[place])
        one = np.broadcast_to(values[place][columns], (len(others), int(columns.sum())))
        p = [_compare(one, values[others][:, columns])]
        for _ in range(permutations):
            swapped: Bools = rng.random(one.shape) < 0.5
            other = values[others][:, columns]
            p.append(_compare(np.where(swapped, other, one), np.where(swapped, one, other)))
        found = np.array(p)
        total[0] += (found < SIGNIFICANCE).sum(axis=1)
        total[1] += (~np.isnan(found)).sum(axis=1)
        total[2] += len(others)
    return total


def _compare(one: Floats, other: Floats) -> Floats:
    """The p-value of each row of two arrays, on the columns that both rows have; NaN with fewer than ``FEWEST``."""
    both = ~np.isnan(one) & ~np.isnan(other)
    one, other = np.where(both, one, np.nan), np.where(both, other, np.nan)
    above = (one[:, :, None] > other[:, None, :]).sum(axis=(1, 2))
    equal = (one[:, :, None] == other[:, None, :]).sum(axis=(1, 2))
    sizes = both.sum(axis=1)
    p = p_values(above + equal / 2, sizes, sizes, ties_of_values(one, other))
    return np.where(sizes >= FEWEST, p, np.nan)


def _figures(measure: str, keys: dict[str, str], counts: Ints, published: list[Share]) -> Iterator[Figure]:
    differing, tested, every = (int(row[0]) for row in counts)
    permuted = ratios(counts[:2, 1:])
    known = bool(permuted.size) and not np.isnan(permuted).any()
    floor: float | None = float(permuted.mean()) if known else None
    interval: Interval | None = middle_of(permuted) if known else None
    share = differing / tested if tested else None
    yield make_figure(
        measure, PAIRS, keys, share, "share", tested, every - tested, floor=floor, floor_interval=interval, of="share"
    )
    pairs, all_differing = tested + sum(s.pairs for s in published), differing + sum(s.significant for s in published)
    missing = every - tested + sum(s.untested for s in published)
    yield make_figure(
        measure, WITH, keys, all_differing / pairs if pairs else None, "share", pairs, missing, of="share"
    )
