"""Tests and intervals of how often one of two is chosen, over judgements and over prompts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, betaincinv

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.intervals import MIDDLE, expansion
from holisticbias_eval.statistics.resampling import noun_draws


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval and the two-sided p-value of one half; null without judgements."""

    value: float | None
    interval: Interval | None
    p_value: float | None


def exact_share(wins: int, count: int) -> Share:
    """The share of wins with the exact 95% interval and the exact binomial test, which take judgements as independent.

    The interval is that of Clopper and Pearson 1934.
    """
    if not count:
        return Share(None, None, None)
    losses = count - wins
    low = float(betaincinv(wins, losses + 1, 0.025)) if wins else 0.0
    high = float(betaincinv(wins + 1, losses, 0.975)) if losses else 1.0
    p_value = min(2 * float(bdtr(min(wins, losses), count, 0.5)), 1.0)
    return Share(wins / count, Interval(low=low, high=high), p_value)


def flip_p_value(differences: Ints) -> float | None:
    """The two-sided p-value of a sum of whole numbers if the sign of each is as likely + as -; null without numbers.

    ``differences`` are wins minus losses of each prompt, shape ``[prompts]``. The distribution is exact: that of all
    signs, by convolution. With differences of 1 and -1 it is the binomial test.
    """
    if not len(differences):
        return None
    sizes = np.abs(differences)
    chances = np.ones(1)
    for size in sizes.tolist():
        wider = np.zeros(len(chances) + 2 * size)
        wider[: len(chances)] += chances / 2
        wider[2 * size :] += chances / 2
        chances = wider
    sums = np.arange(len(chances)) - int(sizes.sum())
    return float(min(chances[np.abs(sums) >= abs(int(differences.sum()))].sum(), 1.0))


def clustered_interval(wins: Ints, counts: Ints, draws: int, seed: int) -> Interval | None:
    """The 95% bootstrap interval of the share of wins over prompts: wins and judgements per prompt, ``[prompts]`` each.

    Prompts are drawn with replacement; the deviations of the draws are widened for the number of prompts
    (``expansion``). Null with fewer than two prompts.
    """
    known = counts > 0
    wins, counts = wins[known], counts[known]
    if len(counts) < 2:
        return None
    weights = noun_draws(len(counts), draws, np.random.default_rng(seed))
    share = wins.sum() / counts.sum()
    drawn: Floats = (weights @ wins) / (weights @ counts)
    low, high = np.quantile(share + expansion(len(counts)) * (drawn - share), MIDDLE)
    return Interval(low=float(np.clip(low, 0, 1)), high=float(np.clip(high, 0, 1)))
