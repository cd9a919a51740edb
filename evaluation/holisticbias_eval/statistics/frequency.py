"""How common terms are in a corpus of the user's, and whether likelihood goes with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
from pydantic import Field
from scipy.stats import spearmanr

from holisticbias_eval.figures import Part


class FrequencyCorrelation(Part):
    """Rank correlation (Spearman 1904) over an axis's descriptors of corpus frequency and median perplexity.

    Below zero, the commoner a term the likelier its sentences; missing with
    fewer than three descriptors or where all are alike.
    """

    axis: str
    descriptors: int
    found: int = Field(description="descriptors that the corpus has at all")
    correlation: float | None
    p_value: float | None


def count_terms(lines: Iterable[str], terms: Iterable[str]) -> Counter[str]:
    """How often each term stands in the text as whole words, in any case; of two that overlap the longer counts."""
    names = {term.casefold(): term for term in terms}
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(names[match] for match in pattern.findall(line.casefold()))
    return counts


def correlate_frequency(medians: pa.Table, counts: Mapping[str, int]) -> tuple[FrequencyCorrelation, ...]:
    """The correlation of each axis.

    ``medians`` is the table of ``measures.medians.measure_medians``; a
    descriptor's perplexity is the median over its templates.
    """
    by_axis: dict[str, dict[str, list[float]]] = {}
    for row in medians.select(["axis", "descriptor", "median_perplexity"]).to_pylist():
        if row["median_perplexity"] is not None:
            by_axis.setdefault(row["axis"], {}).setdefault(row["descriptor"], []).append(row["median_perplexity"])
    return tuple(_correlate(axis, descriptors, counts) for axis, descriptors in by_axis.items())


def _correlate(axis: str, descriptors: dict[str, list[float]], counts: Mapping[str, int]) -> FrequencyCorrelation:
    frequency = np.array([counts.get(name, 0) for name in descriptors])
    perplexity = np.array([np.median(values) for values in descriptors.values()])
    defined = len(descriptors) >= 3 and len(set(frequency)) > 1 and len(set(perplexity)) > 1
    found = spearmanr(frequency, perplexity) if defined else None
    return FrequencyCorrelation(
        axis=axis,
        descriptors=len(descriptors),
        found=int((frequency > 0).sum()),
        correlation=float(found.statistic) if found else None,
        p_value=float(found.pvalue) if found else None,
    )
