"""Charts of groups: their values beside those of texts that people wrote, and the differences between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from holisticbias_eval.blocks import ColumnOf, Paragraph, Table, table_of, yes
from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.groups.comparisons import REST
from holisticbias_eval.measures.groups.figures import Quantity, said, said_method
from holisticbias_eval.measures.groups.of_all import OPPOSITE
from holisticbias_eval.measures.groups.readings import HUMAN
from holisticbias_eval.measures.groups.shown import GroupFigures
from holisticbias_eval.sections import Estimate, Forest

HOLDS = "Holds after correction"
MOST_DOTS, MOST_PAIRS, MOST_ROWS = 40, 20, 300
"""Groups and differences of a chart, and rows of a table of differences."""


def group_chart(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Forest | Paragraph]:
    """The value of every group, the largest first; of many groups those farthest from the domain's value."""
    known = [f for f in shown.of(quantity.name, domain, quantity.keys, "group") if f.value is not None]
    if not known:
        return
    whole = shown.at(quantity.name, domain, quantity)
    middle = whole.value if whole and whole.value is not None else 0.0
    chosen = sorted(known, key=lambda f: -abs((f.value or 0.0) - middle))[:MOST_DOTS]
    chosen.sort(key=lambda f: -(f.value or 0.0))
    estimates = tuple(_estimate(shown, f, quantity) for f in chosen)
    human = any(e.beside is not None for e in estimates)
    scale = ["line: 95% interval", "vertical line: all groups of the domain"]
    if human:
        scale += [f"mark: {shown.written}", "filled: differs from it after correction"]
    yield Forest(
        f"{shown.info.name}-{quantity.slug}-{domain or 'groups'}",
        f"{quantity.words} by group: {shown.domain(domain)}",
        quantity.unit,
        estimates,
        "  ·  ".join(scale),
        middle,
        shown.written,
        f"Differs from {shown.written}",
    )
    if len(known) > len(chosen):
        yield Paragraph(
            f"The chart shows the {len(chosen)} of {len(known):,} groups that are farthest from the domain's value.",
            "note",
        )


def opposite_chart(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Forest]:
    """A class minus its opposite in all texts of every group (Dhamala et al. 2021, Figure 2)."""
    if quantity.cls not in quantity.method.opposite:
        return
    found = [f for f in shown.of(OPPOSITE, domain, quantity.method.keys, "group") if f.value is not None]
    found.sort(key=lambda f: -abs(f.value or 0.0))
    chosen = sorted(found[:MOST_DOTS], key=lambda f: -(f.value or 0.0))
    if not chosen:
        return
    first, second = quantity.method.opposite
    estimates = tuple(Estimate(f"{said(f.keys['group'])} ({f.n:,} texts)", f.value, f.interval) for f in chosen)
    yield Forest(
        f"{shown.info.name}-{quantity.method.name}-{domain or 'groups'}-opposite",
        f"{first.capitalize()} minus {second}, of all texts ({said_method(quantity.method)}): {shown.domain(domain)}",
        "share difference",
        estimates,
        f"right of 0: more {first} than {second} texts  ·  line: 95% interval",
    )


def _estimate(shown: GroupFigures, figure: Figure, quantity: Quantity) -> Estimate:
    return Estimate(
        said(figure.keys["group"]),
        figure.value,
        figure.interval,
        marked=shown.differs_from_people(figure.keys),
        beside=shown.value(f"{HUMAN}_{quantity.name}", figure.keys),
    )


def pairs_held(shown: GroupFigures, domain: str, quantity: Quantity) -> Paragraph | None:
    """How many differences hold after correction."""
    every = _pairs(shown, domain, quantity)
    if not every:
        return None
    held = sum(map(shown.differs, every))
    if len(every) == 1:
        words = "holds" if held else "does not hold"
        return Paragraph(f"{quantity.words}: the difference between the two groups {words} after Holm's correction.")
    what = "groups and all others" if every[0].keys["second"] == REST else "pairs of groups"
    of = f"{held:,} of {len(every):,}" if held else f"none of {len(every):,}"
    return Paragraph(f"{quantity.words}: {of} differences between {what} hold after Holm's correction.")


