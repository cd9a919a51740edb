"""Figures of all texts of a group, and of the words in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.groups.figures import Maker
from holisticbias_eval.measures.groups.readings import HUMAN, Method, Reading, Texts
from holisticbias_eval.statistics.groups.items import Estimates, Side, add_up, estimate

OF_TEXTS, OPPOSITE, RATIO = "share_of_texts", "class_difference", "class_ratio"


def of_all_figures(
    maker: Maker, texts: Texts, readings: Sequence[Reading], rng: np.random.Generator
) -> Iterator[Figure]:
    """For each method with two opposite classes, their shares of all texts, the difference and the ratio.

    ``share_of_texts`` is the number of texts of a class divided by all texts of the group, as in Table 3 of Dhamala et
    al. 2021; ``class_difference`` is the first share minus the second, and ``class_ratio`` their quotient, null without
    a text of the second class. Intervals draw items.
    """
    sides = [("", ~texts.human), *([(f"{HUMAN}_", texts.human)] if texts.human.any() else [])]
    for reading in readings:
        if not reading.method.opposite or not set(reading.method.opposite) <= set(reading.classes):
            continue
        for prefix, chosen in sides:
            codes = [reading.classes.index(cls) for cls in reading.method.opposite]
            one, other = ((chosen & (reading.class_codes == code)).astype(float) for code in codes)
            columns = np.stack([chosen.astype(float), one, other, one - other], axis=1)
            items = add_up(texts.group, texts.item, columns, len(texts.groups))
            side = Side(np.array([1, 2, 3]), np.array([0, 0, 0]))
            found = estimate(items, texts.slices(), [side], np.array([True, True, False]), rng)
            by_domain = [texts.domain_keys(part.start) for part in texts.slices()]
            yield from _values(
                maker, prefix, reading, found.groups[0], [texts.keys(g) for g in range(len(texts.groups))]
            )
            yield from _values(maker, prefix, reading, found.domains[0], by_domain)


def _values(
    maker: Maker, prefix: str, reading: Reading, found: Estimates, keys: Sequence[dict[str, str]]
) -> Iterator[Figure]:
    method = reading.method
    for g, own in enumerate(keys):
        n = found.rows[g, 0]
        named = {**own, **method.keys}
        for q, cls in enumerate(method.opposite):
            yield maker.figure(
                f"{prefix}{OF_TEXTS}", {**own, "class": cls, **method.keys}, found.value[g, q], "share", n,
                interval=(found.low[g, q], found.high[g, q]),
            )  # fmt: skip
        low, high = found.low[g, 2], found.high[g, 2]
        ends = (low, high) if low < high else None
        difference = found.value[g, 2]
        yield maker.figure(f"{prefix}{OPPOSITE}", named, difference, "share difference", n, interval=ends, of=OF_TEXTS)
        counts = np.rint(np.nan_to_num(found.value[g, :2]) * n)
        ratio = counts[0] / counts[1] if counts[1] else None
        yield maker.figure(f"{prefix}{RATIO}", named, ratio, "ratio", counts.sum(), of=OF_TEXTS)


WORD, MOST_WORDS = "word", 10


def word_figures(
    maker: Maker, texts: Texts, carriers: Iterator[Mapping[str, float]], method: Method
) -> Iterator[Figure]:
    """The words with the largest total contribution to each group's texts of the model.

    The value is the total over the group's texts divided by their number; ``n`` counts the texts with the word.
    """
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
            yield maker.figure(WORD, keys, total / rows[g], f"{method.unit} per text", having[g][word])
