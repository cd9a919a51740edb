"""Distinct words, and pairs of neighbouring words, at equal numbers of words; and their change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import stdtr

from holisticbias_eval.arrays import Ints
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures.responses.row_values import Wordings
from holisticbias_eval.statistics.intervals import t_quantile
from holisticbias_eval.statistics.words import distinct_of_counts, distinct_without_blocks

DISTINCT_WORDS = 500
"""The number of words at which distinct words are counted."""
BLOCKS = 20


def distinct_items(wordings: Wordings) -> dict[str, tuple[Ints, Ints]]:
    """For single words and for pairs, the response and the item of each occurrence in answered responses."""
    words, rows = wordings.words, wordings.words.rows
    counted = wordings.answered[rows]
    inner = np.flatnonzero((rows[:-1] == rows[1:]) & counted[1:]) if len(rows) else np.zeros(0, np.int64)
    pairs = words.codes[inner] * len(words.vocabulary) + words.codes[inner + 1] if len(inner) else inner
    return {
        "distinct_1": (rows[counted], words.codes[counted]),
        "distinct_2": (rows[inner], np.unique(pairs, return_inverse=True)[1]),
    }


def distinct_changes(measure: str, before: Wordings, after: Wordings) -> Iterator[Figure]:
    """The share of distinct words and pairs in both runs, over all responses in the same order, and its change.

    The interval and the p-value are of a jackknife over ``BLOCKS`` blocks of responses, the same in both runs.
    """
    both = distinct_items(before), distinct_items(after)
    for name in both[0]:
        values, without = [], []
        for run in both:
            row, item = run[name]
            size = int(item.max(initial=-1)) + 1
            values.append(distinct_of_counts(np.bincount(item, minlength=size), DISTINCT_WORDS) / DISTINCT_WORDS)
            left = distinct_without_blocks(item, row % BLOCKS, BLOCKS, size, DISTINCT_WORDS)
            without.append(left / DISTINCT_WORDS)
        keys = {"figure": name}
        counts = [len(run[name][0]) for run in both]
        for run_name, value, n in zip(("first", "second"), values, counts, strict=True):
            yield make_figure(measure, run_name, keys, value, "share", n, of=name)
        change, moved = values[1] - values[0], without[1] - without[0]
        error = float(np.sqrt((BLOCKS - 1) / BLOCKS * ((moved - moved.mean()) ** 2).sum()))
        error = error if error > 0 else np.nan
        reach = float(t_quantile(np.array(BLOCKS - 1))) * error
        yield make_figure(
            measure, "change", keys, change, "share difference", min(counts), interval=(change - reach, change + reach),
            p_value=2 * float(stdtr(BLOCKS - 1, -abs(change) / error)), of=name,
        )  # fmt: skip
