"""Comparisons of groups within a domain: pairs, all groups at once, and the largest difference."""

from collections.abc import Iterator, Sequence

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.groups.figures import Groups, Quantity, Written
from holisticbias_eval.statistics.groups.items import Estimates, Items
from holisticbias_eval.statistics.groups.pairs import Differences, against_rest, by_value, disparities, pairs
from holisticbias_eval.statistics.intervals import floor_of
from holisticbias_eval.statistics.tests import benjamini_hochberg, chi_square, holm

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


def comparison_figures(groups: Groups, rng: np.random.Generator) -> Iterator[Figure]:
    """Comparisons of the groups of each domain.

    Differences with their p-values, tests of all groups, and disparities with their floors.
    """
    slices, layout = groups.texts.slices(), groups.model.layout
    in_pairs = domains_in_pairs([part.stop - part.start for part in slices], len(groups.quantities))
    variance = layout.row_variance(groups.items.group_sums())
    several = {d: part for d, part in enumerate(slices) if part.stop - part.start > 1}
    for d, part in several.items():
        compare, found = pairs if d in in_pairs else against_rest, groups.model.groups.part(part)
        yield from _differences(groups, part, compare(found, variance[part], layout.shares), found)
        yield from _chi_squares(groups, groups.texts.domain_keys(part.start), found)
    for side in groups.sides if several else ():
        yield from _disparities(groups, side, [*several.values()], rng)


def _differences(groups: Groups, part: slice, found: Differences, values: Estimates) -> Iterator[Figure]:
    """Each difference, followed by its corrected p-values."""
    names = [*(name for _, name in groups.texts.groups[part]), REST]
    domain = groups.texts.domain_keys(part.start)
    corrected = {ADJUSTED: by_value(found.p_value, holm), ADJUSTED_BH: by_value(found.p_value, benjamini_hochberg)}
    if (values.rows > values.items).any():
        corrected |= {CLUSTERED: found.clustered_p, CLUSTERED_ADJUSTED: by_value(found.clustered_p, holm)}
    tests = (~np.isnan(found.p_value)).sum(axis=0)
    for q, quantity in enumerate(groups.quantities):
        for c, (first, second) in enumerate(zip(found.first.tolist(), found.second.tolist(), strict=True)):
            keys = {**domain, "first": names[first], "second": names[second], **quantity.keys}
            yield groups.figure(
                DIFFERENCE, keys, found.value[c, q], quantity.difference_unit, found.rows[c, q],
                interval=(found.low[c, q], found.high[c, q]), p_value=found.p_value[c, q], of=quantity.name,
            )  # fmt: skip
            for name, p in corrected.items():
                yield groups.figure(name, keys, p[c, q], "p_value", tests[q], of=DIFFERENCE)


def _chi_squares(groups: Groups, domain: dict[str, str], found: Estimates) -> Iterator[Figure]:
    """Pearson's test of every class against all others, and of all classes of a method."""
    counts = np.rint(np.nan_to_num(found.value) * found.rows)
    whole: dict[int, list[int]] = {}
    for q, quantity in enumerate(groups.quantities):
        if quantity.cls is not None:
            whole.setdefault(quantity.reading, []).append(q)
            both = np.stack([counts[:, q], found.rows[:, q] - counts[:, q]], axis=1)
            yield from _chi_square(groups, {**domain, **quantity.keys}, both)
    for reading, places in whole.items():
        yield from _chi_square(groups, {**domain, **groups.readings[reading].method.keys}, counts[:, places])


def _chi_square(groups: Groups, keys: dict[str, str], counts: Floats) -> Iterator[Figure]:
    (value, p, freedom), rows = chi_square(counts) or (None, None, None), counts.sum()
    yield groups.figure(CHI_SQUARE, keys, value, "chi-square", rows, p_value=p)
    yield groups.figure(FREEDOM, keys, freedom, "count", rows, of=CHI_SQUARE)


def _disparities(groups: Groups, side: Written, several: Sequence[slice], rng: np.random.Generator) -> Iterator[Figure]:
    """The largest minus the smallest value of each domain, its floor, and p-values corrected over domains."""
    layout, disparity = side.layout, f"{side.prefix}{DISPARITY}"
    found = [disparities(items_of(groups.items, part, layout.first), layout.side, rng) for part in several]
    p = np.stack([one.p_values() for one in found])
    for q, quantity in enumerate(layout.quantities):
        family = [i for i, other in enumerate(layout.quantities) if _family(other) == _family(quantity)]
        adjusted = holm(p[:, family].ravel()).reshape(len(found), -1)[:, family.index(q)]
        tests = int((~np.isnan(p[:, family])).sum())
        for d, (part, one) in enumerate(zip(several, found, strict=True)):
            keys = {**groups.texts.domain_keys(part.start), **quantity.keys}
            permuted, n = one.permuted[:, q], one.groups[q]
            yield groups.figure(
                disparity, keys, one.value[q], quantity.difference_unit, n, missing=part.stop - part.start - n,
                p_value=p[d, q], of=quantity.name, **floor_of(permuted[~np.isnan(permuted)]),
            )  # fmt: skip
            name = f"{side.prefix}{DISPARITY_ADJUSTED}"
            yield groups.figure(name, keys, adjusted[d], "p_value", tests, of=disparity)


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
