"""Moderated t tests: many means of few values each, whose variances are estimated together (Smyth 2004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma, stdtr

from holisticbias_eval.arrays import Floats
from holisticbias_eval.statistics.intervals import t_margin

_SMALLEST = 1e-5


@dataclass(frozen=True, slots=True)
class Means:
    """Means over raters and repeats with 95% intervals and two-sided p-values of "not zero": ``[items]`` each.

    An interval or p-value is NaN where nothing varies, or with fewer than three raters or two repeats.
    """

    mean: Floats
    low: Floats
    high: Floats
    p_value: Floats


def estimate_means(groups: Sequence[Floats]) -> list[Means]:
    """Estimate the mean of each item of each group, over raters and repeats.

    ``groups`` have shape ``[raters, items, repeats]``, NaN if missing.

    The variance of a mean has two parts. Between raters, it is that of the
    item's own raters, moderated: drawn towards the variance of its group, more
    strongly the more alike the variances of all items are. With three raters an
    item's own variance says little, and that of the group alone would let a
    single rater decide. Between repeats, it is that of the item's means over
    raters. Noise of single values is in both parts, so the intervals are too
    wide where that noise is most of the variance.
    """
    means = [np.nanmean(group, axis=2) for group in groups]
    few = [i for i, group in enumerate(groups) if group.shape[0] < 3 or group.shape[1] < 2 or group.shape[2] < 2]
    tested = [i for i in range(len(groups)) if i not in few]
    variances = moderate([means[i].var(axis=0, ddof=1) for i in tested], [len(means[i]) - 1 for i in tested])
    found = dict(zip(tested, variances, strict=True))
    return [_means(groups[i], mean.mean(axis=0), *found.get(i, (None, None))) for i, mean in enumerate(means)]


def _means(group: Floats, mean: Floats, variance: Floats | None, freedom: Floats | None) -> Means:
    unknown = np.full(len(mean), np.nan)
    if variance is None or freedom is None:
        return Means(mean, unknown, unknown, unknown)
    raters = len(group)
    known = (~np.isnan(group)).sum(axis=0)
    by_repeat = np.nansum(group, axis=0) / np.where(known > 0, known, np.nan)
    repeats = (known > 0).sum(axis=1)
    shared = np.nanvar(by_repeat, axis=1, ddof=1) / repeats
    degrees, margin = t_margin(variance / raters, freedom, shared, repeats - 1.0)
    error = np.sqrt(variance / raters + shared)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(degrees, -np.abs(mean) / error)
    varies = error > 0
    return Means(mean, *(np.where(varies, x, np.nan) for x in (mean - margin, mean + margin, p)))


def moderate(variances: Sequence[Floats], freedom: Sequence[int]) -> list[tuple[Floats, Floats]]:
    """Draw the variances of items towards their group's variance; return variances and degrees of freedom.

    Each group has its own variance; how alike the items of a group are
    (``prior``, in degrees of freedom) is estimated over all groups, from the
    variance of the logarithms within groups.
    """
    floored = [np.maximum(v, _SMALLEST * np.median(v[v > 0])) if (v > 0).any() else v for v in variances]
    varied = [i for i, v in enumerate(floored) if (v > 0).all()]
    logs = {i: np.log(floored[i]) for i in varied}
    prior = _prior([logs[i] for i in varied], [freedom[i] for i in varied])
    found = []
    for i, (own, degrees) in enumerate(zip(floored, freedom, strict=True)):
        most = degrees * (len(own) - 1.0)
        if i not in logs or np.isinf(prior):
            drawn, total = np.full(len(own), own.mean()), most
        else:
            typical = np.exp(logs[i].mean() - _log_bias(degrees) + _log_bias(prior))
            drawn, total = (prior * typical + degrees * own) / (prior + degrees), min(prior + degrees, most)
        found.append((drawn, np.full(len(own), total)))
    return found


def _prior(logs: Sequence[Floats], freedom: Sequence[int]) -> float:
    """Degrees of freedom of the variances' own distribution; infinite if they differ no more than by chance."""
    known = sum(len(group) - 1 for group in logs)
    if not known:
        return np.inf
    spread = sum(float(((group - group.mean()) ** 2).sum()) for group in logs)
    chance = sum((len(group) - 1) * float(polygamma(1, d / 2)) for group, d in zip(logs, freedom, strict=True))
    excess = (spread - chance) / known
    return 2 * _inverse_trigamma(excess) if excess > 0 else np.inf


def _log_bias(freedom: float) -> float:
    """The expected logarithm of a variance estimate minus the logarithm of the variance."""
    return float(digamma(freedom / 2) - np.log(freedom / 2))


def _inverse_trigamma(value: float) -> float:
    """The argument at which the trigamma function has a value, by Newton's method on its reciprocal."""
    found = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(polygamma(1, found))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, found))
        found += step
        if abs(step) < 1e-8 * found:
            break
    return found
