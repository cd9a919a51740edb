"""Medians of scored sentences by group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Int32s, Ints
from holisticbias_eval.statistics.cells import Compared, compared_values
from holisticbias_eval.statistics.coding import codes_of, codes_of_numbers, first_rows

DESCRIPTOR = ("axis", "descriptor_id")
IN_TEMPLATE = (*DESCRIPTOR, "template")


def group_medians(scores: pa.Table, by: Sequence[str] = IN_TEMPLATE, value: Compared = "perplexity") -> pa.Table:
    """The median of every group of sentences.

    A row for each group in order of appearance, with the columns of ``by``,
    ``descriptor``, ``median`` (null if no sentence has a value),
    ``median_tokens`` (of scored tokens; no column if ``scores`` has none),
    ``sentences`` (how many have a value) and ``missing`` (how many have none).
    """
    group, first = group_rows(scores, by)
    medians, counts = _medians(compared_values(scores, value), group, len(first))
    found = scores.select([*by, "descriptor"]).take(pa.array(first))
    found = found.append_column("median", pa.array(medians, from_pandas=True))
    if "tokens" in scores.column_names:
        tokens, _ = _medians(scores["tokens"].to_numpy().astype(np.float64), group, len(first))
        found = found.append_column("median_tokens", pa.array(tokens, from_pandas=True))
    missing = np.bincount(group, minlength=len(first)) - counts
    return found.append_column("sentences", pa.array(counts)).append_column("missing", pa.array(missing))


def group_rows(scores: pa.Table, by: Sequence[str]) -> tuple[Int32s, Ints]:
    """The group of each row, numbered by first appearance, and the first row of each group."""
    key = np.zeros(scores.num_rows, np.int64)
    for name in by:
        _, codes = codes_of(scores[name])
        key = key * (int(codes.max(initial=0)) + 1) + codes
    _, group = codes_of_numbers(key)
    return group, first_rows(group)


def _medians(values: Floats, group: Int32s, groups: int) -> tuple[Floats, Ints]:
    """The median of the values of each group, NaN if there is none, and how many there are."""
    known = ~np.isnan(values)
    if not known.all():
        values, group = values[known], group[known]
    ordered = values[np.lexsort((values, group))]
    counts = np.bincount(group, minlength=groups)
    ends = np.cumsum(counts)
    starts = ends - counts
    medians = np.full(groups, np.nan)
    some = counts > 0
    low, high = starts + (counts - 1) // 2, starts + counts // 2
    medians[some] = (ordered[low[some]] + ordered[high[some]]) / 2
    return medians, counts