def pair_chart(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Forest | Paragraph]:
    """The largest differences: first, and filled, the differences that hold after correction."""
    every = _pairs(shown, domain, quantity)
    if not every:
        return
    chosen = sorted(every, key=lambda f: (not shown.differs(f), -abs(f.value or 0.0)))[:MOST_PAIRS]
    yield Forest(
        f"{shown.info.name}-{quantity.slug}-{domain or 'groups'}-differences",
        f"Differences of {quantity.words[:1].lower()}{quantity.words[1:]}: {shown.domain(domain)}",
        f"{quantity.unit} difference",
        _by_group([_pair(shown, f) for f in chosen]),
        "line: 95% interval of this pair alone  ·  filled: holds after correction",
        test=HOLDS,
    )
    if len(every) > len(chosen):
        yield Paragraph(f"The chart shows the {len(chosen)} largest of {len(every):,} differences.", "note")


def _pairs(shown: GroupFigures, domain: str, quantity: Quantity) -> list[Figure]:
    return [f for f in shown.differences(domain, quantity) if f.value is not None]


def _by_group(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """The differences with those of one group next to each other, groups in the order of their first."""
    order = list(dict.fromkeys(e.group for e in estimates))
    return tuple(sorted(estimates, key=lambda e: order.index(e.group)))


def _pair(shown: GroupFigures, figure: Figure) -> Estimate:
    """The higher group minus the lower one, below the name of the higher; of a group and all others, the group."""
    first, second, marked = figure.keys["first"], figure.keys["second"], shown.differs(figure)
    if second == REST:
        return Estimate(said(first), figure.value, figure.interval, marked)
    value, between = figure.value or 0.0, figure.interval
    if value < 0:
        first, second, value = second, first, -value
        between = between and Interval(low=-between.high, high=-between.low)
    return Estimate(f"minus {said(second)}", value, between, marked, said(first))


def pair_table(shown: GroupFigures, domain: str, quantity: Quantity) -> Table | None:
    """The differences with all p-values, the smallest corrected p-value first."""
    every = list(shown.differences(domain, quantity))
    if not every:
        return None
    every.sort(key=lambda f: (_missing_last(shown.p(f)), _missing_last(f.p_value), -abs(f.value or 0.0)))
    unit = f"{quantity.unit} difference"
    columns: FigureColumns = (
        ColumnOf("first", "Group", lambda f: said(f.keys["first"])),
        ColumnOf("second", "Compared with", lambda f: said(f.keys["second"])),
        col.value("difference", "Difference", unit),
        ColumnOf("holds", HOLDS, lambda f: yes(shown.differs(f))),
        col.interval(unit),
        col.p(key="p"),
        shown.beside("adjusted_p", "p (Holm)", "p_value", "holm"),
        shown.beside("adjusted_p_bh", "p (BH)", "p_value", "bh"),
        shown.beside("clustered_p", "p, items", "p_value", "clustered"),
        shown.beside("clustered_adjusted_p", "p, items (Holm)", "p_value", "clustered_holm"),
        col.n("texts", "Texts"),
    )
    rows = every[:MOST_ROWS]
    kept = with_values(columns, rows, ("clustered", "clustered_holm"))
    note = f"The table has {MOST_ROWS} of {len(every):,} differences. " if len(every) > MOST_ROWS else ""
    if len(kept) == len(columns):
        note += "p treats texts as independent; p of items keeps the texts of one prompt or page together."
    name = f"{shown.info.name}-{quantity.slug}-{domain or 'groups'}-tests"
    title = f"Differences of {quantity.words[:1].lower()}{quantity.words[1:]}: {shown.domain(domain)}"
    return table_of(name, title, kept, rows, note)


def with_values(columns: FigureColumns, rows: Sequence[Figure], optional: Collection[str]) -> FigureColumns:
    """The columns, less optional ones without a value."""
    return tuple(c for c in columns if c.key not in optional or any(c.of(row) is not None for row in rows))


def _missing_last(p: float | None) -> float:
    return 2.0 if p is None else p
