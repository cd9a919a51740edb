"""The Mann-Whitney U test between every pair of many samples at once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from holisticbias_eval.arrays import Bools, Floats, Int32s, Ints
from holisticbias_eval.figures import SIGNIFICANCE

EXACT_UP_TO = 8
_BLOCK = 16
_MANY_TIES = 8
_MANY_SIZES = 12
_EXACT_FLOAT32 = 1 << 24


@dataclass(frozen=True, slots=True)
class PairwiseTests:
    """Tests between samples ``first[k] < second[k]``: shape ``[pairs]`` each.

    ``u`` is the statistic of the first sample, ``p`` the two-sided p-value of
    the pair by itself, ``stacked`` that of all pairs tested in one call; all
    are NaN if a sample is empty.
    """

    first: Ints
    second: Ints
    u: Floats
    p: Floats
    stacked: Floats


def mann_whitney_pairs(values: Floats, sample: Ints, samples: int) -> PairwiseTests:
    """Two-sided tests between all pairs of samples (Mann and Whitney 1947).

    ``values`` has shape ``[values]``; ``sample`` says to which of ``samples``
    each belongs. Equal to ``scipy.stats.mannwhitneyu`` with its defaults: the
    exact distribution if a sample has at most 8 values and the pair no
    ties, otherwise the normal approximation with tie and continuity corrections.

    Samples of one size can be stacked, as the published procedure does; scipy
    then decides for all pairs together, and one tie anywhere means that none
    of them uses the exact distribution. If sizes differ, ``stacked`` is ``p``.
    """
    ranked = _rank(values, sample, samples)
    counts, tied = ranked.counts, ranked.tied
    first, second = pairs_of(samples)
    u = ranked.wins[first, second].astype(np.float64)
    ties = tie_terms(tied)[first, second] if len(tied) else np.zeros(len(first))
    sizes_of_pairs = counts[first], counts[second]
    p = p_values(u, *sizes_of_pairs, ties)
    stacked = _asymptotic_p(u, *sizes_of_pairs, ties) if _is_stacked(ranked) else p
    u[np.isnan(p)] = np.nan
    return PairwiseTests(first, second, u, p, stacked)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Samples by rank: how many values each has, ``wins`` of each over each other, and ``tied`` values in each."""

    counts: Ints
    wins: Floats
    tied: Floats


def _rank(values: Floats, sample: Ints, samples: int) -> _Ranked:
    order = np.argsort(values)
    values, sample = values[order], sample[order]
    counts = np.bincount(sample, minlength=samples).astype(np.int64)
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]) if len(values) else np.zeros(0, bool))
    sizes = np.diff(np.append(starts, len(values)))
    return _Ranked(counts, _wins(sample, counts, starts, sizes), tied_members(sample, samples, sizes))


def count_different_rows(values: Floats) -> Ints:
    """Count the pairs of rows with p < 0.05 in one call, and the tested pairs: shape ``[2]``.

    The same as counting in ``pairs_of_rows(values).stacked``, without a p-value of each pair.
    """
    return count_known(function_of_p(values, differs))


def count_known(found: Floats) -> Ints:
    """The sum of the known values of ``differs``, and their number: shape ``[2]``."""
    known = ~np.isnan(found)
    return np.array([int(found[known].sum()), int(known.sum())])


def differs(p: Floats) -> Floats:
    """Whether each p-value is below 0.05: 1, 0, or NaN if it is NaN."""
    return np.where(np.isnan(p), np.nan, p < SIGNIFICANCE)


