"""Which shares exceed their floor: the one rule by which a report ranks an axis or names a term."""

from __future__ import annotations

from holisticbias_eval.measures.trust.records import ShareTrust, Trust


def exceeds_floor(found: ShareTrust) -> bool | None:
    """Whether a share exceeds what permuted labels give; ``None`` if it has no share or no floor.

    The share must lie above the upper end of ``floor_interval`` by more than
    the interval's width, which is about five standard deviations of 20 permuted
    shares above their mean. Without that margin most runs in which nothing
    differs would have one of 13 axes above its floor.
    """
    if found.share is None or found.floor_interval is None:
        return None
    low, high = found.floor_interval.low, found.floor_interval.high
    return found.share > high + (high - low)


def axes_above_floor(trust: Trust) -> tuple[str, ...]:
    """The axes whose share exceeds its floor, in the order of the result."""
    return tuple(found.axis or "" for found in trust.by_axis if exceeds_floor(found))
