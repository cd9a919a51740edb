"""Every pair of descriptors in every template: the paper's test, paired tests, effect sizes and confounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.statistics.cells import Cell, Crossing, finite
from holisticbias_eval.statistics.effects import detectable_difference, mean_difference, rank_biserial
from holisticbias_eval.statistics.mannwhitney import PairwiseTests, pairs_of, pairs_of_rows
from holisticbias_eval.statistics.signed_rank import sign_flip_p_values, wilcoxon_p_values

EFFECTS = ("paired_share", "rank_biserial", "nats")


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The pairs of one cell or of several: shape ``[pairs]`` each, NaN if a figure is not defined.

    ``p`` is the paper's test; ``wilcoxon`` and ``sign_flip`` are the p-values of
    the paired tests of nats; ``without_tokens`` is that of the paper's test after
    regressing nats on the number of tokens, and ``without_phrase`` that on the
    sentence's likelihood with the phrase's own subtracted. ``nats`` is the mean
    over nouns of the first's negative log-likelihood minus the second's, per
    sentence (per token if the scores have perplexities only);
    ``detectable_nats`` is what a paired test finds four times in five.
    """

    n1: Ints
    n2: Ints
    p: Floats
    rank_biserial: Floats
    nats: Floats
    detectable_nats: Floats
    wilcoxon: Floats
    sign_flip: Floats
    equal_tokens: Bools
    without_tokens: Floats
    without_phrase: Floats


def compare_pairs(cell: Cell, tests: PairwiseTests, flips: int, rng: np.random.Generator) -> PairFigures:
    """The figures of all pairs of a cell's descriptors; ``flips`` is the number of sign flips."""
    first, second = pairs_of(len(cell.descriptors))
    counts = (~np.isnan(cell.values)).sum(axis=1)
    paired = cell.nats[first] - cell.nats[second]
    nll = cell.nats if cell.nll is None else finite(cell.nll)
    per_sentence = nll[first] - nll[second]
    return PairFigures(
        n1=counts[first],
        n2=counts[second],
        p=tests.stacked,
        rank_biserial=rank_biserial(tests.u, counts[first], counts[second]),
        nats=mean_difference(per_sentence),
        detectable_nats=detectable_difference(per_sentence),
        wilcoxon=wilcoxon_p_values(paired),
        sign_flip=sign_flip_p_values(paired, flips, rng),
        equal_tokens=_equal_tokens(cell, first, second),
        without_tokens=_test(_without_tokens(cell), first),
        without_phrase=_test(_without_phrase(cell), first),
    )


def join(figures: list[PairFigures]) -> PairFigures:
    """The pairs of several cells as one."""
    return PairFigures(
        **{name: np.concatenate([getattr(f, name) for f in figures]) for name in PairFigures.__dataclass_fields__}
    )


def by_pair(crossing: Crossing, tests: Sequence[PairwiseTests], effects: Sequence[PairFigures] | None) -> pa.Table:
    """A table of every pair of descriptors of an axis, over the templates.

    The columns are ``axis, first, second, templates`` (how many it was tested
    in), ``significant`` (in how many of them p < 0.05) and ``share``; with
    effects also ``paired_share`` by the signed-rank test, and the means of
    ``rank_biserial`` and ``nats`` (above zero if the first is less likely).
    Values are null if the pair was never tested.
    """
    parts = []
    for i, (cell, own) in enumerate(zip(crossing.cells, tests, strict=True)):
        names = pa.array(cell.descriptors, pa.string())
        known = ~np.isnan(own.p)
        differs = own.stacked < SIGNIFICANCE
        columns = {
            "axis": pa.array([cell.axis] * len(own.p), pa.string()),
            "first": names.take(pa.array(own.first)),
            "second": names.take(pa.array(own.second)),
            "templates": pa.array(known.astype(np.int64)),
            "significant": pa.array(differs.astype(np.int64)),
            "share": pa.array(np.where(known, differs, np.nan), from_pandas=True),
        }
        parts.append(pa.table(columns if effects is None else {**columns, **_effects(effects[i])}))
    keys, sums = ["axis", "first", "second"], ["templates", "significant"]
    means = ["share", *(EFFECTS if effects else ())]
    grouped = pa.concat_tables(parts).group_by(keys, use_threads=False)
    found = grouped.aggregate([*((name, "sum") for name in sums), *((name, "mean") for name in means)])
    return found.rename_columns([*keys, *sums, *means])


def _effects(figures: PairFigures) -> dict[str, pa.Array]:
    paired = np.where(np.isnan(figures.wilcoxon), np.nan, figures.wilcoxon < SIGNIFICANCE)
    columns = zip(EFFECTS, (paired, figures.rank_biserial, figures.nats), strict=True)
    return {name: pa.array(values, from_pandas=True) for name, values in columns}


def _test(values: Floats | None, pairs: Ints) -> Floats:
    return np.full(len(pairs), np.nan) if values is None else pairs_of_rows(values).stacked


def _equal_tokens(cell: Cell, first: Ints, second: Ints) -> Bools:
    if cell.tokens is None:
        return np.zeros(len(first), bool)
    medians = np.array([np.median(row[~np.isnan(row)]) if (~np.isnan(row)).any() else np.nan for row in cell.tokens])
    equal: Bools = medians[first] == medians[second]
    return equal


def _without_phrase(cell: Cell) -> Floats | None:
    return None if cell.nll is None or cell.phrase_nll is None else finite(cell.nll) - finite(cell.phrase_nll)


def _without_tokens(cell: Cell) -> Floats | None:
    """Residuals of nats after a linear regression on the number of tokens, over the cell's sentences."""
    if cell.tokens is None:
        return None
    known = ~np.isnan(cell.nats) & np.isfinite(cell.tokens)
    tokens, values = cell.tokens[known], cell.nats[known]
    spread = tokens - tokens.mean() if len(tokens) else tokens
    variance = (spread**2).sum()
    left = np.full(cell.nats.shape, np.nan)
    left[known] = values - (spread * (spread @ values) / variance if variance > 0 else 0)
    return left
