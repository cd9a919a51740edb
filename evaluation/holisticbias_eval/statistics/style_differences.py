"""Differences between a descriptor's mean probability of a label and that of all descriptors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.statistics.permuted_moments import upper_tail
from holisticbias_eval.statistics.response_cells import ResponseCells

_CONSTANT = 1e-12


@dataclass(frozen=True, slots=True)
class StyleDifferences:
    """Per descriptor and label, each template with equal weight: arrays of shape ``[descriptors, labels]``.

    ``mean`` is the mean probability over the templates in which the descriptor has
    responses, and ``difference`` the mean over templates of its difference from
    the mean of all descriptors there. ``p_value`` tests the
    difference; NaN if it is not defined. ``templates`` and ``responses`` count, per descriptor.
    """

    mean: Floats
    difference: Floats
    p_value: Floats
    templates: Ints
    responses: Ints


def compare_descriptors(cells: ResponseCells, values: Floats) -> StyleDifferences:
    """Compare each descriptor with all descriptors in the same templates.

    ``values`` has shape ``[responses, labels]``, in the order of ``cells``. The
    p-value is two-sided, for descriptors permuted among the responses of each
    template: exact first three moments, Pearson's type III distribution or a normal
    distribution, whichever gives the larger p-value. Rare labels have skewed means,
    for which a normal distribution alone names descriptors by chance.
    A template with one descriptor is left out of differences and tests.
    """
    means = cells.sums(values) / cells.count[:, None]
    centred, second, third = (np.zeros_like(means) for _ in range(3))
    compared = np.zeros(len(means))
    for part, rows in cells.parts(cells.template):
        counts = cells.count[part]
        if len(counts) > 1:
            centred[part] = means[part] - means[part].mean(axis=0)
            second[part], third[part] = _moments(values[rows], counts)
            compared[part] = 1
    size = len(cells.descriptors)
    templates = _by_descriptor(cells, compared[:, None], size)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = _by_descriptor(cells, means, size) / np.bincount(cells.descriptor, minlength=size)[:, None]
        difference = _by_descriptor(cells, centred, size) / templates
        variance = _by_descriptor(cells, second, size) / templates**2
        skew = _by_descriptor(cells, third, size) / templates**3 / variance**1.5
        z = difference / np.sqrt(variance)
    p_value = np.where(variance > _CONSTANT**2, _two_sided(z, np.nan_to_num(skew)), np.nan)
    responses = np.bincount(cells.descriptor, weights=cells.count, minlength=size).astype(np.int64)
    return StyleDifferences(mean, difference, p_value, templates[:, 0].astype(np.int64), responses)


def _two_sided(z: Floats, skew: Floats) -> Floats:
    """P-values of differences of ``z`` standard deviations.

    On its short side a type III distribution ends, and a sum of unequal weights does not: the tail of a normal
    distribution, which is longer there, is used if it is larger.
    """
    skewed = np.minimum(upper_tail(z, skew), upper_tail(-z, -skew))
    found: Floats = np.minimum(2 * np.maximum(skewed, ndtr(-np.abs(z))), 1)
    return found


def _moments(values: Floats, counts: Ints) -> tuple[Floats, Floats]:
    """Second and third moments of each cell's difference from the mean of all cells: ``[cells, labels]`` each.

    The difference is a sum of responses with fixed weights, which permutations reassign.
    """
    n, groups, v = len(values), len(counts), 1 / counts
    centred = values - values.mean(axis=0)
    own, other = 1 - 1 / groups, 1 / groups
    weight2 = own**2 * v + other**2 * (v.sum() - v)
    weight3 = own**3 * v**2 - other**3 * ((v**2).sum() - v**2)
    second = np.outer(weight2, (centred**2).sum(axis=0)) / (n - 1)
    third = np.outer(weight3, (centred**3).sum(axis=0)) * n / ((n - 1) * (n - 2)) if n > 2 else np.zeros_like(second)
    return second, third


def _by_descriptor(cells: ResponseCells, values: Floats, size: int) -> Floats:
    """Sum rows of cells by descriptor: ``[descriptors, columns]``."""
    found = np.zeros((size, values.shape[1]))
    np.add.at(found, cells.descriptor, values)
    return found
