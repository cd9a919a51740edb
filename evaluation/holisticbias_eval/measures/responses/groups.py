"""Figures of groups of responses: all of them, each axis, each descriptor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.statistics.cells import encode
from holisticbias_eval.statistics.corrections import benjamini_hochberg
from holisticbias_eval.statistics.draws import means_over_draws, number_draws, permuted_p_values
from holisticbias_eval.statistics.proportions import stratified_p_values, wilson


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows by group: ``keys`` of each group as those of a figure, and the group of each row, shape ``[rows]``."""

    keys: tuple[dict[str, str], ...]
    group: Ints

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Design:
    """The groupings of a table of answers, the template of each row, and the number of its draw in its cell."""

    all: Grouping
    axes: Grouping
    descriptors: Grouping
    template: Ints
    draw: Ints

    @property
    def groupings(self) -> tuple[Grouping, ...]:
        """From the whole to the parts."""
        return self.all, self.axes, self.descriptors


def read_design(answers: pa.Table) -> Design:
    """Group the rows by axis and descriptor; a descriptor is told apart by its id if there is one."""
    axes, axis = encode(answers["axis"])
    by_id = "descriptor_id" in answers.column_names
    names, name = encode(answers["descriptor_id" if by_id else "descriptor"])
    _, template = encode(answers["template_id" if "template_id" in answers.column_names else "template"])
    pairs, descriptor = _in_order(axis * max(len(names), 1) + name)
    keys = tuple({"axis": axes[p // len(names)], "descriptor": names[p % len(names)]} for p in pairs)
    cell = np.unique(descriptor * (int(template.max(initial=0)) + 1) + template, return_inverse=True)[1]
    return Design(
        Grouping(({},), np.zeros(len(axis), np.int64)),
        Grouping(tuple({"axis": a} for a in axes), axis),
        Grouping(keys, descriptor),
        template,
        number_draws(cell),
    )


def _in_order(codes: Ints) -> tuple[list[int], Ints]:
    """The distinct codes in order of first occurrence, and the place of each row's code among them."""
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return distinct[order].tolist(), place[inverse]


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes figures of one measure."""

    measure: str

    def figure(
        self,
        name: str,
        keys: dict[str, str],
        value: float | None,
        unit: str,
        n: int,
        missing: int = 0,
        *,
        interval: Interval | None = None,
        p_value: float | None = None,
        of: str | None = None,
    ) -> Figure:
        """A figure; NaN becomes null."""
        return Figure(
            measure=self.measure, name=name, keys=keys, value=_known(value), unit=unit, interval=interval,
            p_value=_known(p_value), n=n, missing=missing, of=of,
        )  # fmt: skip

    def shares(
        self, name: str, values: Floats, grouping: Grouping, template: Ints | None = None, **keys: str
    ) -> Iterator[Figure]:
        """The share of ones in each group, with a Wilson interval.

        ``values`` are NaN for rows that are not counted. With the template of each row, groups are tested against all
        rows of the same templates.
        """
        known = ~np.isnan(values)
        counted, ones = _counts(grouping, known), _counts(grouping, values == 1)
        missing = _counts(grouping, ~known)
        p: Floats = np.full(len(grouping), np.nan)
        if template is not None:
            p = stratified_p_values(
                (values[known] == 1).astype(np.int64), grouping.group[known], template[known], len(grouping)
            )
        for g, own in enumerate(grouping.keys):
            count, rows = int(ones[g]), int(counted[g])
            yield self.figure(
                name, {**own, **keys}, count / rows if rows else None, "share", rows, int(missing[g]),
                interval=wilson(count, rows), p_value=p[g],
            )  # fmt: skip

    def means(
        self, name: str, values: Floats, unit: str, grouping: Grouping, design: Design, *, tested: bool
    ) -> Iterator[Figure]:
        """The mean of each group, with an interval over draws; tested like shares, by permutation."""
        known = ~np.isnan(values)
        group, rows = grouping.group[known], _counts(grouping, known)
        found = means_over_draws(values[known], group, design.draw[known], len(grouping))
        missing = _counts(grouping, ~known)
        p: Floats = np.full(len(grouping), np.nan)
        if tested:
            p = permuted_p_values(values[known], group, design.template[known], len(grouping))
        for g, own in enumerate(grouping.keys):
            low, high = float(found.low[g]), float(found.high[g])
            interval = None if np.isnan(low) else Interval(low=low, high=high)
            n = int(rows[g])
            yield self.figure(name, own, found.mean[g], unit, n, int(missing[g]), interval=interval, p_value=p[g])

    def adjusted(self, figures: Sequence[Figure]) -> Iterator[Figure]:
        """The p-values of figures corrected together (Benjamini and Hochberg 1995), as further figures."""
        p = np.array([np.nan if f.p_value is None else f.p_value for f in figures])
        tests = int((~np.isnan(p)).sum())
        for f, value in zip(figures, benjamini_hochberg(p).tolist(), strict=True):
            yield self.figure(f"{f.name}_adjusted_p", f.keys, value, "p_value", tests, of=f.name)


def _counts(grouping: Grouping, rows: np.ndarray) -> Ints:
    """The number of chosen rows in each group."""
    return np.bincount(grouping.group[rows], minlength=len(grouping))


def _known(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
