"""Counts of terms in a user's corpus, and their correlation with likelihood."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
from scipy.stats import spearmanr

from holisticbias_eval.figures import Figure
from holisticbias_eval.statistics.medians import group_medians

CORRELATION = "frequency_correlation"


def count_terms(lines: Iterable[str], terms: Iterable[str]) -> Counter[str]:
    """Count each term in the text as whole words, ignoring case; if two overlap, the longer one counts."""
    names = {term.casefold(): term for term in terms}
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(names[match] for match in pattern.findall(line.casefold()))
    return counts


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
    return tuple(_correlate(measure, axis, descriptors, counts) for axis, descriptors in by_axis.items())


def _correlate(measure: str, axis: str, descriptors: dict[str, list[float]], counts: Mapping[str, int]) -> Figure:
    frequency = np.array([counts.get(name, 0) for name in descriptors])
    perplexity = np.array([np.median(values) for values in descriptors.values()])
    defined = len(descriptors) >= 3 and len(set(frequency)) > 1 and len(set(perplexity)) > 1
    found = spearmanr(frequency, perplexity) if defined else None
    return Figure(
        measure=measure,
        name=CORRELATION,
        keys={"axis": axis},
        value=float(found.statistic) if found else None,
        unit="rank correlation",
        p_value=float(found.pvalue) if found else None,
        n=len(descriptors),
    )
