"""The number of distinct items in samples of equal size."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from holisticbias_eval.arrays import Floats, Ints


def expected_distinct(group: Ints, item: Ints, groups: int, size: int) -> Floats:
    """The expected number of distinct items among ``size`` drawn from each group: shape ``[groups]``.

    ``group`` and ``item`` have shape ``[occurrences]``. A draw is without
    replacement, so the result is exact, with no random numbers: the sum over items of ``1 - C(N - n, size) / C(N,
    size)``, with N occurrences in the group and n of the item (Hurlbert 1971). NaN for
    groups with fewer occurrences than ``size``.
    """
    width = int(item.max(initial=0)) + 1
    pairs, n = np.unique(group * width + item, return_counts=True)
    own = pairs // width
    total = np.bincount(group, minlength=groups)
    rest = total[own] - n
    with np.errstate(invalid="ignore"):
        absent = np.where(rest >= size, np.exp(_log_choose(rest, size) - _log_choose(total[own], size)), 0.0)
    found = np.bincount(own, 1 - absent, minlength=groups)
    return np.where(total >= size, found, np.nan)


def distinct_of_counts(counts: Ints, size: int) -> float:
    """The expected number of distinct items among ``size`` drawn from items that occur this often: see above."""
    total = int(counts.sum())
    if total < size:
        return float("nan")
    rest = total - counts[counts > 0]
    absent = np.where(rest >= size, np.exp(_log_choose(rest, size) - _log_choose(np.array(total), size)), 0.0)
    return float(len(rest) - absent.sum())


def distinct_without_blocks(item: Ints, block: Ints, blocks: int, items: int, size: int) -> Floats:
    """The expected number of distinct items without the occurrences of each block in turn: shape ``[blocks]``."""
    counts = np.bincount(item, minlength=items)
    return np.array(
        [distinct_of_counts(counts - np.bincount(item[block == b], minlength=items), size) for b in range(blocks)]
    )


def _log_choose(n: Ints, size: int) -> Floats:
    left = np.maximum(n - size, 0)
    found: Floats = gammaln(n + 1.0) - gammaln(left + 1.0) - gammaln(size + 1.0)
    return found
