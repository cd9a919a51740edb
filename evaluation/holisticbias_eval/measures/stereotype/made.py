"""Make a figure of the stereotype score."""

from __future__ import annotations

import numpy as np

from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.measures.stereotype.outcomes import NAME


def figure(
    name: str,
    keys: dict[str, str],
    value: float | None,
    unit: str,
    n: int,
    missing: int = 0,
    *,
    interval: Interval | None = None,
    p_value: float | None = None,
    of: str | None = None,
) -> Figure:
    """A figure of this measure; NaN becomes null."""
    return Figure(
        measure=NAME,
        name=name,
        keys=keys,
        value=None if value is None or np.isnan(value) else float(value),
        unit=unit,
        interval=interval,
        p_value=None if p_value is None or np.isnan(p_value) else float(p_value),
        n=n,
        missing=missing,
        of=of,
    )
