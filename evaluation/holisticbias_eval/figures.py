"""Figures: what every measure gives back, one record for all of them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

P_RESOLUTION = 0.001
"""A smaller p-value is shown as below this: simulations do not test the tail further out."""


class Part(BaseModel):
    """A frozen part of a result; a key that it does not name is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Interval(Part):
    """From ``low`` to ``high``."""

    low: float
    high: float
