"""Tables of the compared pairs of descriptors: by test, and over the templates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Ints
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.measures.shares.pairs import UNKNOWN, PairFigures
from holisticbias_eval.statistics.cells import Cell, Crossing
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.pairs import rank_biserial

EFFECTS = ("paired_share", "rank_biserial", "nats")


def tests_table(crossing: Crossing, tests: Sequence[PairwiseTests]) -> pa.Table:
    """Every test: a row for each compared pair of descriptors of an axis in a template.

    The columns are ``axis, template, first, second, u, p, significant``; the last
    three are null if a descriptor has no value. ``p`` is the p-value of the pair
    by itself; shares count ``significant``; see ``PairwiseTests``.
    """
    found = [_cell_table(cell, own) for cell, own in zip(crossing.cells, tests, strict=True)]
    return pa.concat_tables(found).unify_dictionaries()


def _cell_table(cell: Cell, tests: PairwiseTests) -> pa.Table:
    one = np.zeros(len(tests.p), np.int64)
    return pa.table(
        {
            "axis": _named(one, [cell.axis]),
            "template": _named(one, [cell.template]),
            "first": _named(tests.first, cell.descriptors),
            "second": _named(tests.second, cell.descriptors),
            "u": pa.array(tests.u, from_pandas=True),
            "p": pa.array(tests.p, from_pandas=True),
            "significant": pa.array(tests.stacked < SIGNIFICANCE, mask=np.isnan(tests.p)),
        }
    )


def _named(places: Ints, names: Sequence[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(places.astype(np.int32), pa.array(names, pa.string()))


def pairs_table(crossing: Crossing, tests: Sequence[PairwiseTests], effects: Sequence[PairFigures] | None) -> pa.Table:
    """A table of every compared pair of descriptors of an axis, over the templates.

    The columns are ``axis, first, second, templates`` (how many it was tested
    in), ``significant`` (in how many of them p < 0.05) and ``share``; with
    effects also ``paired_share`` by the signed-rank test, and the means of
    ``rank_biserial`` and ``nats`` (above zero if the first is less likely).
    Values are null if the pair was never tested.
    """
    known: Sequence[PairFigures | None] = effects or [None] * len(tests)
    measured = zip(crossing.cells, tests, known, strict=True)
    return pa.concat_tables([_axis_pairs(list(cells)) for _, cells in groupby(measured, lambda found: found[0].axis)])


def _axis_pairs(measured: Sequence[tuple[Cell, PairwiseTests, PairFigures | None]]) -> pa.Table:
    parts = []
    for cell, tests, effects in measured:
        names = pa.array(cell.descriptors, pa.string())
        known = ~np.isnan(tests.p)
        differs = tests.stacked < SIGNIFICANCE
        columns = {
            "axis": _named(np.zeros(len(known), np.int64), [cell.axis]).cast(pa.string()),
            "first": names.take(pa.array(tests.first)),
            "second": names.take(pa.array(tests.second)),
            "templates": pa.array(known.astype(np.int64)),
            "significant": pa.array(differs.astype(np.int64)),
            "share": pa.array(np.where(known, differs, np.nan), from_pandas=True),
        }
        parts.append(pa.table(columns if effects is None else {**columns, **_effects(tests, effects)}))
    keys, sums = ["axis", "first", "second"], ["templates", "significant"]
    means = ["share", *(EFFECTS if measured[0][2] else ())]
    grouped = pa.concat_tables(parts).group_by(keys, use_threads=False)
    found = grouped.aggregate([*((name, "sum") for name in sums), *((name, "mean") for name in means)])
    return found.rename_columns([*keys, *sums, *means])


def _effects(tests: PairwiseTests, figures: PairFigures) -> dict[str, pa.Array]:
    paired = np.where(figures.wilcoxon == UNKNOWN, np.nan, figures.wilcoxon)
    effect = rank_biserial(tests.u, figures.sizes[tests.first], figures.sizes[tests.second])
    columns = zip(EFFECTS, (paired, effect, figures.nats), strict=True)
    return {name: pa.array(values, from_pandas=True) for name, values in columns}
