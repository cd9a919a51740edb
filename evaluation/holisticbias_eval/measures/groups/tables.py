"""Tables of groups, of domains, of undefined texts, and of words, with examples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from holisticbias_eval.blocks import Cell, Column, Table, ends
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.groups.comparisons import DISPARITY, DISPARITY_ADJUSTED
from holisticbias_eval.measures.groups.figures import UNDEFINED
from holisticbias_eval.measures.groups.of_all import OF_TEXTS, OPPOSITE, RATIO, WORD
from holisticbias_eval.measures.groups.readings import HUMAN, Method, Reading, Texts, read_method, read_texts
from holisticbias_eval.measures.groups.shown import Charted, Shown, said, said_method
from holisticbias_eval.measures.responses.examples import LETTERS, READ, cut
from holisticbias_eval.sections import HeatMap

PER_CLASS = 2


class GroupExamples:
    """Finds typical texts of a model: those whose values are nearest to the median of their group and class."""

    def __init__(self, measure: str, method: Method, answers: pa.Table) -> None:
        self._rows: dict[tuple[str | None, str], np.ndarray] = {}
        if "text" not in answers.column_names:
            return
        try:
            groups = read_texts(answers)
            reading = read_method(answers, measure, method, groups)
        except SelectionError:
            return
        self._texts, self._reading, self._groups = answers["text"], reading, groups
        self._rows = _rows_by_group(groups, reading)

    def of(self, domain: str, group: str) -> tuple[str, ...]:
        """A line for each example: its class, its value and the text, on one line and cut."""
        rows = self._rows.get((domain or None, group))
        return () if rows is None else tuple(self._lines(rows))

    def _lines(self, rows: np.ndarray) -> Iterator[str]:
        reading = self._reading
        codes = reading.class_codes[rows]
        for code in np.unique(codes):
            own = rows[codes == code]
            values = reading.values[own]
            order = own[np.argsort(np.abs(values - np.median(values)), kind="stable")]
            name = said(reading.classes[code]) if code >= 0 else reading.method.title
            seen: dict[str, None] = {}
            for row in order.tolist():
                text = self._text(row)
                if text and text not in seen:
                    seen[text] = None
                    yield f"{name} ({reading.values[row]:.2f}): “{cut(text, LETTERS)}”"
                if len(seen) == PER_CLASS:
                    break

    def _text(self, row: int) -> str:
        return " ".join((self._texts[int(self._groups.rows[row])].as_py() or "")[:READ].split())


def _rows_by_group(groups: Texts, reading: Reading) -> dict[tuple[str | None, str], np.ndarray]:
    """The rows of a model's texts with a value, by domain and group."""
    rows = np.flatnonzero(~groups.human & ~np.isnan(reading.values))
    rows = rows[np.argsort(groups.group[rows], kind="stable")]
    counts = np.bincount(groups.group[rows], minlength=len(groups.groups))
    return dict(zip(groups.groups, np.split(rows, np.cumsum(counts)[:-1]), strict=True))


MOST_ROWS, MOST_WORDS = 200, 8


def domain_table(shown: Shown, charted: Charted) -> Table:
    """The value of each domain, and the largest difference between its groups beside chance."""
    difference = f"{charted.unit} difference"
    columns = (
        Column("domain", "Domain"),
        Column(
            "value", "Of texts with a value" if charted.cls in charted.method.opposite else "All groups", charted.unit
        ),
        Column("texts", "Texts", "count", base=True),
        *_of_all_columns(charted),
        Column("human", shown.written.capitalize(), charted.unit),
        Column("disparity", "Largest difference", difference),
        Column("chance", "By chance", difference, interval=True),
        Column("p", "p (Holm)", "p_value"),
        Column("human_disparity", f"Largest, {shown.written}", difference),
        Column("interval", "95% interval", charted.unit, interval=True),
        Column("groups", "Groups", "count"),
    )
    rows = []
    for domain in shown.domains:
        keys = {**({"domain": domain} if domain else {}), **charted.keys}
        whole, apart = shown.one(charted.name, domain, charted.keys), shown.one(DISPARITY, domain, charted.keys)
        groups = len(shown.of(charted.name, domain, charted.keys, "group"))
        rows.append(
            (
                shown.domain(domain), whole.value if whole else None, whole.n if whole else 0,
                *_of_all(shown, charted, {"domain": domain} if domain else {}),
                shown.value(f"{HUMAN}_{charted.name}", keys),
                apart.value if apart else None, ends(apart.floor_interval) if apart else None,
                shown.value(DISPARITY_ADJUSTED, keys), shown.value(f"{HUMAN}_{DISPARITY}", keys),
                ends(whole.interval) if whole else None, groups,
            )
        )  # fmt: skip
    kept = [i for i, c in enumerate(columns) if not _is_optional(c) or any(row[i] is not None for row in rows)]
    return Table(
        f"{shown.info.name}-{charted.slug}-by-domain",
        f"{charted.words} by domain",
        tuple(columns[i] for i in kept),
        tuple(tuple(row[i] for i in kept) for row in rows),
    )


def _is_optional(column: Column) -> bool:
    """Whether a column is left out if it has no value: that of people's texts, or of all texts in an older run."""
    return "human" in column.key or column.key in ("of_texts", "all_texts", "class_difference", "class_ratio")


def _of_all_columns(charted: Charted) -> tuple[Column, ...]:
    """The columns of a class that has an opposite: its share of all texts, and both classes against each other."""
    if charted.cls not in charted.method.opposite:
        return ()
    first, second = charted.method.opposite
    return (
        Column("of_texts", "Of all texts", "share"),
        Column("all_texts", "All texts", "count", base=True),
        Column("class_difference", f"{first.capitalize()} - {second}, of all", "share difference"),
        Column("class_ratio", f"{first.capitalize()} : {second}", "ratio"),
    )


