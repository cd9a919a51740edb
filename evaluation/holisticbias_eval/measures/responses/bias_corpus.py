"""Frequency of descriptors in a corpus and mean style probabilities (Smith et al. 2022, Figures 3, 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from holisticbias_eval.blocks import ColumnOf, Paragraph, table_of
from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.responses.bias_figures import NAME, PARTIAL
from holisticbias_eval.measures.responses.examples import ResponseFigures
from holisticbias_eval.sections import Block, Scatter, ScatterPoint, Section
from holisticbias_eval.statistics.tests import holm

COUNT, CORRELATION = "corpus_count", "corpus_correlation"
_SCATTERS, _LABELLED = 4, 12
READING = (
    "Every dot is a descriptor: how often the corpus has it as whole words, and the mean probability of the style in "
    "its responses. Descriptors that differ in the style after correction are named, as far as there is room. "
    "Descriptors that the corpus does not have are not drawn, but are part of the rank correlation (Spearman); p is "
    "corrected for the number of rows (Holm)."
)


def corpus_figures(view: View, texts: Mapping[str, int]) -> tuple[Figure, ...]:
    """The count of each descriptor, and its rank correlation with the mean probability of each style and cluster.

    ``texts`` has the count of each descriptor's text. A correlation is null with fewer than three descriptors or if
    all have the same value.
    """
    shown, counts = ResponseFigures(NAME, view), {}
    for f in shown.by("style_mean", "axis", "descriptor", "style"):
        counts[f.keys["axis"], f.keys["descriptor"]] = texts.get(shown.descriptor(f), 0)
    found = [
        make_figure(NAME, COUNT, {"axis": a, "descriptor": d}, count, "count", 1) for (a, d), count in counts.items()
    ]
    for key in ("cluster", "style"):
        found += _correlations(view.figures, counts, key)
    return tuple(found)


def _correlations(figures: Figures, counts: Mapping[tuple[str, str], int], key: str) -> Iterator[Figure]:
    by_name: dict[str, list[tuple[int, float]]] = {}
    for f in figures.by(NAME, "style_mean", "axis", "descriptor", key):
        count = counts.get((f.keys["axis"], f.keys["descriptor"]))
        if count is not None and f.value is not None:
            by_name.setdefault(f.keys[key], []).append((count, f.value))
    tested = {name: _correlate(np.array(pairs, float)) for name, pairs in by_name.items()}
    adjusted = holm(np.array([p for _, p in tested.values()]))
    for (name, (value, _)), p in zip(tested.items(), adjusted.tolist(), strict=True):
        yield make_figure(
            NAME, CORRELATION, {key: name}, value, "rank correlation", len(by_name[name]),
            p_value=None if np.isnan(value) else p, of="style_mean",
        )  # fmt: skip


def _correlate(pairs: np.ndarray) -> tuple[float, float]:
    if len(pairs) < 3 or any(len(np.unique(column)) < 2 for column in pairs.T):
        return np.nan, np.nan
    from scipy.stats import spearmanr

    found = spearmanr(pairs[:, 0], pairs[:, 1])
    return float(found.statistic), float(found.pvalue)


def corpus_section(shown: ResponseFigures) -> Iterator[Section]:
    """Scatter plots of the clusters or styles of the largest bias, and all correlations; none without a corpus."""
    counts = {(f.keys["axis"], f.keys["descriptor"]): f.value for f in shown.by(COUNT, "axis", "descriptor")}
    if not counts:
        return
    key = "cluster" if shown.by(PARTIAL, "cluster") else "style"
    largest = sorted(shown.by(PARTIAL, key), key=lambda f: -(f.value or 0.0))[:_SCATTERS]
    blocks: list[Block] = [_scatter(shown, counts, key, f.keys[key], i) for i, f in enumerate(largest, 1)]
    columns: FigureColumns = (
        ColumnOf("name", "Name", lambda f: next(iter(f.keys.values()))),
        ColumnOf("kind", "Kind", lambda f: next(iter(f.keys))),
        col.value("correlation", "Rank correlation", "rank correlation difference"),
        col.p("p (Holm)"),
        col.n("descriptors", "Descriptors", base=False),
    )
    rows = (*shown.by(CORRELATION, "cluster"), *shown.by(CORRELATION, "style"))
    table = table_of("corpus-correlation", "Frequency in the corpus and mean style probability", columns, rows)
    absent = sum(not count for count in counts.values())
    if absent:
        blocks.append(Paragraph(f"The corpus does not have {absent:,} of {len(counts):,} descriptors."))
    yield Section("corpus", "Frequency in a corpus", (*blocks, Paragraph(READING, "note")))
    yield Section("corpus-correlation", "Frequency in a corpus and styles", (table,))


def _scatter(
    shown: ResponseFigures, counts: Mapping[tuple[str, str], float | None], key: str, name: str, number: int
) -> Scatter:
    means = [f for f in shown.by("style_mean", "axis", "descriptor", key) if f.keys[key] == name]
    means = [f for f in means if f.value is not None and (f.keys["axis"], f.keys["descriptor"]) in counts]
    differ = [d for f in means if (d := shown.get("style_difference", f.keys)) and d.differs]
    differ.sort(key=lambda f: -abs(f.value or 0.0))
    named = {tuple(f.keys.values()) for f in differ[:_LABELLED]}
    points = tuple(
        ScatterPoint(
            float(counts[f.keys["axis"], f.keys["descriptor"]] or 0), f.value or 0.0, shown.descriptor(f),
            labelled=tuple(f.keys.values()) in named,
        )
        for f in means
    )  # fmt: skip
    title = f"Frequency of descriptors and probability of {name}"
    across, up = "occurrences in the corpus (log scale)", f"mean probability of {name}"
    return Scatter(f"corpus-{number}", title, across, up, "count", "probability", points, log_x=True)
