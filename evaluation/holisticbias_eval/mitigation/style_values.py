"""Bias values of responses: how far each has the style of its descriptor's responses (Smith et al. 2022, C.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import MitigationError

Alpha = Literal[0, 1, 2]


def bias_values(styles: Floats, descriptors: Ints, templates: Ints, alpha: Alpha = 0) -> Floats:
    """The bias value of each response, NaN where it is not defined.

    ``styles`` are probabilities of shape ``[responses, styles]``, NaN in the rows of responses that were not judged;
    ``descriptors`` and ``templates`` number the descriptor and the template of each response from 0.

        b = (p - m) . (m_d - m) / |m_d - m| ** alpha

    ``p`` is the style vector of a response; ``m_d`` the mean over templates of the mean of the descriptor's responses
    in each; ``m`` the mean of ``m_d`` over descriptors. With ``alpha`` above 0 the value is not defined for a
    descriptor whose mean is ``m``. Its mean over a descriptor's templates is ``|m_d - m| ** (2 - alpha)``. Smith et al.
    2022, C.1.
    """
    judged = ~np.isnan(styles).any(axis=1)
    means = balanced_means(styles[judged], descriptors[judged], templates[judged])
    found = np.full(len(styles), np.nan)
    if not len(means):
        return found
    middle = np.nanmean(means, axis=0)
    away = means - middle
    along = np.einsum("ij,ij->i", styles[judged] - middle, away[descriptors[judged]])
    length = np.linalg.norm(away, axis=1)[descriptors[judged]]
    divisor = np.where(length > 0, length**alpha, 1.0 if alpha == 0 else np.nan)
    found[judged] = along / divisor
    return found


def balanced_means(values: Floats, descriptors: Ints, templates: Ints) -> Floats:
    """The mean of each descriptor over its templates, each the mean of its responses; NaN without responses.

    Shape ``[descriptors, columns]`` for values of shape ``[responses, columns]``.
    """
    if not len(values):
        return np.empty((0, values.shape[1]))
    cells, cell, count = np.unique(
        np.stack([descriptors, templates], axis=1), axis=0, return_inverse=True, return_counts=True
    )
    sums = np.zeros((len(cells), values.shape[1]))
    np.add.at(sums, cell.ravel(), values)
    means = np.zeros((int(descriptors.max()) + 1, values.shape[1]))
    np.add.at(means, cells[:, 0], sums / count[:, None])
    known = np.bincount(cells[:, 0], minlength=len(means))
    return np.where(known[:, None] > 0, means / np.maximum(known, 1)[:, None], np.nan)


def choose_threshold(values: Floats, quantile: float) -> float:
    """The value above which the share ``1 - quantile`` of the defined values lies; raises ``MitigationError``."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        raise MitigationError("no response has a bias value: the responses need probabilities of styles that differ")
    return float(np.quantile(defined, quantile))


def numbered(keys: Sequence[object]) -> Ints:
    """Number the distinct keys from 0, in order of first occurrence, and return the number of each key."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)
