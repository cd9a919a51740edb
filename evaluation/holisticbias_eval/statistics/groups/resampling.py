"""Other sentences and permuted groups: intervals of F, t and means, and what chance makes of F and t."""

from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats, divide
from holisticbias_eval.statistics.groups.items import DRAWS, Items, resampled_sums, summarise
from holisticbias_eval.statistics.groups.moments import MomentSums, centred, mean_abs, moments
from holisticbias_eval.statistics.groups.pairs import permutations_for
from holisticbias_eval.statistics.groups.variance import GroupValues

_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of drawn or permuted tables: ``f``, ``eta_squared`` and the means of |t| have shape ``[tables]``."""

    f: Floats
    eta_squared: Floats
    unpaired: Floats
    paired: Floats

    @classmethod
    def of(cls, sums: MomentSums, *, in_pairs: bool = True) -> "Statistics":
        """The statistics of sums of shape ``[tables, columns]``."""
        none = np.full(sums.sums.shape[:-1], np.nan)
        t = (mean_abs(sums.unpaired_t()), mean_abs(sums.paired_t())) if in_pairs else (none, none)
        return cls(sums.f(), sums.eta_squared(), *t)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Bootstrap draws of sentences: the statistics, and the means of groups, shape ``[draws, groups]`` each.

    ``deviation`` is the mean of a group minus that of all groups on the sentences that all groups have, NaN if
    sentences are not paired.
    """

    statistics: Statistics
    mean: Floats
    deviation: Floats


def deviations(values: GroupValues) -> Floats:
    """Each value minus the mean of its sentence over groups; NaN for sentences without a value in every group."""
    found: Floats = values.values - values.values.mean(axis=1, keepdims=True)
    return found if values.paired else np.full_like(values.values, np.nan)


def draw_sentences(values: GroupValues, rng: np.random.Generator, draws: int = DRAWS) -> Drawn:
    """Draw sentences with replacement, with their values in all groups; if not paired, values within groups."""
    sums, means = _drawn_together(values, rng, draws) if values.paired else _drawn_apart(values, rng, draws)
    return Drawn(Statistics.of(sums, in_pairs=values.in_pairs), *means)


def _drawn_together(
    values: GroupValues, rng: np.random.Generator, draws: int
) -> tuple[MomentSums, tuple[Floats, Floats]]:
    k = values.groups
    parts = [moments(centred(values.values), pairs=values.in_pairs)]
    parts += [part for table in (values.values, deviations(values)) for part in _known_and_value(table)]
    columns = np.concatenate(parts, axis=1)
    drawn = next(resampled_sums(Items(columns, np.array([0, len(columns)])), draws, rng))
    known, value, complete, deviation = np.split(drawn[:, -4 * k :], 4, axis=1)
    return MomentSums(drawn[:, : -4 * k], k), (divide(value, known), divide(deviation, complete))


def _drawn_apart(values: GroupValues, rng: np.random.Generator, draws: int) -> tuple[MomentSums, tuple[Floats, Floats]]:
    moved, found = centred(values.values), []
    for g in range(values.groups):
        own = np.flatnonzero(~np.isnan(values.values[:, g]))
        columns = np.concatenate([moments(moved[own, g : g + 1], pairs=False), values.values[own, g : g + 1]], axis=1)
        found.append(next(resampled_sums(Items(columns, np.array([0, len(own)])), draws, rng)))
    count, total, squares, raw = np.stack(found, axis=2).swapaxes(0, 1)
    sums = MomentSums(np.concatenate([count, total, squares], axis=1), values.groups)
    return sums, (divide(raw, count), np.full_like(raw, np.nan))


def _known_and_value(values: Floats) -> tuple[Floats, Floats]:
    known = ~np.isnan(values)
    return known.astype(np.float64), np.where(known, values, 0.0)


def permute_groups(values: GroupValues, rng: np.random.Generator, permutations: int | None = None) -> Statistics:
    """Deal the values of each sentence out to its groups at random; if not paired, all values to all groups.

    Missing values stay where they are. The number of permutations falls with the number of sentences; see
    ``pairs.permutations_for``.
    """
    rows, groups = values.values.shape
    count = permutations_for(rows * groups) if permutations is None else permutations
    pairs = values.paired and values.in_pairs
    width = groups * (groups + 1) if pairs else groups
    step = max(1, _AT_ONCE // max(rows * width, 1))
    moved, found = centred(values.values), []
    for start in range(0, count, step):
        dealt = _dealt(moved, min(step, count - start), rng, within=values.paired)
        found.append(moments(dealt, pairs=pairs).sum(axis=1))
    return Statistics.of(MomentSums(np.concatenate(found), groups), in_pairs=values.in_pairs)


def _dealt(values: Floats, tables: int, rng: np.random.Generator, *, within: bool) -> Floats:
    """Permuted tables: shape ``[tables, sentences, groups]``."""
    rows = values if within else values.reshape(1, -1)
    known = ~np.isnan(rows)
    if known.all():
        found = rng.permuted(np.broadcast_to(rows, (tables, *rows.shape)), axis=2)
    else:
        order = np.argsort(np.where(known, rng.random((tables, *rows.shape)), 2.0), axis=2)
        places = np.broadcast_to(np.argsort(~known, axis=1, kind="stable"), order.shape)
        found = np.full(order.shape, np.nan)
        np.put_along_axis(found, places, np.take_along_axis(np.broadcast_to(rows, order.shape), order, axis=2), axis=2)
    return found.reshape(tables, *values.shape)


def interval_of(value: float, drawn: Floats, sentences: int) -> tuple[float, float] | None:
    """The 95% percentile interval of draws around a value, widened for the number of sentences; see ``summarise``."""
    found = summarise(np.array([value]), drawn[:, None], np.array([sentences]))
    return None if np.isnan(found.low[0]) else found.ends(0)


def shifted_interval(value: float, drawn: Floats, sentences: int, least: float = 0.0) -> tuple[float, float] | None:
    """The interval of a statistic with a least value that resampling raises, such as F or the mean of |t|.

    Means of groups vary between draws around means that vary already, so draws of F lie above F by as much as F lies
    above its value without sampling: draws are lowered by their mean distance from the value. ``None`` also if a few
    draws are so large that the interval would then not hold the value.
    """
    known = drawn[~np.isnan(drawn)]
    moved = np.maximum(drawn - (known.mean() - value), least) if len(known) else drawn
    found = interval_of(value, moved, sentences)
    return (max(found[0], least), found[1]) if found and found[0] <= value <= found[1] else None
