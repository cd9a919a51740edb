"""95% intervals of shares, of values with a standard error, of resampled values and of differences."""

from typing import Any

import numpy as np
from scipy.special import stdtrit

from holisticbias_eval.arrays import ROUNDING, Floats, Ints, divide
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.tests import normal_p, student_p

CRITICAL_Z = 1.959963984540054
MIDDLE = (0.025, 0.975)


def estimate(value: float, error: float, freedom: float | None = None) -> tuple[Interval | None, float | None]:
    """The interval of a value with a standard error, and the two-sided p-value of 0.

    By Student's t with these degrees of freedom, at least 1, or without any by the normal distribution. ``None`` if the
    value or the error is NaN, or the error is 0 but for rounding: where nothing varies, nothing is known of what other
    items would give.
    """
    if not error > ROUNDING * abs(value):
        return None, None
    margin = error * (CRITICAL_Z if freedom is None else float(t_quantile(np.array(freedom))))
    interval = Interval.between(value - margin, value + margin)
    z = np.array(value / error)
    return interval, float(normal_p(z) if freedom is None else student_p(z, np.array(freedom)))


def standard_error(values: Floats) -> float:
    """The standard error of the mean of independent values, NaN with fewer than two."""
    return float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else np.nan


def t_quantile(freedom: Floats | Ints) -> Floats:
    """The 97.5% quantile of Student's t with at least one degree of freedom."""
    return stdtrit(np.maximum(freedom, 1), 0.975)


def t_margin(one: Floats, one_freedom: Floats, other: Floats, other_freedom: Floats) -> tuple[Floats, Floats]:
    """Degrees of freedom of a sum of two variances (Satterthwaite 1946), and half its interval."""
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom: Floats = (one + other) ** 2 / (one**2 / one_freedom + other**2 / other_freedom)
    freedom = np.where(one + other > 0, freedom, np.inf)
    return freedom, np.where(one + other > 0, stdtrit(freedom, 0.975) * np.sqrt(one + other), 0.0)


def expansion(clusters: int) -> float:
    """The factor that widens draws of this many clusters so that intervals have their nominal coverage.

    ``sqrt(n / (n - 1))`` times the 97.5% quantile of Student's t with n - 1
    degrees of freedom divided by the normal's: the expanded percentile interval
    (Hesterberg 2015). The factor of one cluster is 1: nothing is known of how clusters vary.
    """
    if clusters < 2:
        return 1.0
    return float(np.sqrt(clusters / (clusters - 1)) * t_quantile(np.array(clusters - 1)) / CRITICAL_Z)


def middle_of(values: Floats) -> Interval | None:
    """The middle 95% of the known values."""
    known = values[~np.isnan(values)]
    return Interval.between(*np.quantile(known, MIDDLE).tolist()) if len(known) else None


def floor_of(permuted: Floats) -> dict[str, Any]:
    """The floor of a figure: the mean of known permuted values, and the middle 95% of them; no floor without any."""
    known = permuted[~np.isnan(permuted)]
    return {"floor": float(known.mean()), "floor_interval": middle_of(known)} if len(known) else {}


def range_of(values: Floats) -> Interval | None:
    """The range of the known values; ``None`` if there are fewer than two."""
    known = values[~np.isnan(values)]
    return Interval.between(known.min(), known.max()) if len(known) > 1 else None


def wilson(share: float, rows: int) -> Interval | None:
    """The score interval of a share of independent rows (Wilson 1927); ``None`` without rows."""
    if not rows:
        return None
    ends = score_ends(np.array([share]), np.array([float(rows)]))
    return Interval.between(*(float(end[0]) for end in ends))


def score_interval(share: Floats, rows: Floats, items: Ints, effect: Floats) -> tuple[Floats, Floats]:
    """Score intervals of shares (Wilson 1927) at the effective number of rows, ``rows / effect``.

    Where an item has several rows, the normal quantile is replaced by Student's t with one degree of freedom less than
    there are items. NaN without rows, and if the effect is not known.
    """
    quantile = np.where(rows > items, t_quantile(items - 1), CRITICAL_Z)
    return score_ends(share, divide(rows, effect), quantile)


def score_ends(share: Floats, rows: Floats, quantile: Floats | float = CRITICAL_Z) -> tuple[Floats, Floats]:
    """Both ends of the score interval at any number of rows, NaN without rows."""
    squared = quantile**2
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (share + squared / (2 * rows)) / (1 + squared / rows)
        spread = share * (1 - share) / rows + squared / (4 * rows**2)
        half = quantile * np.sqrt(spread) / (1 + squared / rows)
    low, high = np.where(share == 0, 0.0, middle - half), np.where(share == 1, 1.0, middle + half)
    known = ~np.isnan(half)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def difference_interval(
    first: tuple[Floats, Floats, Floats], second: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats]:
    """The interval of a difference of independent values, each given with both ends of an interval.

    For Wilson intervals this is Newcombe's method 10 (1998), for others MOVER (Zou and Donner 2008).
    """
    (one, low1, high1), (other, low2, high2) = first, second
    difference = one - other
    return (
        difference - np.sqrt((one - low1) ** 2 + (high2 - other) ** 2),
        difference + np.sqrt((high1 - one) ** 2 + (other - low2) ** 2),
    )