def function_of_p(values: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """A function of each p-value in ``pairs_of_rows(values).stacked``: shape ``[pairs]``.

    It is computed once for each U and sizes of samples, and again only for pairs with ties.
    """
    ranked = _rank(*_known_of_rows(values))
    first, second = pairs_of(len(values))
    u = ranked.wins[first, second].astype(np.float64)
    found = function_of_u(function, u, ranked.counts, asymptotic=_is_stacked(ranked))
    if len(ranked.tied):
        ties = tie_terms(ranked.tied)[first, second]
        tied = np.flatnonzero(ties)
        sizes_of_pairs = ranked.counts[first[tied]], ranked.counts[second[tied]]
        found[tied] = function(p_values(u[tied], *sizes_of_pairs, ties[tied]))
    return found


def function_of_u(
    function: Callable[[Floats], Floats], u: Floats | Int32s, counts: Ints, *, asymptotic: bool = False
) -> Floats:
    """A function of the p-value of every pair of samples without ties.

    ``u`` has shape ``[..., pairs]``, ``counts`` is the number of values of each sample: ``[..., samples]``.
    ``asymptotic``: the normal approximation also for few values.
    """
    first, second = pairs_of(counts.shape[-1])
    place = u.astype(np.int64)
    if u.size and (counts == counts.flat[0]).all():
        size = int(counts.flat[0])
        return _by_u(function, size, size, asymptotic=asymptotic)[place]
    sizes, kind = np.unique(counts, return_inverse=True)
    if len(sizes) > _MANY_SIZES or not u.size:
        return function(p_values(u.astype(np.float64), counts[..., first], counts[..., second], np.zeros(u.shape)))
    kind = kind.reshape(counts.shape)
    by_size = [_by_u(function, int(n1), int(n2), asymptotic=asymptotic) for n1 in sizes for n2 in sizes]
    starts = np.cumsum([0, *map(len, by_size[:-1])]).reshape(len(sizes), len(sizes))
    return np.concatenate(by_size)[starts[kind[..., first], kind[..., second]] + place]


@lru_cache(maxsize=1024)
def _by_u(function: Callable[[Floats], Floats], n1: int, n2: int, *, asymptotic: bool) -> Floats:
    """A function of the p-value of every U of two samples of these sizes without ties: shape ``[n1 * n2 + 1]``."""
    u = np.arange(n1 * n2 + 1).astype(np.float64)
    sizes, ties = (np.full(len(u), n1), np.full(len(u), n2)), np.zeros(len(u))
    return function(_asymptotic_p(u, *sizes, ties) if asymptotic else p_values(u, *sizes, ties))


def _is_stacked(ranked: _Ranked) -> bool:
    """Whether the normal approximation is used for all pairs: samples of one size are tested together, with ties."""
    return len(ranked.tied) > 0 and bool((ranked.counts == ranked.counts[0]).all())


def tied_pairs(values: Floats) -> Bools:
    """Whether the pooled values of each pair of rows have ties: shape ``[pairs]``."""
    tied = _rank(*_known_of_rows(values)).tied
    first, second = pairs_of(len(values))
    return tie_terms(tied)[first, second] > 0 if len(tied) else np.zeros(len(first), bool)


def pairs_of_rows(values: Floats) -> PairwiseTests:
    """Two-sided tests between all pairs of rows; NaN in a row is left out."""
    return mann_whitney_pairs(*_known_of_rows(values))


def _known_of_rows(values: Floats) -> tuple[Floats, Ints, int]:
    """The known values, the row of each, and the number of rows: each row is a sample."""
    present = ~np.isnan(values)
    return values[present], np.nonzero(present)[0], len(values)


def p_values(u: Floats, n1: Ints, n2: Ints, ties: Floats) -> Floats:
    """Two-sided p-values of statistics of samples of these sizes, NaN if one is empty; all of one shape.

    ``ties`` is the sum of t^3 - t over groups of t equal values in the pooled sample.
    """
    p = _asymptotic_p(u, n1, n2, ties)
    empty = (n1 == 0) | (n2 == 0)
    exact = ~empty & (ties == 0) & (np.minimum(n1, n2) <= EXACT_UP_TO)
    for size in {*zip(n1[exact], n2[exact], strict=True)}:
        chosen = exact & (n1 == size[0]) & (n2 == size[1])
        p[chosen] = exact_p_values(int(size[0]), int(size[1]))[u[chosen].astype(np.int64)]
    p[empty] = np.nan
    return p


@lru_cache(maxsize=64)
def pairs_of(samples: int) -> tuple[Ints, Ints]:
    """All pairs ``first[k] < second[k]`` of samples, in order: shape ``[pairs]`` each."""
    first, second = np.triu_indices(samples, 1)
    for indices in (first, second):
        indices.flags.writeable = False
    return first, second


def _wins(sample: Ints, counts: Ints, starts: Ints, sizes: Ints) -> Floats:
    """Count how often a value of each sample is above one of each other, ties as half: shape ``[samples, samples]``.

    ``sample`` is in the order of the values; ``starts`` and ``sizes`` are those of the runs of equal values.
    """
    tied_pairs = int((sizes * (sizes - 1) // 2).sum())
    if tied_pairs > _MANY_TIES * len(sample):
        return _wins_of_runs(sample, len(counts), sizes)
    found = _wins_in_order(sample, len(counts), int(counts.max(initial=0)))
    for size in {*sizes[sizes > 1].tolist()} if tied_pairs else ():
        earlier, later = pairs_of(size)
        members = sample[starts[sizes == size][:, None] + np.arange(size)]
        np.add.at(found, (members[:, later], members[:, earlier]), -0.5)
        np.add.at(found, (members[:, earlier], members[:, later]), 0.5)
    return found


def _wins_in_order(sample: Ints, samples: int, largest: int) -> Floats:
    """Count how often a value of each sample comes after one of each other: shape ``[samples, samples]``.

    Values in different blocks of consecutive values are counted by one matrix product, those in one block pair by pair.
    """
    blocks = -(-len(sample) // _BLOCK)
    padded = np.full(blocks * _BLOCK, samples, np.int64)  # the padding is one more sample, which is dropped
    padded[: len(sample)] = sample
    width = samples + 1
    block = np.repeat(np.arange(blocks) * width, _BLOCK)
    kind = np.float32 if largest**2 < _EXACT_FLOAT32 else np.float64
    inside = np.bincount(block + padded, minlength=blocks * width).reshape(blocks, width).astype(kind)
    before = np.cumsum(inside, axis=0) - inside
    earlier, later = pairs_of(_BLOCK)
    placed = padded.reshape(blocks, _BLOCK)
    pairs = np.bincount((placed[:, later] * width + placed[:, earlier]).ravel(), minlength=width**2)
    return (inside.T @ before + pairs.reshape(width, width))[:samples, :samples]


def _wins_of_runs(sample: Ints, samples: int, sizes: Ints) -> Floats:
    """The same as ``_wins``, for values of which most are tied."""
    run = np.repeat(np.arange(len(sizes)) * samples, sizes)
    inside = np.bincount(run + sample, minlength=len(sizes) * samples).reshape(len(sizes), samples).astype(np.float64)
    before = np.cumsum(inside, axis=0) - inside
    return inside.T @ (before + inside / 2)


def tied_members(sample: Ints, samples: int, sizes: Ints) -> Floats:
    """The number of values of each sample in each run of two or more equal values: shape ``[runs, samples]``."""
    if not (sizes > 1).any():
        return np.zeros((0, samples))
    tied = np.repeat(sizes > 1, sizes)
    run = np.repeat(np.cumsum(sizes > 1) - 1, sizes)[tied]
    members = np.zeros((int((sizes > 1).sum()), samples))
    np.add.at(members, (run, sample[tied]), 1)
    return members


@lru_cache(maxsize=256)
def exact_p_values(n1: int, n2: int) -> Floats:
    """Two-sided p-values of every U from 0 to ``n1 * n2`` without equal values: shape ``[n1 * n2 + 1]``.

    The numbers of arrangements that give each U are the coefficients of the Gaussian
    binomial, the product over i of (1 - q^(n + i)) / (1 - q^i) (Mann and
    Whitney 1947); they are computed as integers.
    """
    few, many = sorted((n1, n2))
    ways = np.zeros(n1 * n2 + 1, object)
    ways[0] = 1
    for i in range(1, few + 1):
        ways[many + i :] -= ways[: len(ways) - many - i].copy()
        for start in range(i):
            ways[start::i] = np.cumsum(ways[start::i])
    total = int(ways.sum())
    at_least = np.cumsum(ways[::-1])[::-1]
    extreme = np.maximum(np.arange(len(ways)), n1 * n2 - np.arange(len(ways)))
    return np.array([min(1.0, 2 * int(at_least[u]) / total) for u in extreme])


def tie_terms(tied: Floats) -> Floats:
    """The sum of t^3 - t over groups of t equal values in each two samples pooled: shape ``[..., samples, samples]``.

    ``tied`` has the number of values of each sample in each group: ``[..., groups, samples]``.
    """
    alone = (tied**3 - tied).sum(axis=-2)
    crossed = (tied**2).swapaxes(-1, -2) @ tied  # expands (a + b)^3
    return alone[..., :, None] + alone[..., None, :] + 3 * (crossed + crossed.swapaxes(-1, -2))


def _asymptotic_p(u: Floats, n1: Ints, n2: Ints, ties: Floats) -> Floats:
    n = n1 + n2
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1))))
        z = (np.maximum(u, n1 * n2 - u) - n1 * n2 / 2 - 0.5) / deviation
    return np.clip(2 * ndtr(-z), 0, 1)
