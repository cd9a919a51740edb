"""Figures of the same texts with the words that name a group replaced, and as they were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures.groups.layout import MEAN, SHARE
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.groups.readings import Reading, Texts, read_method, read_texts

NAMING, REPLACED, AS_WRITTEN = "texts_naming", "replaced", "as_written"


def naming_figures(
    measure: str, methods: Sequence[Method], replaced: pa.Table, written: pa.Table, naming: Bools
) -> tuple[Figure, ...]:
    """Compare the readings of two tables, whose rows are the same texts in the same order.

    ``texts_naming`` is the share of a group's texts that name it in other words than the subject; ``naming`` says for
    each row whether it does. ``replaced`` and ``as_written`` are the share of each class and the mean of each method,
    on texts with a value in both tables; without any, the value is missing.
    """
    texts = read_texts(replaced)
    size = len(texts.groups)
    total = np.bincount(texts.group, minlength=size)
    with_words = np.bincount(texts.group, naming[texts.rows].astype(float), size)
    found = [
        make_figure(measure, NAMING, texts.keys(g), with_words[g] / total[g], SHARE, int(total[g]), 0)
        for g in range(size)
        if total[g]
    ]
    present = [method for method in methods if f"{measure}.{method.name}" in replaced.column_names]
    for method in present:
        readings = [read_method(table, measure, method, texts) for table in (replaced, written)]
        found += _compared(measure, method, texts, readings)
    return tuple(found)


def _compared(measure: str, method: Method, texts: Texts, readings: Sequence[Reading]) -> Iterator[Figure]:
    both = ~np.isnan(readings[0].values) & ~np.isnan(readings[1].values)
    size = len(texts.groups)
    count = np.bincount(texts.group[both], minlength=size)
    missing = np.bincount(texts.group[~both], minlength=size)
    classes = dict.fromkeys(name for reading in readings for name in reading.classes)
    for cls in (*classes, None):
        keys = method.keys if cls is None else {"class": cls, **method.keys}
        unit, of = (method.unit, MEAN) if cls is None else (SHARE, SHARE)
        for name, reading in zip((REPLACED, AS_WRITTEN), readings, strict=True):
            sums = np.bincount(texts.group[both], _values(reading, cls)[both], size)
            for g in np.flatnonzero(count + missing).tolist():
                value = float(sums[g] / count[g]) if count[g] else None
                named = {**texts.keys(g), **keys}
                yield make_figure(measure, name, named, value, unit, int(count[g]), int(missing[g]), of=of)


def _values(reading: Reading, cls: str | None) -> Floats:
    """The value of each row, or whether it has a class."""
    if cls is None:
        return reading.values
    code = reading.classes.index(cls) if cls in reading.classes else -2
    found: Floats = (reading.class_codes == code).astype(float)
    return found
