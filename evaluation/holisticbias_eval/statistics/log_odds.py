"""Log-odds ratios with an informative prior."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from holisticbias_eval.arrays import Floats, Ints


def log_odds(count: Ints, rows: Ints, total: Ints, all_rows: int, prior: float) -> tuple[Floats, Floats]:
    """The log-odds ratio of a group against the rest, and its standard error (Monroe, Colaresi and Quinn 2008).

    ``count`` of ``rows`` texts of the group have a phrase, ``total`` of ``all_rows`` in all: shape ``[phrases]``
    each. Both sides are drawn to the overall share by ``prior`` further texts
    that have it in that share: ``delta = log(a / (n + prior - a)) - log(b / (m + prior - b))`` with ``a`` and ``b``
    the counts with those of the prior, and ``sqrt(1 / a + 1 / b)`` as error.
    """
    expected = prior * total / all_rows
    own, other = count + expected, total - count + expected
    ratio = np.log(own / (rows + prior - own)) - np.log(other / (all_rows - rows + prior - other))
    error: Floats = np.sqrt(1 / own + 1 / other)
    return ratio, error


def share_p_values(count: Ints, rows: Ints, total: Ints, all_rows: int) -> Floats:
    """The probability of at least this many of ``total`` texts in a group of ``rows`` by chance: ``[phrases]``.

    Each of the texts with the phrase is in the group with probability ``rows /
    all_rows``. This is exact for rare phrases, for which a normal
    approximation of the log-odds finds differences that are not there.
    """
    found: Floats = np.where(count > 0, betainc(np.maximum(count, 1), total - count + 1, rows / all_rows), 1.0)
    return found
