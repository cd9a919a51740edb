"""The classifier's own bias: figures of fixed texts in which only the descriptor differs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import Clusters
from holisticbias_eval.measures.responses.bias_figures import FULL, PARTIAL, SCALE, UNIT, Keys, figure
from holisticbias_eval.measures.responses.clusters import Named, part_of
from holisticbias_eval.measures.responses.labels import arrange_styles
from holisticbias_eval.statistics.responses.bias import Bias, LabelPart, measure_bias
from holisticbias_eval.statistics.responses.cells import ResponseCells


def audit_figures(audit: pa.Table, clusters: Clusters | None) -> Iterator[Figure]:
    """The bias of fixed texts, by axis and cluster, and the same without censoring.

    The texts are the same for all descriptors and a classifier has no noise, so
    nothing is corrected. ``of`` names the figure that each stands beside.
    """
    censored = np.asarray(audit["censored"].to_numpy(zero_copy_only=False), bool)
    named: Named = {} if clusters is None or isinstance(clusters, str) else clusters
    for suffix, rows in (("", censored), ("_uncensored", ~censored)):
        if rows.any():
            yield from _figures(arrange_styles(audit.filter(pa.array(rows))), named, suffix)


def _figures(cells: ResponseCells, clusters: Named, suffix: str) -> Iterator[Figure]:
    full, by_axis = measure_bias(cells, LabelPart(np.arange(len(cells.labels))), by_axis=True)
    yield _figure(FULL, {}, full, suffix)
    for axis, bias in by_axis.items():
        yield _figure(FULL, {"axis": axis}, bias, suffix)
    for cluster, styles in clusters.items():
        known = tuple(style for style in styles if style in cells.labels)
        if len(known) == len(styles):
            bias, _ = measure_bias(cells, part_of(cells, known), by_axis=False)
            yield _figure(PARTIAL, {"cluster": cluster}, bias, suffix)


def _figure(name: str, keys: Keys, bias: Bias, suffix: str) -> Figure:
    return figure(f"audit_{name}{suffix}", keys, SCALE * bias.raw, UNIT, bias.cells, of=name)
