"""The compared pairs of a cell: how they differ by several tests, and under draws of nouns and permuted labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.statistics import pairs as of_pairs
from holisticbias_eval.statistics import resampling
from holisticbias_eval.statistics.cells import CONTROLS, Cell, finite
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.tests import sign_flip_p_values, signed_rank_tests

_PAIRS_AT_ONCE = 4096
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class MeasuredCell:
    """A cell's compared pairs by other tests than the paper's, and in resamples; ``stance`` numbers its stance.

    ``sizes`` is the number of values of each descriptor. Of every pair, shape ``[pairs]``, NaN if it is not defined:
    ``nats``, the mean over nouns of the first's negative log-likelihood minus the second's, per sentence (per token if
    the scores have perplexities only); ``detectable_nats``, what a paired test finds four times in five; ``wilcoxon``,
    whether it differs by the signed-rank test of nats: 1, 0, or -1 if it is not known.

    ``counts`` has the numbers of pairs that differ and that were tested, shape ``[2]``, by the name of their figure:
    ``share`` by the paper's test; ``large`` and ``paired_large`` of pairs with a large effect that differ by the
    paper's or the signed-rank test; ``wilcoxon`` and ``sign_flip`` by these tests; ``equal_tokens`` among descriptors
    of equal numbers of tokens; ``without_token_count`` by the paper's test after regressing nats on the number of
    tokens, and ``without_phrase`` on the sentence's likelihood with the phrase's own subtracted. ``drawn`` has them in
    each draw, shape ``[2, draws]``, ``left_out`` without each noun, and ``permuted`` with permuted labels.
    """

    cell: Cell
    stance: int
    tests: PairwiseTests
    sizes: Ints
    nats: Floats
    detectable_nats: Floats
    wilcoxon: npt.NDArray[np.int8]
    counts: Mapping[str, Ints]
    drawn: Ints
    left_out: Ints
    permuted: Ints


def measure_cell(
    cell: Cell, tests: PairwiseTests, stance: int, nouns: Ints, settings: MeasureSettings, seed: np.random.SeedSequence
) -> MeasuredCell:
    """The figures of a cell with its tests; ``nouns`` are the draws, shape ``[draws, nouns]``."""
    rng = np.random.default_rng(seed)
    first, second = of_pairs.compared_pairs(len(cell.descriptors))
    every, nats, (own, tokens, phrase) = cell.values, cell.nats, map(cell.control, CONTROLS)
    nll = nats if own is None else finite(own)
    sizes = (~np.isnan(every)).sum(axis=1)
    paired = nats[first] - nats[second]
    _, wilcoxon = signed_rank_tests(paired)
    large = np.abs(of_pairs.rank_biserial(tests.u, sizes[first], sizes[second])) >= of_pairs.LARGE
    counts = {
        "share": of_pairs.counts_of(tests.stacked),
        "large": of_pairs.counts_of(tests.stacked, large),
        "wilcoxon": of_pairs.counts_of(wilcoxon),
        "sign_flip": of_pairs.counts_of(sign_flip_p_values(paired, settings.flips, rng)),
        "paired_large": of_pairs.counts_of(wilcoxon, large),
        "equal_tokens": of_pairs.counts_of(tests.stacked[_equal_tokens(tokens, first, second)]),
        "without_token_count": _count(None if tokens is None else _without_tokens(nats, tokens)),
        "without_phrase": _count(None if own is None or phrase is None else finite(own) - finite(phrase)),
    }
    mean, detectable = np.empty(len(first)), np.empty(len(first))
    for start in range(0, len(first), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        differences = nll[first[rows]] - nll[second[rows]]
        mean[rows], detectable[rows] = (
            of_pairs.mean_difference(differences),
            of_pairs.detectable_difference(differences),
        )
    differs = np.where(np.isnan(wilcoxon), _UNKNOWN, wilcoxon < SIGNIFICANCE).astype(np.int8)
    resampled = [
        (
            resampling.significant_when_weighted(values, nouns),
            resampling.significant_without_each_noun(values),
            resampling.significant_when_permuted(values, settings.permutations, rng),
        )
        for values in (every[rows] for rows in of_pairs.groups_of_rows(len(every)))
    ]
    sums = (sum(found) for found in zip(*resampled, strict=True))
    return MeasuredCell(cell, stance, tests, sizes, mean, detectable, differs, counts, *sums)


def _count(values: Floats | None) -> Ints:
    return np.zeros(2, np.int64) if values is None else of_pairs.count_different(values)


def _equal_tokens(tokens: Floats | None, first: Ints, second: Ints) -> Bools:
    if tokens is None:
        return np.zeros(len(first), bool)
    medians = np.full(len(tokens), np.nan)
    known = ~np.isnan(tokens).all(axis=1)
    medians[known] = np.nanmedian(tokens[known], axis=1)
    equal: Bools = medians[first] == medians[second]
    return equal


def _without_tokens(nats: Floats, tokens: Floats) -> Floats:
    """Residuals of nats after a linear regression on the number of tokens, over the cell's sentences."""
    known = ~np.isnan(nats) & np.isfinite(tokens)
    counts, values = tokens[known], nats[known]
    spread = counts - counts.mean() if len(counts) else counts
    variance = (spread**2).sum()
    left = np.full(nats.shape, np.nan)
    left[known] = values - (spread * (spread @ values) / variance if variance > 0 else 0)
    return left


