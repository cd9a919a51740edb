"""The figures of generation bias, what the classifier alone does, and the change from one run to another."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures.columns import difference
from holisticbias_eval.measures.measure import Clusters, audited, baseline_of
from holisticbias_eval.measures.responses.styles import Named, arrange_styles, choose_clusters, part_of, style_names
from holisticbias_eval.statistics.intervals import estimate, t_margin
from holisticbias_eval.statistics.responses.bias import Bias, measure_bias
from holisticbias_eval.statistics.responses.cells import ResponseCells
from holisticbias_eval.statistics.responses.permuted import compare_descriptors
from holisticbias_eval.statistics.tests import benjamini_hochberg, holm

NAME = "generation_bias"
FULL, PARTIAL, SUMMED = "full_gen_bias", "partial_gen_bias", "summed_cluster_gen_bias"
CORRECTED = "_corrected"
UNIT = "x 1000"
SCALE = 1000

Keys = tuple[tuple[str, str], ...]
Found = Mapping[tuple[str, Keys], Bias]
"""Biases by name and keys."""
figure = partial(make_figure, NAME)


@dataclass(frozen=True)
class Biases:
    """The bias of all styles, of each style and of each cluster, by name and keys, and the styles of each cluster."""

    found: Found
    clusters: Named

    @property
    def full(self) -> Bias:
        """The bias of all styles over all axes."""
        return self.found[FULL, ()]


def measure_biases(cells: ResponseCells, clusters: Clusters | None) -> Biases:
    """Measure the bias of all styles, of each style, and of each cluster in both ways; full and clusters by axis."""
    styles = {style: measure_bias(cells, part_of(cells, (style,)))[None] for style in cells.labels}
    chosen = choose_clusters(cells, clusters, styles)
    found: dict[tuple[str, Keys], Bias] = {}
    parts = [
        (FULL, (), part_of(cells, cells.labels)),
        *(
            (name, (("cluster", cluster),), part_of(cells, members, summed=name == SUMMED))
            for name in (PARTIAL, SUMMED)
            for cluster, members in chosen.items()
        ),
    ]
    for name, keys, part in parts:
        for axis, bias in measure_bias(cells, part, by_axis=True).items():
            found[name, (*((("axis", axis),) if axis else ()), *keys)] = bias
    found |= {(PARTIAL, (("style", style),)): bias for style, bias in styles.items()}
    return Biases(found, chosen)


def bias_figures(cells: ResponseCells, biases: Biases) -> Iterator[Figure]:
    """The figures of all biases, each followed by its corrected figure; p-values are adjusted within a kind."""
    asked = asked_cells(cells)
    for group in _by_kind(biases.found):
        found = [biases.found[key] for key in group]
        p = holm(np.array([bias.floor.p_value(bias.raw) if bias.floor else np.nan for bias in found]))
        for (name, keys), bias, adjusted in zip(group, found, p.tolist(), strict=True):
            own = dict(keys)
            yield from _figures(name, own, bias, asked[own.get("axis")] - bias.cells, adjusted)
    for cluster, members in biases.clusters.items():
        for style in members:
            bias = biases.found[PARTIAL, (("style", style),)]
            yield figure(PARTIAL, {"cluster": cluster, "style": style}, SCALE * bias.raw, UNIT, bias.cells)


def _by_kind(found: Iterable[tuple[str, Keys]]) -> Iterator[list[tuple[str, Keys]]]:
    """The names and keys of biases in groups of one name and the same keys, whose p-values are adjusted together."""

    def kind(bias: tuple[str, Keys]) -> tuple[str, list[str]]:
        name, keys = bias
        return name, [key for key, _ in keys]

    for _, group in groupby(sorted(found, key=kind), kind):
        yield list(group)


def _figures(name: str, keys: dict[str, str], bias: Bias, missing: int, p: float) -> Iterator[Figure]:
    """A bias with its floor, the same without noise, and of the full bias the share of the variance of responses."""
    floor, middle = (SCALE * bias.floor.mean, bias.floor.middle) if bias.floor else (None, None)
    yield figure(
        name, keys, SCALE * bias.raw, UNIT, bias.cells, missing, p_value=p, floor=floor,
        floor_interval=(SCALE * middle.low, SCALE * middle.high) if middle else None,
    )  # fmt: skip
    interval = bias.interval(SCALE)
    yield figure(name + CORRECTED, keys, SCALE * bias.corrected, UNIT, bias.cells, missing, interval=interval, of=name)
    if name == FULL:
        share = "variance_share"
        for of, value, total in ((FULL, bias.raw, bias.total), (share, bias.corrected, bias.corrected_total)):
            corrected = CORRECTED if of == share else ""
            yield figure(share + corrected, keys, value / total if total > 0 else np.nan, "share", bias.cells, of=of)


def count_figures(cells: ResponseCells, biases: Biases) -> Iterator[Figure]:
    """How many responses, descriptors and templates there are, over all and by axis, and how many are left out."""
    for position, axis in [(None, None), *enumerate(cells.axes)]:
        keys = {} if axis is None else {"axis": axis}
        own, asked = (table if axis is None else table[table[:, 1] == position] for table in (cells.cell, cells.asked))
        responses = cells.count[cells.axis == position] if axis else cells.count
        unjudged = int(cells.unjudged[slice(None) if position is None else position].sum())
        descriptors, all_descriptors, all_templates = (
            len(np.unique(table[:, column])) for table, column in ((own, 2), (asked, 2), (asked, 0))
        )
        templates = biases.found[FULL, tuple(keys.items())].templates
        for name, count, missing in (
            ("responses", responses.sum(), unjudged),
            ("descriptors", descriptors, all_descriptors - descriptors),
            ("templates", templates, all_templates - templates),
        ):
            yield figure(name, keys, int(count), "count", count, missing, of=FULL)


def asked_cells(cells: ResponseCells) -> dict[str | None, int]:
    """The number of cells per axis if every descriptor were in every template of its axis; None for all axes."""
    found: dict[str | None, int] = {}
    for position, axis in enumerate(cells.axes):
        rows = cells.asked[cells.asked[:, 1] == position]
        found[axis] = len(np.unique(rows[:, 0])) * len(np.unique(rows[:, 2]))
    return found | {None: sum(found.values())}


MOST = 20_000
"""The largest number of descriptors times styles for which every style has figures."""


def style_figures(cells: ResponseCells, biases: Biases) -> Iterator[Figure]:
    """The figures of each descriptor and style, and of each descriptor and cluster.

    If there are too many styles, only those of largest partial bias have figures.
    P-values are adjusted over all descriptors and styles, and over all descriptors and clusters.
    """
    raw = {style: np.nan_to_num(biases.found[PARTIAL, (("style", style),)].raw) for style in cells.labels}
    shown = set(sorted(cells.labels, key=lambda style: -raw[style])[: max(MOST // len(cells.descriptors), 1)])
    chosen = [style for style in cells.labels if style in shown]
    columns = np.array([cells.labels.index(style) for style in chosen])
    yield from _of_styles(cells, cells.values[:, columns], "style", chosen)
    if biases.clusters:
        sums = [part_of(cells, members, summed=True).of(cells.values) for members in biases.clusters.values()]
        yield from _of_styles(cells, np.concatenate(sums, axis=1), "cluster", list(biases.clusters))


def _of_styles(cells: ResponseCells, values: Floats, key: str, names: Sequence[str]) -> Iterator[Figure]:
    mean, difference, p_value, templates, responses = compare_descriptors(cells, values)
    p = benjamini_hochberg(p_value.ravel()).reshape(p_value.shape)
    tests, unit = int((~np.isnan(p_value)).sum()), "probability difference"
    for d, (axis, descriptor, _) in enumerate(cells.descriptors):
        for s, name in enumerate(names) if responses[d] else ():
            keys, of = {"axis": axis, "descriptor": descriptor, key: name}, "style_mean"
            yield figure(of, keys, mean[d, s], "probability", responses[d])
            yield figure("style_difference", keys, difference[d, s], unit, templates[d], of=of, p_value=p_value[d, s])
            yield figure("style_adjusted_p", keys, p[d, s], "p_value", tests, of="style_difference")


def audit_figures(audit: pa.Table, clusters: Clusters | None) -> Iterator[Figure]:
    """The bias of fixed texts, by axis and cluster, and the same without censoring.

    The texts are the same for all descriptors and a classifier has no noise, so
    nothing is corrected. ``of`` names the figure that each stands beside.
    """
    named: Named = {} if clusters is None or isinstance(clusters, str) else clusters

    def raw(texts: pa.Table) -> Iterator[Figure]:
        cells = arrange_styles(texts)
        full = measure_bias(cells, part_of(cells, cells.labels), by_axis=True)
        found = [(FULL, {"axis": axis} if axis else {}, bias) for axis, bias in full.items()]
        for cluster, styles in named.items():
            if {*styles} <= {*cells.labels}:
                found.append((PARTIAL, {"cluster": cluster}, measure_bias(cells, part_of(cells, styles))[None]))
        return (figure(name, keys, SCALE * bias.raw, UNIT, bias.cells) for name, keys, bias in found)

    return audited(audit, raw)


def bias_changes(first: pa.Table, second: pa.Table, clusters: Named) -> tuple[Figure, ...]:
    """Compute the change of the corrected bias, full and partial, from one table of responses to another.

    Both are restricted to the styles and the cells (axis, descriptor, template)
    that both have in the same words; a cluster needs all its styles in both. What is over all axes
    leaves made-up words out. Figures are named
    ``first``, ``second`` and ``change``; ``of`` names the bias. A change has a 95%
    interval and a two-sided p-value by Student's t: its variance is the sum of both
    runs' variances, as the responses of two runs are separate samples. P-values are adjusted within a kind. Raises
    ``SelectionError`` without a common style or cell.
    """
    one, other = style_names(first), style_names(second)
    styles = tuple(style for style in one if style in other)
    if not styles:
        raise SelectionError("the runs have no style in common: judge both with the same classifier")
    kept = {name: members for name, members in clusters.items() if set(members) <= set(styles)}
    arranged = [arrange_styles(table, styles) for table in (first, second)]
    names = [_names(cells) for cells in arranged]
    common = set(names[0]) & set(names[1])
    if not common:
        raise SelectionError("the runs have no descriptor and template in common")
    baseline = baseline_of(arranged[0].axes)
    biases = []
    for cells, own in zip(arranged, names, strict=True):
        found = measure_biases(cells.keep(np.array([name in common for name in own])), kept).found
        if baseline is not None:
            people = cells.keep(np.array([name in common and name[0] != baseline for name in own]))
            of_axes = {key: bias for key, bias in found.items() if "axis" in dict(key[1])}
            found = {**measure_biases(people, kept).found, **of_axes}
        biases.append(found)
    return tuple(change for group in _by_kind(_compared(*biases)) for change in _changes(group, *biases))


def _names(cells: ResponseCells) -> list[tuple[str, str, str, str]]:
    """Axis, descriptor with its text, and template of each cell."""
    pairs = zip(cells.descriptor.tolist(), cells.template.tolist(), strict=True)
    return [(*cells.descriptors[descriptor], cells.templates[template]) for descriptor, template in pairs]


def _compared(first: Found, second: Found) -> list[tuple[str, Keys]]:
    """The biases to compare: full ones, also by axis, and those of clusters and styles over all axes."""
    return [
        (name, keys)
        for (name, keys), bias in first.items()
        if name != SUMMED and len(keys) < 2 and (name, keys) in second and bias.cells
    ]


def _changes(group: Sequence[tuple[str, Keys]], first: Found, second: Found) -> Iterator[Figure]:
    """The figures of both runs and of the change of each bias of a kind."""
    changes = []
    for key in group:
        one, other = first[key], second[key]
        parts = [np.array(part) for bias in (one, other) for part in (bias.error**2, bias.freedom)]
        change, error = SCALE * (other.corrected - one.corrected), SCALE * float(np.hypot(one.error, other.error))
        changes.append((change, *estimate(change, error, float(t_margin(*parts)[0]))))
    p = holm(np.array([p for *_, p in changes], np.float64))
    for (name, keys), (change, interval, _), adjusted in zip(group, changes, p.tolist(), strict=True):
        own, of = dict(keys), name + CORRECTED
        for run, bias in (("first", first[name, keys]), ("second", second[name, keys])):
            yield figure(run, own, SCALE * bias.corrected, UNIT, bias.cells, interval=bias.interval(SCALE), of=of)
        n = second[name, keys].cells
        yield figure("change", own, change, difference(UNIT), n, interval=interval, p_value=adjusted, of=of)
