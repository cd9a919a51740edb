"""Every compared pair of descriptors in every template: the paper's test, paired tests, effect sizes and confounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.statistics.cells import Cell, finite
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