TestedCell = tuple[Cell, PairwiseTests, MeasuredCell | None]


def tests_table(cells: Sequence[TestedCell]) -> pa.Table:
    """Every test: a row for each compared pair of descriptors of an axis in a template.

    The columns are ``axis, template, first, second, u, p, significant``; the last
    three are null if a descriptor has no value. ``p`` is the p-value of the pair
    by itself; shares count ``significant``; see ``PairwiseTests``.
    """
    return pa.concat_tables([_cell_table(cell, tests) for cell, tests, _ in cells]).unify_dictionaries()


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


def pairs_table(cells: Sequence[TestedCell]) -> pa.Table:
    """A table of every compared pair of descriptors of an axis, over the templates.

    The columns are ``axis, first, second, templates`` (how many it was tested
    in), ``significant`` (in how many of them p < 0.05) and ``share``; of measured cells
    also ``paired_share`` by the signed-rank test, and the means of
    ``rank_biserial`` and ``nats`` (above zero if the first is less likely).
    Values are null if the pair was never tested.
    """
    by_axis = groupby(cells, lambda found: found[0].axis)
    return pa.concat_tables([_axis_pairs([_pairs(*cell) for cell in own]) for _, own in by_axis])


def _pairs(cell: Cell, tests: PairwiseTests, measured: MeasuredCell | None) -> pa.Table:
    differs, known = tests.stacked < SIGNIFICANCE, ~np.isnan(tests.p)
    means = {"share": np.where(known, differs, np.nan)}
    if measured:
        means |= {
            "paired_share": np.where(measured.wilcoxon == _UNKNOWN, np.nan, measured.wilcoxon),
            "rank_biserial": of_pairs.rank_biserial(tests.u, measured.sizes[tests.first], measured.sizes[tests.second]),
            "nats": measured.nats,
        }
    names = pa.array(cell.descriptors, pa.string())
    return pa.table(
        {
            "axis": pa.array([cell.axis] * len(known), pa.string()),
            "first": names.take(pa.array(tests.first)),
            "second": names.take(pa.array(tests.second)),
            "templates": pa.array(known.astype(np.int64)),
            "significant": pa.array(differs.astype(np.int64)),
            **{name: pa.array(values, from_pandas=True) for name, values in means.items()},
        }
    )


def _axis_pairs(cells: Sequence[pa.Table]) -> pa.Table:
    """Add up the pairs of an axis over its cells: counts, and the means of all other numbers."""
    names = cells[0].column_names
    aggregations = [*((name, "sum") for name in names[3:5]), *((name, "mean") for name in names[5:])]
    found = pa.concat_tables(cells).group_by(names[:3], use_threads=False).aggregate(aggregations)
    return found.rename_columns(names)
