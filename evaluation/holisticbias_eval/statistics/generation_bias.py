"""Variance of mean probabilities over descriptors, its sampling noise, and its intervals (Smith et al. 2022, A.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.permuted_moments import Moments, mean_of_moments, permuted_spread
from holisticbias_eval.statistics.response_cells import ResponseCells
from holisticbias_eval.statistics.response_noise import Noise, pool_noise, sampling_variance, sum_cells


@dataclass(frozen=True, slots=True)
class Part:
    """Some labels: their variances are added up, or, if ``summed``, their probabilities are before."""

    labels: Ints
    summed: bool = False

    def of(self, values: Floats) -> Floats:
        """The values of these labels: ``[responses, labels]``, one column if they are summed."""
        chosen = values[:, self.labels]
        return chosen.sum(axis=1, keepdims=True) if self.summed else chosen


@dataclass(frozen=True, slots=True)
class Bias:
    """The bias of some labels over templates; NaN if it is not defined.

    ``raw`` is the variance over descriptors (ddof 0) of the mean probability,
    summed over labels, mean over templates. ``corrected`` is the same without
    sampling noise, ``error`` its standard error, with ``freedom`` degrees.
    ``total`` is the variance of responses within templates, with equal weight for
    each descriptor, ``corrected_total`` without the noise of cells' means. ``floor``
    has the moments of ``raw`` with permuted descriptors. ``cells`` and
    ``templates`` are those counted.
    """

    raw: float
    corrected: float
    error: float
    freedom: int
    total: float
    corrected_total: float
    floor: Moments | None
    cells: int
    templates: int

    @property
    def interval(self) -> Interval | None:
        """The 95% interval of the corrected bias: Student's t."""
        return self.scaled_interval(1.0)

    def scaled_interval(self, scale: float) -> Interval | None:
        """The 95% interval of the corrected bias times a positive number."""
        if np.isnan(self.error) or np.isnan(self.corrected) or not self.freedom:
            return None
        margin = float(stdtrit(self.freedom, 0.975)) * self.error
        return Interval(low=scale * (self.corrected - margin), high=scale * (self.corrected + margin))


@dataclass(frozen=True, slots=True)
class _Spread:
    """The bias in one template, and what its standard error is made of: see ``sampling_variance``."""

    raw: float
    noise: float
    within: float
    unbiased_within: float
    linear: float
    quadratic: float
    freedom: int
    floor: Moments
    cells: int


def measure_bias(cells: ResponseCells, part: Part, by_axis: bool) -> tuple[Bias, dict[str, Bias]]:
    """The bias over all descriptors, and over the descriptors of each axis if ``by_axis``.

    Templates with fewer than two descriptors are left out.
    """
    over_all: list[_Spread] = []
    of_axes: dict[str, list[_Spread]] = {axis: [] for axis in cells.axes} if by_axis else {}
    for in_template, rows in cells.parts(cells.template):
        values, counts = part.of(cells.values[rows]), cells.count[in_template]
        noise = pool_noise(values, counts)
        if len(counts) > 1:
            over_all.append(_spread(values, counts, noise, noise))
        if by_axis:
            for axis, spread in _axis_spreads(values, counts, cells.axis[in_template], noise):
                of_axes[cells.axes[axis]].append(spread)
    return _mean(over_all), {axis: _mean(spreads) for axis, spreads in of_axes.items()}


def _axis_spreads(values: Floats, counts: Ints, axis: Ints, noise: Noise | None) -> list[tuple[int, _Spread]]:
    found = []
    ends = np.cumsum(counts)
    for a in np.unique(axis):
        own = np.flatnonzero(axis == a)
        if len(own) > 1:
            rows = slice(int(ends[own[0]] - counts[own[0]]), int(ends[own[-1]]))
            found.append((int(a), _spread(values[rows], counts[own], pool_noise(values[rows], counts[own]), noise)))
    return found


def _mean(spreads: Sequence[_Spread]) -> Bias:
    """The mean over templates, which are independent samples of responses."""
    if not spreads:
        return Bias(np.nan, np.nan, np.nan, 0, np.nan, np.nan, None, 0, 0)
    n = len(spreads)
    raw, noise, within, unbiased = (
        sum(getattr(s, name) for s in spreads) / n for name in ("raw", "noise", "within", "unbiased_within")
    )
    variance = max(sum(s.linear for s in spreads), 0.0) + sum(s.quadratic for s in spreads)
    return Bias(
        raw=raw,
        corrected=raw - noise,
        error=float(np.sqrt(variance)) / n,
        freedom=sum(s.freedom for s in spreads),
        total=raw + within,
        corrected_total=raw - noise + unbiased,
        floor=mean_of_moments([s.floor for s in spreads]),
        cells=sum(s.cells for s in spreads),
        templates=n,
    )


def _spread(values: Floats, counts: Ints, own: Noise | None, whole: Noise | None) -> _Spread:
    """The bias in one template: ``values`` has shape ``[responses, labels]``, sorted by descriptor.

    ``own`` is the noise of these cells and ``whole`` that of all cells of the
    template, which a cell of one response takes.
    """
    groups = len(counts)
    means = sum_cells(values, counts) / counts[:, None]
    difference = means - means.mean(axis=0)
    residuals = values - np.repeat(means, counts, axis=0)
    squares = sum_cells(np.einsum("ij,ij->i", residuals, residuals), counts)
    pooled = whole.variance if whole else np.nan
    variance = np.where(counts > 1, squares / np.maximum(counts - 1, 1), pooled)
    linear, quadratic = np.nan, np.nan
    noise = own or whole
    if noise:
        linear, quadratic = sampling_variance(difference, residuals, counts, noise)
    return _Spread(
        raw=float((difference**2).sum()) / groups,
        noise=(groups - 1) / groups * float((variance / counts).mean()),
        within=float((squares / counts).mean()),
        unbiased_within=float(variance.mean()),
        linear=linear,
        quadratic=quadratic,
        freedom=int((counts - 1).sum()),
        floor=permuted_spread(values, counts),
        cells=groups,
    )
