"""Medians of scored sentences by group, and their correlation with the frequency of descriptors in a corpus."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Int32s, Ints, with_columns
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.statistics.cells import Compared, codes_of, codes_of_numbers, compared_values, first_rows
from holisticbias_eval.statistics.tests import rank_correlation

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
    found = scores.select([*by, "descriptor"]).take(pa.array(first))
    medians, counts = _medians(compared_values(scores, value), group, len(first))
    columns: dict[str, Floats | Ints] = {"median": medians}
    if "tokens" in scores.column_names:
        columns["median_tokens"], _ = _medians(scores["tokens"].to_numpy().astype(float), group, len(first))
    columns |= {"sentences": counts, "missing": np.bincount(group, minlength=len(first)) - counts}
    return with_columns(found, {name: pa.array(values, from_pandas=True) for name, values in columns.items()})


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


CORRELATION = "frequency_correlation"


def count_terms(lines: Iterable[str], terms: Iterable[str]) -> dict[str, int]:
    """Count each term in the text as whole words, ignoring case; if two overlap, the longer one counts."""
    names = list(terms)
    longest_first = sorted({re.escape(name.casefold()) for name in names}, key=lambda name: (-len(name), name))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(pattern.findall(line.casefold()))
    return {name: counts[name.casefold()] for name in names}


def correlate_frequency(measure: str, scores: pa.Table, counts: Mapping[str, int]) -> tuple[Figure, ...]:
    """Correlate corpus frequency and median perplexity over the descriptors of each axis (Spearman 1904).

    A descriptor's perplexity is the median over its medians in the templates.
    Below zero, more common terms have likelier sentences; null with fewer than
    three descriptors or if all have the same value. ``n`` counts the descriptors.
    """
    by_axis: dict[str, dict[str, list[float]]] = {}
    for row in group_medians(scores).select(["axis", "descriptor", "median"]).to_pylist():
        if row["median"] is not None:
            by_axis.setdefault(row["axis"], {}).setdefault(row["descriptor"], []).append(row["median"])
    figures = []
    for axis, descriptors in by_axis.items():
        pairs = [(counts.get(name, 0), float(np.median(values))) for name, values in descriptors.items()]
        value, p = rank_correlation(np.array(pairs, np.float64))
        keys, n = {"axis": axis}, len(descriptors)
        figures.append(make_figure(measure, CORRELATION, keys, value, "rank correlation", n, p_value=p))
    return tuple(figures)
