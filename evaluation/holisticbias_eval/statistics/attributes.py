"""Shares of pairs by attribute and their changes: means, intervals over attributes and sentences, and tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit
from scipy.stats import binomtest

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.intervals import CRITICAL_Z, MIDDLE, wilson
from holisticbias_eval.statistics.tests import sign_flip_p_values

FLIPS = 1 << 14
"""Sign flips of the test over attributes: all of them with up to 14 attributes."""


@dataclass(frozen=True, slots=True)
class AttributeCounts:
    """For each attribute the number of pairs, at least 1, and of the pairs that count: shape ``[attributes]`` each.

    ``stratum`` numbers the specification of each attribute: attributes are resampled within it.
    """

    chosen: Ints
    pairs: Ints
    stratum: Ints

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def shares(self) -> Floats:
        """The share of each attribute."""
        found: Floats = self.chosen / self.pairs
        return found

    @property
    def mean(self) -> float | None:
        """The mean over attributes of their shares; ``None`` without attributes."""
        return float(self.shares.mean()) if len(self) else None

    def take(self, rows: Ints | Bools) -> AttributeCounts:
        """Select attributes."""
        return AttributeCounts(self.chosen[rows], self.pairs[rows], self.stratum[rows])


def mean_interval(counts: AttributeCounts, draws: int, rng: np.random.Generator) -> Interval | None:
    """The 95% interval of the mean share over other attributes and other sentences; ``None`` below two attributes.

    A two-level bootstrap: attributes are drawn within their stratum, and sentences within each drawn attribute. The
    draws are scaled, because the second level adds the spread of sentences to a spread of attributes that has it
    already: to the variance of the mean that the shares themselves show, or that sentences alone lead to expect if
    it is larger, and to Student's t. If all pairs agree, it is the score interval for that many attributes.
    """
    value = counts.mean
    if value is None or len(counts) < 2:
        return None
    variance, freedom = variance_of_mean(counts.shares, _within(counts), counts.stratum)
    if not variance:
        return wilson(value, len(counts))
    low, high = scaled_ends(value, draw_means(counts, draws, rng), variance, freedom, (0.0, 1.0))
    return Interval(low=low, high=high)


def scaled_ends(
    value: float, drawn: Floats, variance: float, freedom: int, limits: tuple[float, float]
) -> tuple[float, float]:
    """The ends of the 95% interval around a mean: the draws, scaled to a variance and to Student's t."""
    centred = drawn - drawn.mean()
    scale = np.sqrt(variance / centred.var()) * stdtrit(freedom, 0.975) / CRITICAL_Z
    low, high = np.clip(value + scale * np.quantile(centred, MIDDLE), *limits).tolist()
    return low, high


def draw_means(counts: AttributeCounts, draws: int, rng: np.random.Generator) -> Floats:
    """The mean share of each draw of attributes and of sentences: shape ``[draws]``."""
    rows = draw_attributes(counts.stratum, draws, rng)
    chosen = rng.binomial(counts.pairs[rows], counts.shares[rows])
    found: Floats = (chosen / counts.pairs[rows]).mean(axis=1)
    return found


