"""Figures of styles by descriptor: mean probabilities and differences from all descriptors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.responses.bias_figures import Biases, figure
from holisticbias_eval.measures.responses.clusters import part_of
from holisticbias_eval.statistics.responses.cells import ResponseCells
from holisticbias_eval.statistics.responses.permuted import compare_descriptors
from holisticbias_eval.statistics.tests import benjamini_hochberg

MOST = 20_000
"""The largest number of descriptors times styles for which every style has figures."""


def style_figures(cells: ResponseCells, biases: Biases) -> Iterator[Figure]:
    """The figures of each descriptor and style, and of each descriptor and cluster.

    If there are too many styles, only those of largest partial bias have figures.
    P-values are adjusted over all descriptors and styles, and over all descriptors and clusters.
    """
    styles = sorted(cells.labels, key=lambda style: -np.nan_to_num(biases.styles[style].raw))
    shown = set(styles[: max(MOST // len(cells.descriptors), 1)])
    chosen = [style for style in cells.labels if style in shown]
    columns = np.array([cells.labels.index(style) for style in chosen])
    yield from _figures(cells, cells.values[:, columns], "style", chosen)
    if biases.clusters:
        sums = [part_of(cells, members, summed=True).of(cells.values) for members in biases.clusters.values()]
        yield from _figures(cells, np.concatenate(sums, axis=1), "cluster", list(biases.clusters))


def _figures(cells: ResponseCells, values: Floats, key: str, names: Sequence[str]) -> Iterator[Figure]:
    found = compare_descriptors(cells, values)
    p = benjamini_hochberg(found.p_value.ravel()).reshape(found.p_value.shape)
    tests = int((~np.isnan(found.p_value)).sum())
    for d, (axis, descriptor) in enumerate(cells.descriptors):
        n, templates = int(found.responses[d]), int(found.templates[d])
        if not n:
            continue
        for s, name in enumerate(names):
            keys = {"axis": axis, "descriptor": descriptor, key: name}
            yield figure("style_mean", keys, found.mean[d, s], "probability", n)
            difference, own = found.difference[d, s], found.p_value[d, s]
            unit = "probability difference"
            yield figure("style_difference", keys, difference, unit, templates, of="style_mean", p_value=own)
            yield figure("style_adjusted_p", keys, p[d, s], "p_value", tests, of="style_difference")
