"""Shares of pairs by attribute and their changes: means, intervals over attributes and sentences, and tests."""

from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.intervals import CRITICAL_Z, MIDDLE, t_quantile, wilson
from holisticbias_eval.statistics.tests import sign_flip_p_values

FLIPS = 1 << 14
"""Sign flips of the test over attributes: all of them with up to 14 attributes."""


@dataclass(frozen=True, slots=True)
class AttributeCounts:
    """For each attribute the number of pairs, at least 1, and of the pairs that count: shape ``[attributes]`` each.

    ``stratum`` numbers the specification of each attribute: attributes are resampled within it. Changes between two
    runs have in ``chosen`` the pairs that count in the second run only, and in ``lost`` those in the first run only.
    """

    chosen: Ints
    pairs: Ints
    stratum: Ints
    lost: Ints | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def values(self) -> Floats:
        """The share of each attribute, or its change."""
        return (self.chosen if self.lost is None else self.chosen - self.lost) / self.pairs

    @property
    def within(self) -> Floats:
        """The variance of each value that the attribute's pairs lead to expect; 0 with one pair."""
        values, freedom = self.values, np.maximum(self.pairs - 1, 1)
        if self.lost is None:
            return values * (1 - values) / freedom
        return ((self.chosen + self.lost) / self.pairs - values**2) / freedom

    @property
    def mean(self) -> float | None:
        """The mean of the values; ``None`` without attributes."""
        return float(self.values.mean()) if len(self) else None

    def take(self, rows: Ints | Bools) -> "AttributeCounts":
        """Select attributes."""
        lost = None if self.lost is None else self.lost[rows]
        return AttributeCounts(self.chosen[rows], self.pairs[rows], self.stratum[rows], lost)


def mean_interval(counts: AttributeCounts, draws: int, rng: np.random.Generator) -> Interval | None:
    """The 95% interval of the mean over other attributes and other sentences; ``None`` below two attributes.

    A two-level bootstrap: attributes are drawn within their stratum, and pairs within each drawn attribute. The
    draws are scaled, because the second level adds the spread of sentences to a spread of attributes that has it
    already: to the variance of the mean that the values themselves show, or that sentences alone lead to expect if
    it is larger, and to Student's t. If all pairs are alike, it is the score interval for that many attributes.

    The interval of a change is Student's t of that variance. Draws of a few changed pairs are skewed away from 0, so
    that percentiles would exclude 0 after one change.
    """
    value = counts.mean
    if value is None or len(counts) < 2:
        return None
    variance, freedom = variance_of_mean(counts.values, counts.within, counts.stratum)
    if not variance:
        return _without_spread(value, counts)
    margin = np.sqrt(variance) * t_quantile(np.array(freedom))
    if counts.lost is not None:
        low, high = np.clip([value - margin, value + margin], -1.0, 1.0).tolist()
        return Interval(low=low, high=high)
    drawn = draw_means(counts, draws, rng)
    centred = drawn - drawn.mean()
    ends = value + margin / CRITICAL_Z * np.quantile(centred, MIDDLE) / centred.std()
    low, high = np.clip(ends, 0.0, 1.0).tolist()
    return Interval(low=low, high=high)


def _without_spread(value: float, counts: AttributeCounts) -> Interval | None:
    """The interval if all pairs are alike: every value is then 0 or 1, or -1."""
    interval = wilson(abs(value), len(counts))
    if interval is None or (counts.lost is None and not value):
        return interval
    if not value:
        return Interval(low=-interval.high, high=interval.high)
    return interval if value > 0 else -interval


def draw_means(counts: AttributeCounts, draws: int, rng: np.random.Generator) -> Floats:
    """The mean share of each draw of attributes and of their pairs: shape ``[draws]``."""
    rows = draw_attributes(counts.stratum, draws, rng)
    pairs = counts.pairs[rows]
    return (rng.binomial(pairs, counts.chosen[rows] / pairs) / pairs).mean(axis=1)


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


def attribute_test(counts: AttributeCounts, rng: np.random.Generator) -> float:
    """The two-sided p-value of a mean of one half, or of no mean change; NaN without attributes.

    By sign flips of attributes' deviations: all sentences of an attribute change sign together, so that they may
    depend on each other.
    """
    if not len(counts):
        return float("nan")
    return float(sign_flip_p_values(counts.values[None, :] - (0.5 if counts.lost is None else 0.0), FLIPS, rng)[0])


def binomial_test(chosen: int, pairs: int) -> tuple[float, Interval] | None:
    """The exact two-sided p-value of a share of one half, and the exact 95% interval; ``None`` without pairs.

    Pairs count as independent (Clopper and Pearson 1934).
    """
    from scipy.stats import binomtest

    if not pairs:
        return None
    found = binomtest(chosen, pairs)
    interval = found.proportion_ci(0.95, "exact")
    return float(found.pvalue), Interval(low=float(interval.low), high=float(interval.high))


def set_means(counts: AttributeCounts, sets: int, sentences: int, rng: np.random.Generator) -> Floats:
    """The mean share of sets of sentences: shape ``[sets]``.

    Each set has this many sentences of every attribute, drawn with replacement.
    """
    return (rng.binomial(sentences, counts.values, (sets, len(counts))) / sentences).mean(axis=1)


def without_each(counts: AttributeCounts) -> Floats:
    """The mean share without each attribute: shape ``[attributes]``; empty below two attributes."""
    if len(counts) < 2:
        return np.zeros(0)
    shares = counts.values
    return (shares.sum() - shares) / (len(shares) - 1)


def deviation_parts(counts: AttributeCounts) -> Floats:
    """The part of each attribute in all deviations from one half, regardless of sign; NaN if there is no deviation."""
    away = np.abs(counts.values - 0.5)
    total = away.sum()
    return away / total if total else np.full(len(away), np.nan)


def spreads(values: Floats, attribute: Ints) -> tuple[float, float, float]:
    """The mean of attributes' means, the standard deviation within attributes, and that of the means.

    Both arguments have shape ``[pairs]``. Within attributes it is pooled over attributes with two values or more. NaN
    if a result is not defined.
    """
    _, code, rows = np.unique(attribute, return_inverse=True, return_counts=True)
    means, freedom = np.bincount(code, values) / rows, len(values) - len(rows)
    within = float(np.sqrt(((values - means[code]) ** 2).sum() / freedom)) if freedom else float("nan")
    between = float(means.std(ddof=1)) if len(means) > 1 else float("nan")
    return float(means.mean()) if len(means) else float("nan"), within, between