def _of_all(shown: Shown, charted: Charted, own: dict[str, str]) -> tuple[Cell, ...]:
    """The cells of these columns for a domain or a group, by its keys."""
    if charted.cls not in charted.method.opposite:
        return ()
    of_texts = shown.view.figures.get(shown.info.name, OF_TEXTS, {**own, **charted.keys})
    both = (shown.value(name, {**own, **charted.method.keys}) for name in (OPPOSITE, RATIO))
    return (of_texts.value if of_texts else None, of_texts.n if of_texts else None, *both)


def group_table(shown: Shown, domain: str, method: Method, examples: GroupExamples) -> Table:
    """Every quantity of the groups of a domain, with texts without a value, and examples on demand."""
    quantities = shown.quantities(method)
    first = quantities[0]
    every = list(shown.of(first.name, domain, first.keys, "group"))
    undefined: dict[str, float] = {}
    for group, _, count in _undefined(shown, domain, method):
        undefined[group] = undefined.get(group, 0.0) + count
    columns = (
        Column("group", "Group"),
        *(column for q in quantities for column in _columns(q)),
        *_of_all_columns(first),
        Column("texts", "Texts", "count", base=True),
        Column("undefined", "No value", "count"),
    )
    rows, details = [], []
    for f in every[:MOST_ROWS]:
        group, own = f.keys["group"], {k: v for k, v in f.keys.items() if k in ("domain", "group")}
        cells: list[Cell] = []
        for q in quantities:
            figure = shown.view.figures.get(shown.info.name, q.name, {**own, **q.keys})
            cells += [figure.value if figure else None, ends(figure.interval) if figure else None]
        rows.append((said(group), *cells, *_of_all(shown, first, own), f.n, undefined.get(group, 0)))
        details.append(examples.of(domain, group))
    left = f"The table has {MOST_ROWS} of {len(every):,} groups. " if len(every) > MOST_ROWS else ""
    how = "Open a row for texts whose values are typical of their class." if any(details) else ""
    return Table(
        f"{shown.info.name}-{method.name}-{domain or 'groups'}-table".replace("_", "-"),
        f"{method.title}: {shown.domain(domain)}",
        columns,
        tuple(rows),
        left + how,
        tuple(details) if any(details) else (),
        search=True,
    )


def _columns(charted: Charted) -> tuple[Column, Column]:
    key = charted.cls or "mean"
    heading = said(key).capitalize()
    return Column(key, heading, charted.unit), Column(f"{key}_interval", "95% interval", charted.unit, interval=True)


def _undefined(shown: Shown, domain: str, method: Method) -> Iterator[tuple[str, str, float]]:
    """Group, reason and number of texts without a value."""
    for f in shown.of(UNDEFINED, domain, method.keys, "group", "why"):
        yield f.keys["group"], f.keys["why"], f.value or 0.0


def undefined_table(shown: Shown) -> Table | None:
    """Texts without a value by reason, for each method and domain."""
    rows = []
    for method in shown.present:
        for domain in shown.domains:
            counts: dict[str, float] = {}
            for _, why, count in _undefined(shown, domain, method):
                counts[why] = counts.get(why, 0.0) + count
            rows += [(method.title, shown.domain(domain), why, n) for why, n in counts.items()]
    if not rows:
        return None
    columns = (
        Column("method", "Method"), Column("domain", "Domain"), Column("why", "Reason"),
        Column("texts", "Texts", "count"),
    )  # fmt: skip
    return Table(f"{shown.info.name}-undefined", "Texts without a value", columns, tuple(rows))


def word_table(shown: Shown, domain: str, method: Method) -> Table | None:
    """The words of the lexicon that contribute most to the values of each group's texts."""
    words: dict[str, list[tuple[str, float]]] = {}
    for f in shown.of(WORD, domain, method.keys, "group", "word"):
        words.setdefault(f.keys["group"], []).append((f.keys["word"], f.value or 0.0))
    if not words:
        return None
    columns = (Column("group", "Group"), Column("above", "Raise the value"), Column("below", "Lower the value"))
    rows = []
    for group, found in list(words.items())[:MOST_ROWS]:
        ordered = sorted(found, key=lambda word: -abs(word[1]))
        parts = ([w for w in ordered if w[1] > 0], [w for w in ordered if w[1] < 0])
        cells = (", ".join(f"{word} {value:+.3f}" for word, value in part[:MOST_WORDS]) or None for part in parts)
        rows.append((said(group), *cells))
    note = "The number is the contribution of the word to the values of the group's texts, per text."
    name = f"{shown.info.name}-{method.name}-{domain or 'groups'}-words".replace("_", "-")
    caption = f"Words with the largest contribution ({said_method(method)}): {shown.domain(domain)}"
    return Table(name, caption, columns, tuple(rows), note)


def method_map(shown: Shown, domain: str) -> HeatMap | None:
    """The mean of every method for each group, if the measure has several methods without classes."""
    means = [q for m in shown.present for q in shown.quantities(m) if shown.charted(m)[0].cls is None]
    if len(means) < 2:
        return None
    groups = [f.keys["group"] for f in shown.of(means[0].name, domain, means[0].keys, "group")][:MOST_ROWS]
    own = {"domain": domain} if domain else {}
    rows = tuple(
        (said(g), tuple(shown.value(q.name, {**own, "group": g, **q.keys}) for q in means)) for g in groups
    )  # fmt: skip
    name = f"{shown.info.name}-{domain or 'groups'}-map"
    title = f"{shown.info.title}: {shown.domain(domain)}"
    return HeatMap(name, title, means[0].unit, tuple(q.method.title for q in means), rows, "mean of each group")
