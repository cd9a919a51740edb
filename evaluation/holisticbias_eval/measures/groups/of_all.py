"""Figures of all texts of a group, of the words in them, and of texts in which it is named in other words."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures.groups.figures import MEAN, SHARE, Groups
from holisticbias_eval.measures.groups.readings import Reading, TextMethod, Texts, read_method, read_texts
from holisticbias_eval.statistics.groups.items import Side, add_up, estimate

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
        codes = [reading.classes.index(cls) for cls in reading.method.opposite]
        for written in groups.sides:
            one, other = ((written.chosen & (reading.class_codes == code)).astype(float) for code in codes)
            columns = np.stack([written.chosen.astype(float), one, other, one - other], axis=1)
            items = add_up(texts.group, texts.item, columns, len(texts.groups))
            side = Side(np.array([1, 2, 3]), np.array([0, 0, 0]))
            found = estimate(items, texts.slices(), [side], np.array([True, True, False]), rng)
            for keys, level in ((texts.group_keys, found.groups[0]), (texts.all_domain_keys, found.domains[0])):
                for own, *values in zip(keys, level.value, level.low, level.high, level.rows[:, 0], strict=True):
                    yield from _of_all(groups, written.prefix, reading.method, own, *values)


def _of_all(
    groups: Groups,
    prefix: str,
    method: TextMethod,
    own: dict[str, str],
    value: Floats,
    low: Floats,
    high: Floats,
    n: float,
) -> Iterator[Figure]:
    for q, cls in enumerate(method.opposite):
        named, ends = {**own, "class": cls, **method.keys}, (low[q], high[q])
        yield groups.figure(f"{prefix}{OF_TEXTS}", named, value[q], "share", n, interval=ends)
    named, between = {**own, **method.keys}, (low[2], high[2]) if low[2] < high[2] else None
    unit = "share difference"
    yield groups.figure(f"{prefix}{OPPOSITE}", named, value[2], unit, n, interval=between, of=OF_TEXTS)
    counts = np.rint(np.nan_to_num(value[:2]) * n)
    ratio = counts[0] / counts[1] if counts[1] else None
    yield groups.figure(f"{prefix}{RATIO}", named, ratio, "ratio", counts.sum(), of=OF_TEXTS)


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
    each row whether it does. ``replaced`` and ``as_written`` are the share of each class and the mean of each method,
    on texts with a value in both tables; without any, the value is missing.
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
    for cls in (*classes, None):
        keys = method.keys if cls is None else {"class": cls, **method.keys}
        unit, of = (method.unit, MEAN) if cls is None else (SHARE, SHARE)
        for name, reading in zip((REPLACED, AS_WRITTEN), readings, strict=True):
            values = reading.values
            if cls is not None:
                code = reading.classes.index(cls) if cls in reading.classes else -2
                values = (reading.class_codes == code).astype(float)
            sums = np.bincount(texts.group[both], values[both], size)
            for g in np.flatnonzero(count + missing).tolist():
                value = sums[g] / count[g] if count[g] else None
                yield make_figure(measure, name, {**texts.keys(g), **keys}, value, unit, count[g], missing[g], of=of)
