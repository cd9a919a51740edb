"""The change of the wording of responses from one run to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from scipy.special import stdtr

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Interval, make_figure
from holisticbias_eval.identity import RESPONSES, align
from holisticbias_eval.measures.columns import change_figures
from holisticbias_eval.measures.responses.design import (
    MEANS,
    Grouping,
    Wordings,
    read_design,
    read_wordings,
    row_values,
)
from holisticbias_eval.statistics.intervals import normal_estimate, t_quantile
from holisticbias_eval.statistics.tests import holm
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


def compare_wordings(measure: str, first: pa.Table, second: pa.Table, phrases: Sequence[str]) -> tuple[Figure, ...]:
    """The values of both runs and their difference on the responses that both have, over all and by axis.

    What is over all leaves made-up words out. Figures are named as in ``CHANGE_NAMES``; the key ``figure`` names the
    value that changes, and ``phrase`` its phrase. Responses are paired by ``response_id``, so the interval is that of a
    mean of differences. ``p_value`` is corrected over the phrases, and over the axes (Holm 1979). Raises
    ``SelectionError`` if the runs have no response in common.
    """
    before, after = common_responses(first, second)
    design = read_design(before)
    wordings = [read_wordings(t) for t in (before, after)]
    values = [{(v.name, v.phrase or ""): v.values for v in row_values(t, w, phrases)}
              for t, w in zip((before, after), wordings, strict=True)]  # fmt: skip
    by_name: dict[str, list[str]] = {}
    for name, phrase in values[0]:
        if (name, phrase) in values[1]:
            by_name.setdefault(name, []).append(phrase)
    changes = tuple(
        figure
        for grouping in (design.people, design.axes)
        for name, found in by_name.items()
        for figure in paired_changes(
            measure, name, MEANS.get(name, "share"), grouping,
            {p: (values[0][name, p], values[1][name, p]) for p in found},
        )
    )  # fmt: skip
    people = design.people.group >= 0
    of_people = wordings if people.all() else [read_wordings(t.filter(pa.array(people))) for t in (before, after)]
    return (*changes, *distinct_changes(measure, *of_people))


def common_responses(first: pa.Table, second: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows of both tables with the same id, in the same order."""
    if not all("response_id" in table.column_names for table in (first, second)):
        raise SelectionError("the responses have no column response_id: there is nothing to pair them by")
    return align(first, second, RESPONSES).rows(first, second)


def paired_changes(
    measure: str,
    name: str,
    unit: str,
    grouping: Grouping,
    values: Mapping[str, tuple[Floats, Floats]],
    *,
    named: bool = True,
) -> Iterator[Figure]:
    """The figures of one value, of each of its phrases if it has several, in every group.

    With ``named`` the key ``figure`` has the name of the value. P-values are corrected over phrases and groups (Holm).
    """
    about = {"figure": name} if named else {}
    moved = [
        ({**about, **({"phrase": phrase} if phrase else {}), **own}, before[rows], after[rows])
        for phrase, (before, after) in values.items()
        for own, rows in _rows(grouping, ~np.isnan(before) & ~np.isnan(after))
    ]
    estimates = [_estimate(after - before) for _, before, after in moved]
    p = holm(np.array([np.nan if p is None else p for *_, p in estimates], np.float64))
    for (keys, before, after), (change, interval, _), adjusted in zip(moved, estimates, p.tolist(), strict=True):
        means = (float(before.mean()), float(after.mean())) if len(before) else (None, None)
        yield from change_figures(
            measure, name, keys, means, unit, len(before), change=change, interval=interval, p_value=adjusted
        )


def _rows(grouping: Grouping, counted: np.ndarray) -> Iterator[tuple[dict[str, str], Ints]]:
    for group, keys in enumerate(grouping.keys):
        yield keys, np.flatnonzero(counted & (grouping.group == group))


def _estimate(differences: Floats) -> tuple[float, Interval | None, float | None]:
    """The mean with its interval and the two-sided p-value of 0; NaN without differences."""
    n = len(differences)
    mean = float(differences.mean()) if n else np.nan
    return mean, *normal_estimate(mean, float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan)