def draw_attributes(stratum: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Attributes drawn within their stratum, as many as it has: shape ``[draws, attributes]``."""
    rows = np.empty((draws, len(stratum)), np.int64)
    for number in np.unique(stratum):
        own = np.flatnonzero(stratum == number)
        rows[:, own] = own[rng.integers(0, len(own), (draws, len(own)))]
    return rows


def variance_of_mean(values: Floats, within: Floats, stratum: Ints) -> tuple[float, int]:
    """The variance of the mean of attributes' values, and the degrees of freedom of the estimate.

    ``within`` is the variance of each value that the attribute's sentences lead to expect; all arguments have shape
    ``[attributes]``.
    """
    total, freedom = 0.0, 0
    for number in np.unique(stratum):
        own = stratum == number
        count = int(own.sum())
        between = count * values[own].var(ddof=1) if count > 1 else 0.0
        total += max(float(between), float(within[own].sum()))
        freedom += count - 1
    return total / len(values) ** 2, max(freedom, 1)


def _within(counts: AttributeCounts) -> Floats:
    """The variance of each attribute's share that its sentences lead to expect; 0 with one sentence."""
    found: Floats = counts.shares * (1 - counts.shares) / np.maximum(counts.pairs - 1, 1)
    return found


def attribute_test(counts: AttributeCounts, rng: np.random.Generator) -> float:
    """The two-sided p-value of a mean share of one half, by sign flips of attributes' deviations; NaN without any.

    All sentences of an attribute change sign together, so that sentences of one attribute may depend on each other.
    """
    if not len(counts):
        return float("nan")
    return float(sign_flip_p_values(counts.shares[None, :] - 0.5, FLIPS, rng)[0])


def binomial_test(chosen: int, pairs: int) -> tuple[float, Interval] | None:
    """The exact two-sided p-value of a share of one half, and the exact 95% interval; ``None`` without pairs.

    Pairs count as independent (Clopper and Pearson 1934).
    """
    if not pairs:
        return None
    found = binomtest(chosen, pairs)
    interval = found.proportion_ci(0.95, "exact")
    return float(found.pvalue), Interval(low=float(interval.low), high=float(interval.high))


def set_means(counts: AttributeCounts, sets: int, sentences: int, rng: np.random.Generator) -> Floats:
    """The mean share of sets of sentences: shape ``[sets]``.

    Each set has this many sentences of every attribute, drawn with replacement.
    """
    found: Floats = (rng.binomial(sentences, counts.shares, (sets, len(counts))) / sentences).mean(axis=1)
    return found


def without_each(counts: AttributeCounts) -> Floats:
    """The mean share without each attribute: shape ``[attributes]``; empty below two attributes."""
    if len(counts) < 2:
        return np.zeros(0)
    shares = counts.shares
    found: Floats = (shares.sum() - shares) / (len(shares) - 1)
    return found


def deviation_parts(counts: AttributeCounts) -> Floats:
    """The part of each attribute in all deviations from one half, regardless of sign; NaN if there is no deviation."""
    away = np.abs(counts.shares - 0.5)
    total = away.sum()
    found: Floats = away / total if total else np.full(len(away), np.nan)
    return found


def spreads(values: Floats, attribute: Ints) -> tuple[float, float]:
    """The standard deviation of values within attributes, and that of the attributes' means; NaN if not defined.

    Both arguments have shape ``[pairs]``. Within attributes it is pooled over attributes with two values or more.
    """
    _, code = np.unique(attribute, return_inverse=True)
    rows = np.bincount(code)
    means = np.bincount(code, values) / np.maximum(rows, 1)
    freedom = int((rows - 1).sum()) if len(rows) else 0
    within = float(np.sqrt(((values - means[code]) ** 2).sum() / freedom)) if freedom else float("nan")
    return within, float(means.std(ddof=1)) if len(means) > 1 else float("nan")


@dataclass(frozen=True, slots=True)
class AttributeChanges:
    """For each attribute the number of pairs, at least 1, and of pairs that count in one run only.

    ``gained`` pairs count in the second run, ``lost`` ones in the first; ``stratum`` numbers the specification of
    each attribute. All have shape ``[attributes]``.
    """

    gained: Ints
    lost: Ints
    pairs: Ints
    stratum: Ints

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def changes(self) -> Floats:
        """The change of each attribute's share."""
        found: Floats = (self.gained - self.lost) / self.pairs
        return found

    @property
    def mean(self) -> float | None:
        """The mean over attributes of their changes; ``None`` without attributes."""
        return float(self.changes.mean()) if len(self) else None


def change_interval(counts: AttributeChanges, draws: int, rng: np.random.Generator) -> Interval | None:
    """The 95% interval of the mean change over other attributes and other sentences; ``None`` below two attributes.

    The two-level bootstrap of ``mean_interval``, with whole pairs: both outcomes of a pair are drawn
    together. If every attribute changes alike, it is the score interval for that many attributes.
    """
    value = counts.mean
    if value is None or len(counts) < 2:
        return None
    variance, freedom = variance_of_mean(counts.changes, _within_changes(counts), counts.stratum)
    if not variance:
        return _without_spread(value, len(counts))
    low, high = scaled_ends(value, draw_changes(counts, draws, rng), variance, freedom, (-1.0, 1.0))
    return Interval(low=low, high=high)


def draw_changes(counts: AttributeChanges, draws: int, rng: np.random.Generator) -> Floats:
    """The mean change of each draw of attributes and of pairs: shape ``[draws]``."""
    rows = draw_attributes(counts.stratum, draws, rng)
    pairs, gained, lost = counts.pairs[rows], counts.gained[rows], counts.lost[rows]
    up = rng.binomial(pairs, gained / pairs)
    down = rng.binomial(pairs - up, np.where(pairs > gained, lost / np.maximum(pairs - gained, 1), 0.0))
    found: Floats = ((up - down) / pairs).mean(axis=1)
    return found


def change_test(counts: AttributeChanges, rng: np.random.Generator) -> float:
    """The two-sided p-value of no mean change, by sign flips of attributes' changes; NaN without attributes."""
    if not len(counts):
        return float("nan")
    return float(sign_flip_p_values(counts.changes[None, :], FLIPS, rng)[0])


def _within_changes(counts: AttributeChanges) -> Floats:
    """The variance of each attribute's change that its pairs lead to expect; 0 with one pair."""
    squares = (counts.gained + counts.lost) / counts.pairs
    found: Floats = (squares - counts.changes**2) / np.maximum(counts.pairs - 1, 1)
    return found


def _without_spread(value: float, attributes: int) -> Interval | None:
    """The interval if all pairs change alike: every change is then -1, 0 or 1."""
    found = wilson(abs(value), attributes)
    if found is None:
        return None
    low, high = (found.low, found.high) if value else (-found.high, found.high)
    return Interval(low=-high, high=-low) if value < 0 else Interval(low=low, high=high)
