"""The pairs of descriptors of a share measure: their figures and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.statistics.cells import Cell, Crossing, finite
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.pairs import (
    LARGE,
    compared_pairs,
    count_different,
    counts_of,
    detectable_difference,
    mean_difference,
    rank_biserial,
)
from holisticbias_eval.statistics.tests import sign_flip_p_values, wilcoxon_p_values

_PAIRS_AT_ONCE = 4096
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The compared pairs of one cell: shape ``[pairs]`` each, NaN if a figure is not defined.

    ``sizes`` is the number of values of each descriptor. ``nats`` is the mean
    over nouns of the first's negative log-likelihood minus the second's, per
    sentence (per token if the scores have perplexities only);
    ``detectable_nats`` is what a paired test finds four times in five.
    ``wilcoxon`` says whether a pair differs by the signed-rank test of nats: 1,
    0, or ``UNKNOWN``.

    Counts have the numbers of pairs that differ and that were tested, shape
    ``[2]``: ``large`` and ``paired_large`` of pairs with a large effect that
    differ by the paper's or the signed-rank test; ``sign_flip`` by that test;
    ``equal_tokens`` among descriptors of equal numbers of tokens;
    ``without_tokens`` by the paper's test after regressing nats on the number of
    tokens, and ``without_phrase`` on the sentence's likelihood with the phrase's
    own subtracted.
    """

    sizes: Ints
    nats: Floats
    detectable_nats: Floats
    wilcoxon: npt.NDArray[np.int8]
    large: Ints
    paired_large: Ints
    sign_flip: Ints
    equal_tokens: Ints
    without_tokens: Ints
    without_phrase: Ints


def compare_pairs(cell: Cell, tests: PairwiseTests, flips: int, rng: np.random.Generator) -> PairFigures:
    """The figures of all compared pairs of a cell's descriptors; ``flips`` is the number of sign flips."""
    first, second = compared_pairs(len(cell.descriptors))
    sizes = (~np.isnan(cell.values)).sum(axis=1)
    nats, own = cell.nats, cell.nll
    nll = nats if own is None else finite(own)
    paired = nats[first] - nats[second]
    wilcoxon = wilcoxon_p_values(paired)
    flipped = counts_of(sign_flip_p_values(paired, flips, rng))
    large = np.abs(rank_biserial(tests.u, sizes[first], sizes[second])) >= LARGE
    mean, detectable = np.empty(len(first)), np.empty(len(first))
    for start in range(0, len(first), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        differences = nll[first[rows]] - nll[second[rows]]
        mean[rows], detectable[rows] = mean_difference(differences), detectable_difference(differences)
    equal = _equal_tokens(cell.tokens, first, second)
    return PairFigures(
        sizes=sizes,
        nats=mean,
        detectable_nats=detectable,
        wilcoxon=np.where(np.isnan(wilcoxon), UNKNOWN, wilcoxon < SIGNIFICANCE).astype(np.int8),
        large=_count_large(tests.stacked, large),
        paired_large=_count_large(wilcoxon, large),
        sign_flip=flipped,
        equal_tokens=counts_of(tests.stacked[equal]),
        without_tokens=_count(_without_tokens(nats, cell.tokens)),
        without_phrase=_count(_without_phrase(own, cell.phrase_nll)),
    )


def _count_large(p: Floats, large: Bools) -> Ints:
    return np.array([(large & (p < SIGNIFICANCE)).sum(), (~np.isnan(p)).sum()])


def _count(values: Floats | None) -> Ints:
    return np.zeros(2, np.int64) if values is None else count_different(values)


def _equal_tokens(tokens: Floats | None, first: Ints, second: Ints) -> Bools:
    if tokens is None:
        return np.zeros(len(first), bool)
    medians = np.full(len(tokens), np.nan)
    known = ~np.isnan(tokens)
    whole = known.all(axis=1)
    medians[whole] = np.median(tokens[whole], axis=1)
    for row in np.flatnonzero(known.any(axis=1) & ~whole):
        medians[row] = np.median(tokens[row, known[row]])
    equal: Bools = medians[first] == medians[second]
    return equal


def _without_phrase(nll: Floats | None, phrase_nll: Floats | None) -> Floats | None:
    return None if nll is None or phrase_nll is None else finite(nll) - finite(phrase_nll)


def _without_tokens(nats: Floats, tokens: Floats | None) -> Floats | None:
    """Residuals of nats after a linear regression on the number of tokens, over the cell's sentences."""
    if tokens is None:
        return None
    known = ~np.isnan(nats) & np.isfinite(tokens)
    counts, values = tokens[known], nats[known]
    spread = counts - counts.mean() if len(counts) else counts
    variance = (spread**2).sum()
    left = np.full(nats.shape, np.nan)
    left[known] = values - (spread * (spread @ values) / variance if variance > 0 else 0)
    return left


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
