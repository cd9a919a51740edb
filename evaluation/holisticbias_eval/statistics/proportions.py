"""Shares of rows: intervals, and tests of groups against all rows."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, bdtrc

from holisticbias_eval.arrays import Floats, Ints


def stratified_p_values(values: Ints, group: Ints, stratum: Ints, groups: int) -> Floats:
    """Two-sided p-values of groups whose share of ones differs from what their strata lead to expect: ``[groups]``.

    ``values`` are 0 or 1; all arguments have shape ``[rows]``. A group's count is
    compared with a binomial distribution with the mean of the shares of its rows' strata: shares that differ between
    strata make the true distribution narrower (Hoeffding 1956), so the test is cautious. NaN for groups without rows.
    """
    strata = int(stratum.max(initial=-1)) + 1
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.bincount(stratum, values, strata) / np.bincount(stratum, minlength=strata)
        rows = np.bincount(group, minlength=groups)
        expected = np.bincount(group, shares[stratum], groups) / rows
    count = np.bincount(group, values, groups)
    known = rows > 0
    found = np.full(groups, np.nan)
    k, n, p = count[known], rows[known], np.clip(expected[known], 0.0, 1.0)
    at_least = np.where(k > 0, bdtrc(k - 1, n, p), 1.0)
    found[known] = np.minimum(2 * np.minimum(bdtr(k, n, p), at_least), 1.0)
    return found
