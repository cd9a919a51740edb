"""Effect sizes of differences between two descriptors, and the smallest effects that samples can show."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.statistics.mannwhitney import p_values

LARGE = 0.43
_POWER = 0.8
_LEVEL = 0.05


def rank_biserial(u: Floats, n1: Ints, n2: Ints) -> Floats:
    """How much more often the first sample's values are above than below the second's, between -1 and 1.

    ``2 U / (n1 n2) - 1`` (Cureton 1956; Kerby 2014), NaN if a sample is
    empty. An effect of 0.43 or more is called large (Vargha and Delaney 2000, who
    write it as 0.71 of the pairs of values).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        effect: Floats = 2 * u / (n1 * n2) - 1
    return effect


def detectable_rank_biserial(n1: Ints, n2: Ints) -> Floats:
    """The effect that a test at level 0.05 finds four times in five, by Noether's approximation (1987), at most 1."""
    with np.errstate(divide="ignore"):
        effect: Floats = (ndtri(1 - _LEVEL / 2) + ndtri(_POWER)) * np.sqrt((n1 + n2 + 1) / (3.0 * n1 * n2))
    return np.where(effect <= 1, effect, np.nan)


def smallest_significant_rank_biserial(n1: int, n2: int) -> float | None:
    """The smallest effect that is significant in two samples of these sizes without ties; ``None`` if no effect is."""
    u = np.arange((n1 * n2 + 1) // 2, n1 * n2 + 1).astype(np.float64)
    sizes = np.full(len(u), n1), np.full(len(u), n2)
    significant = np.flatnonzero(p_values(u, *sizes, np.zeros(len(u))) < _LEVEL)
    return float(rank_biserial(u, *sizes)[significant[0]]) if len(significant) else None


def detectable_difference(differences: Floats) -> Floats:
    """The mean difference over nouns that a paired test finds four times in five: shape ``[pairs]``.

    ``differences`` has shape ``[pairs, nouns]``; NaN with fewer than two.
    """
    count = (~np.isnan(differences)).sum(axis=1)
    centred = differences - mean_difference(differences)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(np.nansum(centred**2, axis=1) / (count - 1))
        found: Floats = (ndtri(1 - _LEVEL / 2) + ndtri(_POWER)) * deviation / np.sqrt(count)
    return np.where(count > 1, found, np.nan)


def mean_difference(differences: Floats) -> Floats:
    """The mean over the nouns that both descriptors have, NaN without any: shape ``[pairs]``."""
    count = (~np.isnan(differences)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: Floats = np.nansum(differences, axis=1) / count
    return mean
