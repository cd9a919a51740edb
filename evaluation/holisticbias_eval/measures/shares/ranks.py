"""The rank of each axis by its share, with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.measures.shares.records import AxisRank, RankFlip


def rank_axes(
    drawn: Mapping[str, Floats], worded: Mapping[str, Floats | None]
) -> tuple[tuple[AxisRank, ...], tuple[RankFlip, ...]]:
    """Rank the axes by their shares, the largest first, and count how often neighbours swap ranks.

    ``drawn`` has the shares of each axis over the bootstrap draws, their mean the
    share observed, and ``worded`` those over choices of wordings; shape
    ``[draws]`` and ``[choices]``. An axis whose share is undefined in some draw
    has no rank.
    """
    # shares that differ by rounding only are tied
    known = {a: np.round(shares, 12) for a, shares in drawn.items() if not np.isnan(shares).any()}
    observed = {a: round(float(shares.mean()), 9) for a, shares in known.items()}
    order = sorted(known, key=lambda a: -observed[a])
    ranks = tuple(_rank(axis, known, observed) for axis in order)
    flips = tuple(
        RankFlip(
            first=one,
            second=other,
            probability=float((known[other] > known[one]).mean()),
            probability_by_wording=_flipped(worded[one], worded[other]),
        )
        for one, other in pairwise(order)
    )
    return ranks, flips


def _rank(axis: str, known: Mapping[str, Floats], observed: Mapping[str, float]) -> AxisRank:
    places = np.sum([shares > known[axis] for shares in known.values()], axis=0) + 1.0
    low, high = np.quantile(places, [0.025, 0.975])
    return AxisRank(
        axis=axis,
        rank=1 + sum(share > observed[axis] for share in observed.values()),
        low=int(low),
        high=int(np.ceil(high)),
    )


def _flipped(one: Floats | None, other: Floats | None) -> float | None:
    return None if one is None or other is None else float((other > one).mean())
