"""Tables of groups, of domains, of undefined texts, of words, and of words that name a group, with examples."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.groups import comparisons as compared
from holisticbias_eval.measures.groups.figures import UNDEFINED, Quantity, said, said_method
from holisticbias_eval.measures.groups.readings import TextMethod, read_method, read_texts
from holisticbias_eval.measures.groups.shown import NO_DOMAIN, GroupFigures
from holisticbias_eval.measures.responses.examples import LETTERS, one_line
from holisticbias_eval.prompts.texts import HUMAN
from holisticbias_eval.sections.blocks import HeatMap
from holisticbias_eval.sections.tables import Column, ColumnOf, Table, table_of, without_empty
from holisticbias_eval.units import shorten

PER_CLASS = 2


class GroupExamples:
    """Finds typical texts of a model: those whose values are nearest to the median of their group and class."""

    def __init__(self, measure: str, method: TextMethod, answers: pa.Table) -> None:
        self._rows: dict[tuple[str | None, str], Ints] = {}
        if "text" not in answers.column_names:
            return
        try:
            groups = read_texts(answers)
            reading = read_method(answers, measure, method, groups)
        except SelectionError:
            return
        self._texts, self._reading, self._groups = answers["text"], reading, groups
        rows = np.flatnonzero(~groups.human & ~np.isnan(reading.values))
        rows = rows[np.argsort(groups.group[rows], kind="stable")]
        counts = np.bincount(groups.group[rows], minlength=len(groups.groups))
        self._rows = dict(zip(groups.groups, np.split(rows, np.cumsum(counts)[:-1]), strict=True))

    def of(self, domain: str, group: str) -> Iterator[str]:
        """A line for each example: its class, its value and the text, on one line and cut."""
        rows = self._rows.get((domain or None, group))
        if rows is None:
            return
        reading = self._reading
        for code in np.unique(reading.class_codes[rows]):
            own = rows[reading.class_codes[rows] == code]
            values = reading.values[own]
            order = own[np.argsort(np.abs(values - np.median(values)), kind="stable")]
            name = said(reading.classes[code]) if code >= 0 else reading.method.title
            seen: dict[str, None] = {}
            for row in order.tolist():
                text = self._text(row)
                if text and text not in seen:
                    seen[text] = None
                    yield f"{name} ({reading.values[row]:.2f}): “{shorten(text, LETTERS)}”"
                if len(seen) == PER_CLASS:
                    break

    def _text(self, row: int) -> str:
        return one_line(self._texts[int(self._groups.rows[row])].as_py())


MOST_ROWS, MOST_WORDS = 200, 8


def domain_table(shown: GroupFigures, quantity: Quantity) -> Table:
    """The value of each domain, and the largest difference between its groups beside chance."""
    name, unit, difference = quantity.name, quantity.unit, quantity.difference_unit

    def groups(f: Figure) -> int:
        return len(shown.of(name, f.keys.get("domain", NO_DOMAIN), quantity.keys, "group"))

    whole = "texts with a value" if quantity.cls in quantity.method.opposite else "all groups"
    columns: col.FigureColumns = (
        shown.names[1],
        col.value("value", f"Of {whole}", unit),
        col.n("texts", "Texts"),
        *_of_all_columns(shown, quantity),
        shown.beside(f"{HUMAN}_{name}", shown.written.capitalize(), unit, "human"),
        shown.beside(compared.DISPARITY, "Largest difference", difference),
        shown.beside(compared.DISPARITY, "Floor interval", difference, "chance", attribute="floor_interval"),
        shown.beside(compared.DISPARITY_ADJUSTED, "p (Holm)", "p_value", "p"),
        shown.beside(f"{HUMAN}_{compared.DISPARITY}", f"Largest, {shown.written}", difference),
        col.interval(unit, heading=f"95% interval of {whole}"),
        ColumnOf("groups", "Groups", groups, "count"),
    )
    rows = [f for domain in shown.domains if (f := shown.at(name, domain, quantity)) is not None]
    slug, caption = f"{shown.info.name}-{quantity.slug}-by-domain", f"{quantity.words} by domain"
    return without_empty(table_of(slug, caption, columns, rows), _OPTIONAL)


_OPTIONAL = ("human", "human_disparity", "of_texts", "all_texts", "class_difference", "class_ratio")
"""Columns left out if they have no value: those of people's texts, and of all texts in an older run."""


def _of_all_columns(shown: GroupFigures, quantity: Quantity) -> col.FigureColumns:
    """The columns of a class that has an opposite: its share of all texts, and both classes against each other."""
    method = quantity.method
    if quantity.cls not in method.opposite:
        return ()
    first, second = method.opposite
    title = first.capitalize()
    return (
        shown.beside(compared.OF_TEXTS, "Of all texts", "share", "of_texts"),
        shown.beside(compared.OF_TEXTS, "All texts", "count", "all_texts", attribute="n"),
        shown.in_group(shown.beside(compared.OPPOSITE, f"{title} - {second}, of all", "share difference"), method.keys),
        shown.in_group(shown.beside(compared.RATIO, f"{title} : {second}", "ratio"), method.keys),
    )


