"""The change of generation bias from one run to another, and its section."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools
from holisticbias_eval.blocks import ColumnOf, Paragraph, table_of
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.measure import View, baseline_of, change_bars
from holisticbias_eval.measures.responses.bias_figures import (
    CORRECTED,
    FULL,
    NAME,
    PARTIAL,
    SCALE,
    UNIT,
    Biases,
    Keys,
    figure,
    measure_biases,
)
from holisticbias_eval.measures.responses.styles import Named, arrange_styles, style_names
from holisticbias_eval.sections import Block, Section
from holisticbias_eval.statistics.intervals import normal_estimate
from holisticbias_eval.statistics.responses.bias import Bias
from holisticbias_eval.statistics.responses.cells import ResponseCells


def bias_changes(first: pa.Table, second: pa.Table, clusters: Named) -> tuple[Figure, ...]:
    """Compute the change of the corrected bias, full and partial, from one table of responses to another.

    Both are restricted to the styles and the cells (axis, descriptor, template)
    that both have; a cluster needs all its styles in both. What is over all axes
    leaves made-up words out. Figures are named
    ``first``, ``second`` and ``change``; ``of`` names the bias. A change has a 95%
    interval and a two-sided p-value: its variance is the sum of both runs' variances,
    as the responses of two runs are separate samples. Raises ``SelectionError``
    without a common style or cell.
    """
    one, other = style_names(first), style_names(second)
    styles = tuple(style for style in one if style in other)
    if not styles:
        raise SelectionError("the runs have no style in common: judge both with the same classifier")
    kept = {name: members for name, members in clusters.items() if set(members) <= set(styles)}
    cells = _in_both(arrange_styles(first, styles), arrange_styles(second, styles))
    biases = [measure_biases(found, kept) for found in cells]
    baseline = baseline_of(cells[0].axes)
    if baseline is None:
        return tuple(_changes(*biases, *biases))
    people = [measure_biases(found.keep(np.array([axis != baseline for axis, _, _ in _names(found)])), kept)
              for found in cells]  # fmt: skip
    return tuple(_changes(*people, *biases))


def _in_both(first: ResponseCells, second: ResponseCells) -> tuple[ResponseCells, ResponseCells]:
    names = [_names(cells) for cells in (first, second)]
    common = set(names[0]) & set(names[1])
    if not common:
        raise SelectionError("the runs have no descriptor and template in common")
    kept: list[Bools] = [np.array([name in common for name in found]) for found in names]
    return first.keep(kept[0]), second.keep(kept[1])


def _names(cells: ResponseCells) -> list[tuple[str, str, str]]:
    """Axis, descriptor and template of each cell."""
    pairs = zip(cells.descriptor.tolist(), cells.template.tolist(), strict=True)
    return [(*cells.descriptors[descriptor], cells.templates[template]) for descriptor, template in pairs]


def _changes(first: Biases, second: Biases, first_axes: Biases, second_axes: Biases) -> Iterator[Figure]:
    """The changes of what is over all axes of people, and those of each axis."""
    one, other = dict(_listed(first, first_axes)), dict(_listed(second, second_axes))
    for key, bias in one.items():
        if key in other and bias.cells:
            name, keys = key
            yield from _change(name + CORRECTED, dict(keys), bias, other[key])


def _listed(found: Biases, of_axes: Biases) -> Iterator[tuple[tuple[str, tuple[tuple[str, str], ...]], Bias]]:
    """Every bias to compare, by name and keys."""
    yield (FULL, ()), found.full
    for axis, bias in of_axes.full_by_axis.items():
        yield (FULL, (("axis", axis),)), bias
    for cluster, (bias, _) in found.partial.items():
        yield (PARTIAL, (("cluster", cluster),)), bias
    for style, bias in found.styles.items():
        yield (PARTIAL, (("style", style),)), bias


def _change(of: str, keys: Keys, first: Bias, second: Bias) -> Iterator[Figure]:
    for name, bias in (("first", first), ("second", second)):
        interval = bias.scaled_interval(SCALE)
        yield figure(name, keys, SCALE * bias.corrected, UNIT, bias.cells, interval=interval, of=of)
    change = SCALE * (second.corrected - first.corrected)
    error = SCALE * float(np.hypot(first.error, second.error))
    interval, p = normal_estimate(change, error)
    yield figure("change", keys, change, UNIT, second.cells, interval=interval, p_value=p, of=of)


def change_sections(changes: Figures, view: View) -> tuple[Section, ...]:
    """Show the corrected bias of both runs and its change: by axis, cluster and style."""

    def label(f: Figure) -> str:
        return ", ".join(view.label(key, value) for key, value in f.keys.items()) or "All axes"

    blocks: list[Block] = []
    for key, what in (("axis", "Full"), ("cluster", "Partial"), ("style", "Partial")):
        found = changes.by(NAME, "change", key)
        if key == "axis" and len(found) > 1:
            found = (*changes.by(NAME, "change"), *found)
        if found:
            name, caption = f"changes-by-{key}", f"{what} Gen Bias of A and B by {key}, corrected"
            columns: FigureColumns = (ColumnOf(key, key.title(), label), *col.changes(changes, UNIT), col.p())
            bars = change_bars(changes, found, label, name, caption, UNIT)
            blocks += [bars, table_of(name, caption, columns, found)]
    reading = "Both runs are restricted to the descriptors and templates that both have. Sampling noise is taken off."
    return (Section("generation-bias-changes", "Generation bias of A and B", (*blocks, Paragraph(reading, "note"))),)
