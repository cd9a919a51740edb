"""Comparisons of groups within a domain: pairs, all groups at once, and the largest difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.groups.figures import Groups, Layout, Maker, Quantity, difference_unit
from holisticbias_eval.statistics.groups.items import Estimates, Items
from holisticbias_eval.statistics.groups.pairs import Differences, Disparities, against_rest, disparities, pairs
from holisticbias_eval.statistics.intervals import middle_of
from holisticbias_eval.statistics.tests import chi_square, holm

DIFFERENCE, ADJUSTED, ADJUSTED_BH = "difference", "adjusted_p", "adjusted_p_bh"
CLUSTERED, CLUSTERED_ADJUSTED = "clustered_p", "clustered_adjusted_p"
CHI_SQUARE, FREEDOM = "chi_square", "chi_square_degrees_of_freedom"
DISPARITY, DISPARITY_ADJUSTED = "disparity", "disparity_adjusted_p"
REST = "all other groups"
MOST_GROUPS, MOST_FIGURES = 60, 20_000
"""Groups of a domain up to which all pairs are compared, and differences of a measure up to which that is done."""


def domains_in_pairs(sizes: Sequence[int], quantities: int) -> frozenset[int]:
    """The domains in which all pairs are compared, the smallest first; in the others each group with the rest.

    ``sizes`` are the numbers of groups. At most ``MOST_GROUPS`` groups of a domain and ``MOST_FIGURES`` differences.
    """
    found, left = set(), MOST_FIGURES
    for domain in sorted(range(len(sizes)), key=sizes.__getitem__):
        cost = sizes[domain] * (sizes[domain] - 1) // 2 * quantities
        if sizes[domain] > MOST_GROUPS or cost > left:
            break
        found.add(domain)
        left -= cost
    return frozenset(found)


@dataclass(frozen=True)
class Comparisons(Maker):
    """Comparisons of the groups of each domain."""

    groups: Groups

    def figures(self, rng: np.random.Generator) -> Iterator[Figure]:
        """Differences with their p-values, tests of all groups, and disparities with their floors."""
        slices = self.groups.texts.slices()
        in_pairs = domains_in_pairs([part.stop - part.start for part in slices], len(self.groups.model.quantities))
        found = self.groups.found.groups[0]
        variance = self.groups.model.row_variance(self.groups.items.group_sums())
        for d, part in enumerate(slices):
            if part.stop - part.start < 2:
                continue
            compare = pairs if d in in_pairs else against_rest
            differences = compare(found.part(part), variance[part], self.groups.model.shares)
            yield from self._differences(part, differences, found.part(part))
            yield from self._chi_squares(part, found.part(part))
        for prefix, layout, _, _ in self.groups.sides:
            yield from self._disparities(prefix, layout, slices, rng)

    def _differences(self, part: slice, found: Differences, groups: Estimates) -> Iterator[Figure]:
        """Each difference, followed by its corrected p-values."""
        texts = self.groups.texts
        names = [name for _, name in texts.groups[part]]
        domain = texts.domain_keys(part.start)
        corrected = {ADJUSTED: found.holm, ADJUSTED_BH: found.benjamini_hochberg}
        if (groups.rows > groups.items).any():
            corrected |= {CLUSTERED: found.clustered_p, CLUSTERED_ADJUSTED: found.clustered_holm}
        tests = (~np.isnan(found.p_value)).sum(axis=0)
        for q, quantity in enumerate(self.groups.model.quantities):
            unit = difference_unit(quantity)
            for c in range(len(found.first)):
                second = int(found.second[c])
                both = {"first": names[int(found.first[c])], "second": names[second] if second >= 0 else REST}
                keys = {**domain, **both, **quantity.keys}
                yield self.figure(
                    DIFFERENCE, keys, found.value[c, q], unit, found.rows[c, q],
                    interval=(found.low[c, q], found.high[c, q]), p_value=found.p_value[c, q], of=quantity.name,
                )  # fmt: skip
                for name, p in corrected.items():
                    yield self.figure(name, keys, p[c, q], "p_value", tests[q], of=DIFFERENCE)

    def _chi_squares(self, part: slice, found: Estimates) -> Iterator[Figure]:
        """Pearson's test of every class against all others, and of all classes of a method."""
        domain = self.groups.texts.domain_keys(part.start)
        counts = np.rint(np.nan_to_num(found.value) * found.rows)
        whole: dict[int, list[int]] = {}
        for q, quantity in enumerate(self.groups.model.quantities):
            if quantity.cls is not None:
                whole.setdefault(quantity.reading, []).append(q)
                both = np.stack([counts[:, q], found.rows[:, q] - counts[:, q]], axis=1)
                yield from self._chi_square({**domain, **quantity.keys}, both)
        for places in whole.values():
            method = self.groups.model.quantities[places[0]].method
            yield from self._chi_square({**domain, **method.keys}, counts[:, places])

    def _chi_square(self, keys: dict[str, str], counts: Floats) -> Iterator[Figure]:
        found, rows = chi_square(counts), counts.sum()
        value, p = (None, None) if found is None else (found.statistic, found.p_value)
        freedom = None if found is None else found.freedom
        yield self.figure(CHI_SQUARE, keys, value, "chi-square", rows, p_value=p)
        yield self.figure(FREEDOM, keys, freedom, "count", rows, of=CHI_SQUARE)

    def _disparities(
        self, prefix: str, layout: Layout, slices: Sequence[slice], rng: np.random.Generator
    ) -> Iterator[Figure]:
        """The largest minus the smallest value of each domain, its floor, and p-values corrected over domains."""
        several = [part for part in slices if part.stop - part.start > 1]
        items = self.groups.items
        found = [disparities(items_of(items, part, layout.first), layout.side, rng) for part in several]
        if not found:
            return
        p = np.stack([one.p_values() for one in found])
        for q, quantity in enumerate(layout.quantities):
            family = [i for i, other in enumerate(layout.quantities) if _family(other) == _family(quantity)]
            adjusted = holm(p[:, family].ravel()).reshape(len(found), -1)[:, family.index(q)]
            tests = int((~np.isnan(p[:, family])).sum())
            for d, (part, one) in enumerate(zip(several, found, strict=True)):
                keys = {**self.groups.texts.domain_keys(part.start), **quantity.keys}
                yield self._disparity(f"{prefix}{DISPARITY}", keys, layout.quantities[q], q, one, p[d, q], part)
                name = f"{prefix}{DISPARITY_ADJUSTED}"
                yield self.figure(name, keys, adjusted[d], "p_value", tests, of=f"{prefix}{DISPARITY}")

    def _disparity(
        self, name: str, keys: dict[str, str], quantity: Quantity, q: int, found: Disparities, p: float, part: slice
    ) -> Figure:
        permuted = found.permuted[:, q]
        known = permuted[~np.isnan(permuted)]
        floor = float(known.mean()) if len(known) else None
        n = found.groups[q]
        return self.figure(
            name, keys, found.value[q], difference_unit(quantity), n, missing=part.stop - part.start - n, floor=floor,
            floor_interval=middle_of(permuted), p_value=p, of=quantity.name,
        )  # fmt: skip


def _family(quantity: Quantity) -> tuple[int, str]:
    """The quantities whose p-values are corrected together: the classes of a method, or its mean."""
    return quantity.reading, quantity.name


def items_of(items: Items, part: slice, column: int) -> Items:
    """The items of some groups that have a row in a column."""
    start, end = items.starts[part.start], items.starts[part.stop]
    kept = items.sums[start:end, column] > 0
    before = np.concatenate([[0], np.cumsum(kept)])
    starts = before[items.starts[part.start : part.stop + 1] - start]
    return Items(items.sums[start:end][kept], starts)
