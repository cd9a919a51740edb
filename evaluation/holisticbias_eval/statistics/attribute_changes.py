"""Changes of outcomes of the same pairs by attribute: their mean, its interval, and a test of no change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.attribute_shares import (
    FLIPS,
    draw_attributes,
    scaled_ends,
    variance_of_mean,
)
from holisticbias_eval.statistics.intervals import wilson
from holisticbias_eval.statistics.signed_rank import sign_flip_p_values


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

    The two-level bootstrap of ``attribute_shares.mean_interval``, with whole pairs: both outcomes of a pair are drawn
    together. If every attribute changes alike, it is the score interval for that many attributes.
    """
    value = counts.mean
    if value is None or len(counts) < 2:
        return None
    variance, freedom = variance_of_mean(counts.changes, _within(counts), counts.stratum)
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


def _within(counts: AttributeChanges) -> Floats:
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
