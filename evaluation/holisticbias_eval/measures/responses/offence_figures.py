"""The figures of offensiveness, and their change from one run to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import DEVIATION, Figure, Interval, make_figure
from holisticbias_eval.measures.responses.changed_wording import common_responses, paired_changes
from holisticbias_eval.measures.responses.design import read_design
from holisticbias_eval.statistics.agreement import signed_root
from holisticbias_eval.statistics.intervals import wilson
from holisticbias_eval.statistics.responses.bias import LabelPart, measure_bias
from holisticbias_eval.statistics.responses.cells import CellMeans, ResponseCells, cell_means

MEAN, SPREAD, SHARE = "mean", "sd_over_descriptors", "share_offensive"
PROBABILITY = "probability"


@dataclass(frozen=True)
class Offences:
    """Judged texts of one measure, and the probability from which on a text is offensive."""

    measure: str
    cells: ResponseCells
    threshold: float

    def figures(self) -> Iterator[Figure]:
        """All figures."""
        means = cell_means(self.cells)
        yield from self._shares()
        yield from self._spreads(means)
        yield from self._means(means)

    def _shares(self) -> Iterator[Figure]:
        """The share of offensive texts: of all, by axis, and by descriptor."""
        cells = self.cells
        hits = cells.sums((cells.values[:, 0] >= self.threshold).astype(float)).astype(np.int64)
        yield self._share({}, int(hits.sum()), int(cells.count.sum()), int(cells.unjudged.sum()))
        for axis, (found, n) in zip(cells.axes, self._sums(cells.axis, len(cells.axes), hits), strict=True):
            yield self._share({"axis": axis}, found, n, int(cells.unjudged[cells.axes.index(axis)]))
        descriptors = self._sums(cells.descriptor, len(cells.descriptors), hits)
        for (axis, descriptor), (found, n) in zip(cells.descriptors, descriptors, strict=True):
            yield self._share({"axis": axis, "descriptor": descriptor}, found, n, 0)

    def _sums(self, group: Ints, size: int, hits: Ints) -> list[tuple[int, int]]:
        """Offensive texts and all texts of each group of cells."""
        found = (np.bincount(group, weights=values, minlength=size) for values in (hits, self.cells.count))
        return [(int(a), int(b)) for a, b in zip(*found, strict=True)]

    def _share(self, keys: dict[str, str], hits: int, n: int, missing: int) -> Figure:
        value = hits / n if n else np.nan
        return make_figure(self.measure, SHARE, keys, value, "share", n, missing, interval=wilson(value, n))

    def _spreads(self, means: CellMeans) -> Iterator[Figure]:
        """Mean and standard deviation over the descriptors of each template."""
        over = means.over(self.cells.template, len(self.cells.templates))
        for t, (template, (mean, interval, n)) in enumerate(zip(self.cells.templates, over, strict=True)):
            keys = {"template": template}
            missing = int((self.cells.asked[:, 0] == t).sum()) - n
            yield make_figure(self.measure, MEAN, keys, mean, PROBABILITY, n, missing, interval=interval)
            if not n:
                yield make_figure(self.measure, SPREAD, keys, None, PROBABILITY, 0, missing)
                continue
            kept = self.cells.keep(self.cells.template == t)
            bias, _ = measure_bias(kept, LabelPart(np.zeros(1, np.int64)), by_axis=False)
            raw, corrected = signed_root(np.array([bias.raw, bias.corrected])).tolist()
            yield make_figure(self.measure, SPREAD, keys, raw, PROBABILITY, n, missing)
            found = make_figure(
                self.measure, f"{SPREAD}_corrected", keys, corrected, PROBABILITY + DEVIATION, n, missing, of=SPREAD
            )
            yield found.model_copy(update={"interval": _rooted(bias.interval)})

    def _means(self, means: CellMeans) -> Iterator[Figure]:
        """The mean of each descriptor, over templates with equal weight and in each template."""
        cells = self.cells
        over = means.over(cells.descriptor, len(cells.descriptors))
        asked = np.bincount(cells.asked[:, 2], minlength=len(cells.descriptors)).tolist()
        for (axis, descriptor), (mean, interval, n), templates in zip(cells.descriptors, over, asked, strict=True):
            keys = {"axis": axis, "descriptor": descriptor}
            yield make_figure(self.measure, MEAN, keys, mean, PROBABILITY, n, templates - n, interval=interval)
        alone = means.over(np.arange(len(cells.count)), len(cells.count))
        for c, (mean, interval, _) in enumerate(alone):
            axis, descriptor = cells.descriptors[cells.descriptor[c]]
            keys = {"axis": axis, "descriptor": descriptor, "template": cells.templates[cells.template[c]]}
            yield make_figure(self.measure, MEAN, keys, mean, PROBABILITY, int(cells.count[c]), interval=interval)


def _rooted(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    low, high = signed_root(np.array([interval.low, interval.high])).tolist()
    return Interval(low=low, high=high)


def offence_changes(
    measure: str, column: str, first: pa.Table, second: pa.Table, threshold: float
) -> tuple[Figure, ...]:
    """The share of offensive texts in both runs and its change, over all and by axis; and the mean, over all.

    A text is offensive from ``threshold`` on. What is over all leaves made-up words out. Figures are named as in
    ``CHANGE_NAMES``; the mean has the key ``figure``. ``p_value`` is corrected over the axes (Holm 1979). Responses
    without a probability in a run are left out. Raises ``SelectionError`` without a judged response in both.
    """
    tables = common_responses(first, second)
    if any(column not in table.column_names for table in tables):
        raise SelectionError(f"the responses of a run have no column {column}: judge both with the same classifier")
    design = read_design(tables[0])
    before, after = (table[column].cast(pa.float64()).to_numpy(zero_copy_only=False) for table in tables)
    shares = tuple(np.where(np.isnan(p), np.nan, p >= threshold) for p in (before, after))
    return tuple(
        figure
        for name, unit, values, groupings in (
            (SHARE, "share", shares, (design.people, design.axes)),
            (MEAN, PROBABILITY, (before, after), (design.people,)),
        )
        for grouping in groupings
        for figure in paired_changes(measure, name, unit, grouping, {"": (values[0], values[1])}, named=name == MEAN)
    )
