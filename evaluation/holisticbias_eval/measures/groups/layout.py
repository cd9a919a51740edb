"""Quantities of each method: the share of every class, and the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.groups.readings import Reading
from holisticbias_eval.statistics.groups.items import Side

SHARE, MEAN = "share", "mean"


@dataclass(frozen=True, slots=True)
class Quantity:
    """The share of a class, or the mean if there is no class, of one method; ``reading`` is its place."""

    method: Method
    reading: int
    cls: str | None

    @property
    def name(self) -> str:
        """The name of its figures."""
        return MEAN if self.cls is None else SHARE

    @property
    def keys(self) -> dict[str, str]:
        """The keys of its figures besides domain and group."""
        return self.method.keys if self.cls is None else {"class": self.cls, **self.method.keys}

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return self.method.unit if self.cls is None else SHARE


@dataclass(frozen=True, slots=True)
class Layout:
    """Quantities, and the columns of rows whose sums they are quotients of: ``[rows, columns]``.

    The first column, ``first`` among those of all layouts, says which rows were chosen. ``squares`` are the columns of
    squared values, one for each quantity.
    """

    quantities: tuple[Quantity, ...]
    columns: Floats
    side: Side
    squares: Ints
    first: int

    @property
    def shares(self) -> Bools:
        """Whether each quantity is a share: shape ``[quantities]``."""
        return np.array([q.cls is not None for q in self.quantities], bool)

    def row_variance(self, sums: Floats) -> Floats:
        """The variance of each mean if rows are independent, NaN for shares: ``[groups, quantities]``."""
        rows, total = sums[:, self.side.denominators], sums[:, self.side.numerators]
        squares = sums[:, self.squares]
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.maximum(squares - total**2 / rows, 0.0) / (rows - 1) / rows
        return np.where((rows > 1) & ~self.shares, found, np.nan)


def lay_out(readings: Sequence[Reading], chosen: Bools, offset: int = 0) -> Layout:
    """The columns of the chosen rows; other rows are 0. ``offset`` is the number of columns that stand before them."""
    quantities: list[Quantity] = []
    columns: list[Floats] = [chosen.astype(float)]
    numerators, denominators, squares = [], [], []
    for i, reading in enumerate(readings):
        known = chosen & ~np.isnan(reading.values)
        value = np.where(known, reading.values, 0.0)
        classed = chosen & (reading.class_codes >= 0)
        at = offset + len(columns)
        classes = range(len(reading.classes))
        columns += [known.astype(float), value, value**2, classed.astype(float)]
        columns += [(chosen & (reading.class_codes == c)).astype(float) for c in classes]
        quantities += [Quantity(reading.method, i, reading.classes[c]) for c in classes]
        quantities.append(Quantity(reading.method, i, None))
        numerators += [*(at + 4 + c for c in classes), at + 1]
        denominators += [*(at + 3 for _ in classes), at]
        squares += [at + 2] * (len(classes) + 1)
    side = Side(np.array(numerators), np.array(denominators))
    return Layout(tuple(quantities), np.stack(columns, axis=1), side, np.array(squares), offset)
