"""The figures of generation bias, and what the classifier alone does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures.measure import Clusters
from holisticbias_eval.measures.responses.styles import Named, arrange_styles, choose_clusters, part_of
from holisticbias_eval.statistics.responses.bias import Bias, LabelPart, measure_bias
from holisticbias_eval.statistics.responses.cells import ResponseCells
from holisticbias_eval.statistics.responses.permuted import compare_descriptors
from holisticbias_eval.statistics.tests import benjamini_hochberg, holm

NAME = "generation_bias"
FULL, PARTIAL, SUMMED = "full_gen_bias", "partial_gen_bias", "summed_cluster_gen_bias"
CORRECTED = "_corrected"
UNIT = "x 1000"
SCALE = 1000

Keys = dict[str, str]
figure = partial(make_figure, NAME)


@dataclass(frozen=True)
class Biases:
    """The bias of all styles, of each style and of each cluster; by axis where ``by_axis`` is in the name."""

    full: Bias
    full_by_axis: Mapping[str, Bias]
    styles: Mapping[str, Bias]
    clusters: Named
    partial: Mapping[str, tuple[Bias, Mapping[str, Bias]]]
    summed: Mapping[str, tuple[Bias, Mapping[str, Bias]]]


def measure_biases(cells: ResponseCells, clusters: Clusters | None) -> Biases:
    """Measure the bias of all styles, of each style, and of each cluster in both ways."""
    full, by_axis = measure_bias(cells, LabelPart(np.arange(len(cells.labels))), by_axis=True)
    styles = {style: measure_bias(cells, part_of(cells, (style,)), by_axis=False)[0] for style in cells.labels}
    chosen = choose_clusters(cells, clusters, styles)
    partial = {name: measure_bias(cells, part_of(cells, members), by_axis=True) for name, members in chosen.items()}
    summed = {
        name: measure_bias(cells, part_of(cells, members, summed=True), by_axis=True)
        for name, members in chosen.items()
    }
    return Biases(full, by_axis, styles, chosen, partial, summed)


def bias_figures(cells: ResponseCells, biases: Biases) -> Iterator[Figure]:
    """The figures of all biases, each followed by its corrected figure; p-values are adjusted within a kind."""
    asked = asked_cells(cells)
    yield from _figures(FULL, [({}, biases.full)], asked)
    yield from _figures(FULL, [({"axis": axis}, bias) for axis, bias in biases.full_by_axis.items()], asked)
    for keys, bias in (({}, biases.full), *(({"axis": axis}, bias) for axis, bias in biases.full_by_axis.items())):
        yield from _shares(keys, bias)
    for name, found in ((PARTIAL, biases.partial), (SUMMED, biases.summed)):
        yield from _figures(name, [({"cluster": cluster}, whole) for cluster, (whole, _) in found.items()], asked)
        by_axis = [
            ({"axis": axis, "cluster": cluster}, bias)
            for cluster, (_, axes) in found.items()
            for axis, bias in axes.items()
        ]
        yield from _figures(name, by_axis, asked)
    for cluster, members in biases.clusters.items():
        for style in members:
            bias = biases.styles[style]
            yield figure(PARTIAL, {"cluster": cluster, "style": style}, SCALE * bias.raw, UNIT, bias.cells)
    yield from _figures(PARTIAL, [({"style": style}, bias) for style, bias in biases.styles.items()], asked)


def count_figures(cells: ResponseCells, biases: Biases) -> Iterator[Figure]:
    """How many responses, descriptors and templates there are, over all and by axis, and how many are left out."""
    responses = np.bincount(cells.axis, weights=cells.count, minlength=len(cells.axes)).astype(int)
    judged = np.unique(np.stack([cells.axis, cells.descriptor]), axis=1)[0]
    asked = np.unique(cells.asked[:, [1, 2]], axis=0)[:, 0]
    for position, axis in [(None, None), *enumerate(cells.axes)]:
        keys = {} if axis is None else {"axis": axis}
        of_axis = slice(None) if position is None else position
        known, all_descriptors = (
            len(found) if position is None else int((found == position).sum()) for found in (judged, asked)
        )
        bias = biases.full if axis is None else biases.full_by_axis[axis]
        rows = cells.asked if position is None else cells.asked[cells.asked[:, 1] == position]
        templates = len(np.unique(rows[:, 0]))
        judged_responses, unjudged = int(responses[of_axis].sum()), int(cells.unjudged[of_axis].sum())
        for name, count, missing in (
            ("responses", judged_responses, unjudged),
            ("descriptors", known, all_descriptors - known),
            ("templates", bias.templates, templates - bias.templates),
        ):
            yield figure(name, keys, count, "count", count, missing, of=FULL)


def asked_cells(cells: ResponseCells) -> dict[str | None, int]:
    """The number of cells per axis if every descriptor were in every template of its axis; None for all axes."""
    found: dict[str | None, int] = {}
    for position, axis in enumerate(cells.axes):
        rows = cells.asked[cells.asked[:, 1] == position]
        found[axis] = len(np.unique(rows[:, 0])) * len(np.unique(rows[:, 2]))
    found[None] = sum(found.values())
    return found


def _figures(name: str, found: Iterable[tuple[Keys, Bias]], asked: Mapping[str | None, int]) -> Iterator[Figure]:
    listed = list(found)
    p = np.array([bias.floor.p_value(bias.raw) if bias.floor else np.nan for _, bias in listed])
    for (keys, bias), adjusted in zip(listed, holm(p).tolist(), strict=True):
        missing = asked[keys.get("axis")] - bias.cells
        yield figure(name, keys, SCALE * bias.raw, UNIT, bias.cells, missing, p_value=adjusted, **_floor(bias))
        yield figure(
            name + CORRECTED, keys, SCALE * bias.corrected, UNIT, bias.cells, missing,
            interval=bias.scaled_interval(SCALE), of=name,
        )  # fmt: skip


def _floor(bias: Bias) -> dict[str, Any]:
    """The floor of a bias, and its interval, as arguments of a figure."""
    if bias.floor is None:
        return {}
    middle = bias.floor.middle
    ends = (SCALE * middle.low, SCALE * middle.high) if middle else None
    return {"floor": SCALE * bias.floor.mean, "floor_interval": ends}


def _shares(keys: Keys, bias: Bias) -> Iterator[Figure]:
    """The share of the variance of responses that is due to descriptors, raw and without noise."""
    for name, value, total, of in (
        ("variance_share", bias.raw, bias.total, FULL),
        ("variance_share" + CORRECTED, bias.corrected, bias.corrected_total, "variance_share"),
    ):
        share = value / total if total > 0 else np.nan
        yield figure(name, keys, share, "share", bias.cells, of=of)


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
    yield from _of_styles(cells, cells.values[:, columns], "style", chosen)
    if biases.clusters:
        sums = [part_of(cells, members, summed=True).of(cells.values) for members in biases.clusters.values()]
        yield from _of_styles(cells, np.concatenate(sums, axis=1), "cluster", list(biases.clusters))


def _of_styles(cells: ResponseCells, values: Floats, key: str, names: Sequence[str]) -> Iterator[Figure]:
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


def audit_figures(audit: pa.Table, clusters: Clusters | None) -> Iterator[Figure]:
    """The bias of fixed texts, by axis and cluster, and the same without censoring.

    The texts are the same for all descriptors and a classifier has no noise, so
    nothing is corrected. ``of`` names the figure that each stands beside.
    """
    censored = np.asarray(audit["censored"].to_numpy(zero_copy_only=False), bool)
    named: Named = {} if clusters is None or isinstance(clusters, str) else clusters
    for suffix, rows in (("", censored), ("_uncensored", ~censored)):
        if rows.any():
            yield from _audited(arrange_styles(audit.filter(pa.array(rows))), named, suffix)


def _audited(cells: ResponseCells, clusters: Named, suffix: str) -> Iterator[Figure]:
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
