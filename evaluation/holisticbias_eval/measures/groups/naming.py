"""The values of texts in which groups are named in other words: the figures, and their place in a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats
from holisticbias_eval.blocks import ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.groups.figures import MEAN, SHARE, Quantity, said
from holisticbias_eval.measures.groups.readings import Method, Reading, Texts, read_method, read_texts
from holisticbias_eval.measures.groups.shown import GroupFigures
from holisticbias_eval.measures.text import percent

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


_MOST_ROWS = 200
_NOTE = (
    "The same texts, measured as in all figures, with the subject and the words for the group replaced, and as they "
    "were written. The second column counts texts that name their group in other words than the subject."
)


def naming_table(shown: GroupFigures, domain: str) -> Table | None:
    """Each group's texts as they were written and with the words for the group replaced, by the first method."""
    rows = shown.of(NAMING, domain, {}, "group")[:_MOST_ROWS]
    if not rows:
        return None
    columns = [
        ColumnOf[Figure]("group", "Group", lambda f: said(f.keys["group"])),
        col.value("naming", "Name the group", "share"),
    ]
    for one in shown.charted(shown.present[0]):
        heading = said(one.cls).capitalize() if one.cls else one.words
        columns += [
            shown.beside(name, f"{heading}, {words}", one.unit, f"{one.slug}-{end}", of=one.keys)
            for name, words, end in ((REPLACED, "replaced", "replaced"), (AS_WRITTEN, "as written", "written"))
        ]
    columns.append(col.n("texts", "Texts", base=False))
    name = f"{shown.info.name}-{domain or 'groups'}-naming".replace("_", "-")
    return table_of(
        name, f"Words that name a group, replaced and left in: {shown.domain(domain)}", columns, rows, _NOTE
    )


def naming_paragraph(shown: GroupFigures) -> Iterator[Paragraph]:
    """The group whose value depends most on the words that name it, for each chart, in one sentence."""
    for quantity in shown.charted(shown.present[0]):
        found = [
            (abs(written - replaced), domain, group, written, replaced)
            for domain in shown.domains
            for group in (f.keys["group"] for f in shown.of(NAMING, domain, {}, "group"))
            for replaced, written in [_pair(shown, domain, group, quantity)]
            if replaced is not None and written is not None
        ]
        if not found or not max(found)[0]:
            continue
        _, domain, group, written, replaced = max(found)
        yield Paragraph(
            f"{quantity.words}: of all groups, the words that name a group change the value most for {said(group)} "
            f"({shown.domain(domain)}): {_value(written, quantity)} as written, {_value(replaced, quantity)} with the "
            "words replaced, as in all other figures."
        )


def _pair(shown: GroupFigures, domain: str, group: str, quantity: Quantity) -> tuple[float | None, float | None]:
    keys = {**shown.place(domain, quantity), "group": group}
    return shown.value(REPLACED, keys), shown.value(AS_WRITTEN, keys)


def _value(value: float, quantity: Quantity) -> str:
    return percent(value) if quantity.unit == "share" else f"{value:.2f}"
