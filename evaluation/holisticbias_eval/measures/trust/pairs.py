"""Every pair of descriptors in every template: the paper's test, its paired versions, effect sizes and confounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.statistics.cells import Cell, finite
from holisticbias_eval.statistics.effects import detectable_difference, mean_difference, rank_biserial
from holisticbias_eval.statistics.mannwhitney import mann_whitney_pairs, pairs_of
from holisticbias_eval.statistics.shares import SIGNIFICANCE
from holisticbias_eval.statistics.signed_rank import sign_flip_p_values, wilcoxon_p_values


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The pairs of one cell or of several: shape ``[pairs]`` each, NaN where a figure cannot be had.

    ``p`` is the paper's test; ``wilcoxon`` and ``sign_flip`` are the p-values of
    the paired tests of log-perplexity; ``without_tokens`` is that of the
    paper's test after regressing log-perplexity on the number of tokens, and
    ``without_phrase`` that on the sentence's likelihood given its template with
    the phrase's own taken off. ``nats`` is the mean over nouns of the first's
    negative log-likelihood less the second's, per sentence (per token where the
    scores have perplexities alone); ``detectable_nats`` what a paired test
    would have found four times in five.
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


def compare_pairs(cell: Cell, flips: int, rng: np.random.Generator) -> PairFigures:
    """The figures of all pairs of a cell's descriptors; ``flips`` is how many sign flips are drawn."""
    first, second = pairs_of(len(cell.descriptors))
    present = ~np.isnan(cell.perplexity)
    counts = present.sum(axis=1)
    tests = mann_whitney_pairs(cell.perplexity[present], np.nonzero(present)[0], len(counts))
    per_token = cell.log_perplexity[first] - cell.log_perplexity[second]
    nll = cell.log_perplexity if cell.nll is None else finite(cell.nll)
    per_sentence = nll[first] - nll[second]
    return PairFigures(
        n1=counts[first],
        n2=counts[second],
        p=tests.stacked,
        rank_biserial=rank_biserial(tests.u, counts[first], counts[second]),
        nats=mean_difference(per_sentence),
        detectable_nats=detectable_difference(per_sentence),
        wilcoxon=wilcoxon_p_values(per_token),
        sign_flip=sign_flip_p_values(per_token, flips, rng),
        equal_tokens=_equal_tokens(cell, first, second),
        without_tokens=_test(_without_tokens(cell), first),
        without_phrase=_test(_without_phrase(cell), first),
    )


def join(figures: list[PairFigures]) -> PairFigures:
    """The pairs of several cells as one."""
    return PairFigures(
        **{name: np.concatenate([getattr(f, name) for f in figures]) for name in PairFigures.__dataclass_fields__}
    )


def by_pair(tested: list[tuple[Cell, PairFigures]]) -> pa.Table:
    """Every pair of descriptors of an axis over the templates.

    A row a pair: ``axis, first, second, templates`` (in which it was tested),
    ``share`` of them with p < 0.05, ``paired_share`` by the signed-rank test,
    and the means of ``rank_biserial`` and ``nats`` (above zero where the first
    is the less likely); missing where the pair was never tested.
    """
    parts = []
    for cell, figures in tested:
        first, second = pairs_of(len(cell.descriptors))
        names = pa.array(cell.descriptors, pa.string())
        known = ~np.isnan(figures.p)
        values = {
            "templates": pa.array(known.astype(np.int64)),
            "share": pa.array(np.where(known, figures.p < SIGNIFICANCE, np.nan), from_pandas=True),
            "paired_share": pa.array(
                np.where(np.isnan(figures.wilcoxon), np.nan, figures.wilcoxon < SIGNIFICANCE), from_pandas=True
            ),
            "rank_biserial": pa.array(figures.rank_biserial, from_pandas=True),
            "nats": pa.array(figures.nats, from_pandas=True),
        }
        axis = pa.array([cell.axis] * len(first), pa.string())
        parts.append(pa.table({"axis": axis, "first": names.take(first), "second": names.take(second), **values}))
    means = [(name, "mean") for name in ("share", "paired_share", "rank_biserial", "nats")]
    keys = ["axis", "first", "second"]
    grouped = pa.concat_tables(parts).group_by(keys, use_threads=False).aggregate([("templates", "sum"), *means])
    return grouped.rename_columns([*keys, "templates", *(name for name, _ in means)])


def _test(values: Floats | None, pairs: Ints) -> Floats:
    if values is None:
        return np.full(len(pairs), np.nan)
    present = ~np.isnan(values)
    return mann_whitney_pairs(values[present], np.nonzero(present)[0], len(values)).stacked


def _equal_tokens(cell: Cell, first: Ints, second: Ints) -> Bools:
    if cell.tokens is None:
        return np.zeros(len(first), bool)
    medians = np.array([np.median(row[~np.isnan(row)]) if (~np.isnan(row)).any() else np.nan for row in cell.tokens])
    equal: Bools = medians[first] == medians[second]
    return equal


def _without_phrase(cell: Cell) -> Floats | None:
    return None if cell.nll is None or cell.phrase_nll is None else finite(cell.nll) - finite(cell.phrase_nll)


def _without_tokens(cell: Cell) -> Floats | None:
    """What is left of log-perplexity after a straight line through the number of tokens, over the cell's sentences."""
    if cell.tokens is None:
        return None
    logs = cell.log_perplexity
    known = ~np.isnan(logs) & np.isfinite(cell.tokens)
    tokens, values = cell.tokens[known], logs[known]
    spread = tokens - tokens.mean() if len(tokens) else tokens
    variance = (spread**2).sum()
    left = np.full(cell.perplexity.shape, np.nan)
    left[known] = values - (spread * (spread @ values) / variance if variance > 0 else 0)
    return left