def group_table(shown: GroupFigures, domain: str, method: TextMethod, examples: GroupExamples) -> Table:
    """Every quantity of the groups of a domain, with texts without a value, and examples on demand."""
    quantities = shown.quantities(method)
    first = quantities[0]
    every = shown.of(first.name, domain, first.keys, "group")
    undefined = _undefined(shown, domain, method, "group")
    columns: col.FigureColumns = (
        shown.names[0],
        *(column for q in quantities for column in _columns(shown, q)),
        *_of_all_columns(shown, first),
        col.n("texts", "Texts"),
        ColumnOf("undefined", "No value", lambda f: undefined[f.keys["group"]], "count"),
    )
    rows = every[:MOST_ROWS]
    lines = {f.keys["group"]: tuple(examples.of(domain, f.keys["group"])) for f in rows}
    opened = any(lines.values())
    left = f"The table has {MOST_ROWS} of {len(every):,} groups. " if len(every) > MOST_ROWS else ""
    return table_of(
        _name(shown, domain, method.name, "table"),
        f"{method.title}: {shown.domain(domain)}",
        columns,
        rows,
        left + ("Open a row for texts whose values are typical of their class." if opened else ""),
        details=(lambda f: lines[f.keys["group"]]) if opened else None,
        search=True,
    )


def _name(shown: GroupFigures, domain: str, *parts: str) -> str:
    *before, last = parts
    return "-".join((shown.info.name, *before, domain or "groups", last)).replace("_", "-")


def _columns(shown: GroupFigures, quantity: Quantity) -> col.FigureColumns:
    key = quantity.cls or "mean"
    value = shown.beside(quantity.name, said(key).capitalize(), quantity.unit, key)
    between = shown.beside(quantity.name, "95% interval", quantity.unit, f"{key}_interval", attribute="interval")
    return shown.in_group(value, quantity.keys), shown.in_group(between, quantity.keys)


def _undefined(shown: GroupFigures, domain: str, method: TextMethod, by: str) -> Counter[str]:
    """The number of texts without a value by ``group`` or by reason (``why``)."""
    counts: Counter[str] = Counter()
    for f in shown.of(UNDEFINED, domain, method.keys, "group", "why"):
        counts[f.keys[by]] += int(f.value or 0)
    return counts


def undefined_table(shown: GroupFigures) -> Iterator[Table]:
    """Texts without a value by reason, for each method and domain; no table without such texts."""
    columns = (
        Column("method", "Method"), Column("domain", "Domain"), Column("why", "Reason"),
        Column("texts", "Texts", "count"),
    )  # fmt: skip
    rows = tuple(
        (method.title, shown.domain(domain), why, n)
        for method in shown.present
        for domain in shown.domains
        for why, n in _undefined(shown, domain, method, "why").items()
    )
    if rows:
        yield Table(f"{shown.info.name}-undefined", "Texts without a value", columns, rows)


def word_table(shown: GroupFigures, domain: str, method: TextMethod) -> Iterator[Table]:
    """The words of the lexicon that contribute most to the values of each group's texts; no table without any."""
    words: dict[str, list[tuple[str, float]]] = {}
    for f in shown.of(compared.WORD, domain, method.keys, "group", "word"):
        words.setdefault(f.keys["group"], []).append((f.keys["word"], f.value or 0.0))
    columns = (Column("group", "Group"), Column("above", "Raise the value"), Column("below", "Lower the value"))
    rows = []
    for group, found in list(words.items())[:MOST_ROWS]:
        ordered = sorted(found, key=lambda word: -abs(word[1]))
        parts = ([w for w in ordered if w[1] > 0], [w for w in ordered if w[1] < 0])
        cells = (", ".join(f"{word} {value:+.3f}" for word, value in part[:MOST_WORDS]) or None for part in parts)
        rows.append((said(group), *cells))
    note = "The number is the contribution of the word to the values of the group's texts, per text."
    caption = f"Words with the largest contribution ({said_method(method)}): {shown.domain(domain)}"
    if rows:
        yield Table(_name(shown, domain, method.name, "words"), caption, columns, tuple(rows), note)


def naming_table(shown: GroupFigures, domain: str) -> Iterator[Table]:
    """Each group's texts as they were written and with the words for the group replaced, by the first method."""
    columns = [shown.names[0], col.value("naming", "Name the group", "share")]
    for one in shown.charted(shown.present[0]):
        heading = said(one.cls).capitalize() if one.cls else one.words
        columns += [
            shown.in_group(shown.beside(name, f"{heading}, {how}", one.unit, f"{one.slug}-{how.split()[-1]}"), one.keys)
            for name, how in ((compared.REPLACED, "replaced"), (compared.AS_WRITTEN, "as written"))
        ]
    columns.append(col.n("texts", "Texts", base=False))
    caption = f"Words that name a group, replaced and left in ({shown.info.title}): {shown.domain(domain)}"
    note = (
        "The same texts, measured as in all figures, with the subject and the words for the group replaced, and as "
        "they were written. The second column is the share of texts that name their group in other words than the "
        "subject, of all that are not refused or filtered, also those without a value."
    )
    if rows := shown.of(compared.NAMING, domain, {}, "group")[:MOST_ROWS]:
        yield table_of(_name(shown, domain, "naming"), caption, columns, rows, note)


def method_map(shown: GroupFigures, domain: str) -> Iterator[HeatMap]:
    """The mean of every method for each group, if the measure has several methods without classes."""
    means = [q for m in shown.present for q in shown.quantities(m) if shown.charted(m)[0].cls is None]
    if len(means) < 2:
        return
    groups = [f.keys["group"] for f in shown.of(means[0].name, domain, means[0].keys, "group")][:MOST_ROWS]
    rows = tuple(
        (said(g), tuple(shown.value(q.name, {**shown.place(domain, q), "group": g}) for q in means)) for g in groups
    )  # fmt: skip
    if all(value is None for _, values in rows for value in values):
        return
    name, heading = f"{shown.info.name}-{domain or 'groups'}-map", f"{shown.info.title}: {shown.domain(domain)}"
    yield HeatMap(name, heading, means[0].unit, tuple(q.method.title for q in means), rows, "mean of each group")
