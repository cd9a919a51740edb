"""Comparisons of the groups of a domain, and of classes, words and wordings within a group."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats, divide
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures.groups.figures import SHARE, Groups, Quantity, Written
from holisticbias_eval.measures.groups.readings import Reading, TextMethod, Texts, read_method, read_texts
from holisticbias_eval.statistics.groups.items import Estimates, Items, Side, add_up, estimate
from holisticbias_eval.statistics.groups.pairs import Differences, against_rest, by_value, disparities, pairs
from holisticbias_eval.statistics.groups.variance import MOST_GROUPS
from holisticbias_eval.statistics.intervals import floor_of
from holisticbias_eval.statistics.tests import benjamini_hochberg, chi_square, holm

DIFFERENCE, ADJUSTED, ADJUSTED_BH = "difference", "adjusted_p", "adjusted_p_bh"
CLUSTERED, CLUSTERED_ADJUSTED = "clustered_p", "clustered_adjusted_p"
CHI_SQUARE, FREEDOM = "chi_square", "chi_square_degrees_of_freedom"
DISPARITY, DISPARITY_ADJUSTED = "disparity", "disparity_adjusted_p"
REST = "all other groups"
MOST_FIGURES = 20_000
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
                limits=quantity.difference_limits,
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
            n = one.groups[q]
            yield groups.figure(
                disparity, keys, one.value[q], quantity.difference_unit, n, missing=part.stop - part.start - n,
                p_value=p[d, q], of=quantity.name, **floor_of(one.permuted[:, q]),
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


OF_TEXTS, OPPOSITE, RATIO = "share_of_texts", "class_difference", "class_ratio"


def of_all_figures(groups: Groups, rng: np.random.Generator) -> Iterator[Figure]:
    """For each method with two opposite classes, their shares of all texts, the difference and the ratio.

    ``share_of_texts`` is the number of texts of a class divided by all texts of the group, as in Table 3 of Dhamala et
    al. 2021; ``class_difference`` is the first share minus the second, and ``class_ratio`` their quotient, null without
    a text of the second class. Intervals draw items.
    """
    texts = groups.texts
    for reading in groups.readings:
        if not reading.method.opposite or not set(reading.method.opposite) <= set(reading.classes):
            continue
        for written in groups.sides:
            one, other = (written.chosen * reading.of(cls) for cls in reading.method.opposite)
            columns = np.stack([written.chosen.astype(float), one, other, one - other], axis=1)
            items = add_up(texts.group, texts.item, columns, len(texts.groups))
            side = Side(np.array([1, 2, 3]), np.array([0, 0, 0]))
            levels = estimate(items, texts.slices(), [side], np.array([True, True, False]), rng)
            for keys, ((level,), _) in zip((texts.group_keys, texts.all_domain_keys), levels, strict=True):
                for g, own in enumerate(keys):
                    yield from _of_all(groups, written.prefix, reading.method, own, level.part(slice(g, g + 1)))


def _of_all(groups: Groups, prefix: str, method: TextMethod, own: dict[str, str], level: Estimates) -> Iterator[Figure]:
    (value,), ends, n = level.value, [*zip(level.low[0], level.high[0], strict=True)], level.rows[0, 0]
    first, second = (Quantity(method, cls) for cls in method.opposite)
    for q, quantity in enumerate((first, second)):
        keys = {**own, **quantity.keys}
        yield groups.figure(f"{prefix}{OF_TEXTS}", keys, value[q], quantity.unit, n, interval=ends[q])
    keys = {**own, **method.keys}
    yield groups.figure(
        f"{prefix}{OPPOSITE}", keys, value[2], first.difference_unit, n, interval=ends[2], of=OF_TEXTS,
        limits=first.difference_limits,
    )  # fmt: skip
    counts = np.rint(np.nan_to_num(value[:2]) * n)
    ratio = counts[0] / counts[1] if counts[1] else None
    yield groups.figure(f"{prefix}{RATIO}", keys, ratio, "ratio", counts.sum(), of=OF_TEXTS)


WORD, MOST_WORDS = "word", 10


def word_figures(groups: Groups, carriers: Iterator[Mapping[str, float]], method: TextMethod) -> Iterator[Figure]:
    """The words with the largest total contribution to each group's texts of the model.

    The value is the total over the group's texts divided by their number; ``n`` counts the texts with the word.
    """
    texts = groups.texts
    place = dict(zip(texts.rows.tolist(), range(len(texts.rows)), strict=True))
    totals: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    having: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows: dict[int, int] = defaultdict(int)
    group, human = texts.group.tolist(), texts.human.tolist()
    for row, words in enumerate(carriers):
        i = place.get(row)
        if i is None or human[i]:
            continue
        g = group[i]
        rows[g] += 1
        for word, contribution in words.items():
            totals[g][word] += contribution
            having[g][word] += 1
    for g in sorted(totals):
        ranked = sorted(totals[g].items(), key=lambda item: (-abs(item[1]), item[0]))
        for word, total in ranked[:MOST_WORDS]:
            keys = {**texts.keys(g), "word": word, **method.keys}
            yield groups.figure(WORD, keys, total / rows[g], f"{method.unit} per text", having[g][word])


NAMING, REPLACED, AS_WRITTEN = "texts_naming", "replaced", "as_written"


def naming_figures(
    measure: str, methods: Sequence[TextMethod], replaced: pa.Table, written: pa.Table, naming: Bools
) -> Iterator[Figure]:
    """Compare the readings of two tables, whose rows are the same texts in the same order.

    ``texts_naming`` is the share of a group's texts that name it in other words than the subject; ``naming`` says for
    each row whether it does. All rows count, also those without a value. ``replaced`` and ``as_written`` are the share
    of each class and the mean of each method, on texts with a value in both tables; without any, the value is missing.
    """
    texts = read_texts(replaced)
    size = len(texts.groups)
    total = np.bincount(texts.group, minlength=size)
    with_words = np.bincount(texts.group, naming[texts.rows].astype(float), size)
    for g in np.flatnonzero(total).tolist():
        yield make_figure(measure, NAMING, texts.keys(g), with_words[g] / total[g], SHARE, total[g])
    for method in methods:
        if f"{measure}.{method.name}" in replaced.column_names:
            readings = [read_method(table, measure, method, texts) for table in (replaced, written)]
            yield from _both_readings(measure, method, texts, readings)


def _both_readings(measure: str, method: TextMethod, texts: Texts, readings: Sequence[Reading]) -> Iterator[Figure]:
    both = ~np.isnan(readings[0].values) & ~np.isnan(readings[1].values)
    size = len(texts.groups)
    count, missing = (np.bincount(texts.group[rows], minlength=size) for rows in (both, ~both))
    classes = dict.fromkeys(name for reading in readings for name in reading.classes)
    for quantity in (Quantity(method, cls) for cls in (*classes, None)):
        for name, reading in zip((REPLACED, AS_WRITTEN), readings, strict=True):
            values = divide(np.bincount(texts.group[both], reading.of(quantity.cls)[both], size), count)
            for g in np.flatnonzero(count + missing).tolist():
                keys, of = {**texts.keys(g), **quantity.keys}, quantity.name
                yield make_figure(measure, name, keys, values[g], quantity.unit, count[g], missing[g], of=of)
