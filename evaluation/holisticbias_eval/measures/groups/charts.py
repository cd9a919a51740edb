"""Charts of groups: their values beside those of texts that people wrote, and the differences between them."""

from collections.abc import Iterator, Sequence

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.groups.changes import CHANGE
from holisticbias_eval.measures.groups.comparisons import CLUSTERED, OPPOSITE, REST
from holisticbias_eval.measures.groups.figures import Quantity, said, said_method
from holisticbias_eval.measures.groups.shown import GroupFigures
from holisticbias_eval.prompts.texts import HUMAN
from holisticbias_eval.sections.blocks import INTERVAL, Block, Estimate, Forest, Section
from holisticbias_eval.sections.tables import ColumnOf, Paragraph, Table, table_of, without_empty, yes

HOLDS = "Holds after correction"
NOTHING = "No group has a value in both runs."
MOST_DOTS, MOST_PAIRS, MOST_ROWS = 40, 20, 300
"""Groups and differences of a chart, and rows of a table of differences."""


def quantity_blocks(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Block]:
    """The chart of the groups of a domain, that of opposite classes, and how many differences hold."""
    yield from _group_chart(shown, domain, quantity)
    yield from _opposite_chart(shown, domain, quantity)
    yield from _pairs_held(shown, domain, quantity)


def _name(shown: GroupFigures, quantity: Quantity, domain: str) -> str:
    return f"{shown.info.name}-{quantity.slug}-{domain or 'groups'}"


def _farthest(found: Sequence[Figure], middle: float = 0.0) -> list[Figure]:
    """The figures that are farthest from a value, the largest first."""
    chosen = sorted(found, key=lambda f: -abs((f.value or 0.0) - middle))[:MOST_DOTS]
    return sorted(chosen, key=lambda f: -(f.value or 0.0))


def _group_chart(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Block]:
    """The value of every group, the largest first; of many groups those farthest from the domain's value."""
    known = shown.known(quantity.name, domain, quantity.keys, "group")
    if not known:
        return
    whole = shown.at(quantity.name, domain, quantity)
    middle = whole.value if whole and whole.value is not None else 0.0
    estimates = tuple(
        Estimate(
            shown.group(f), f.value, f.interval, marked=shown.differs_from_people(f.keys),
            beside=shown.value(f"{HUMAN}_{quantity.name}", f.keys),
        )
        for f in _farthest(known, middle)
    )  # fmt: skip
    marks = ["vertical line: all groups of the domain"]
    if any(e.beside is not None for e in estimates):
        marks += [f"mark: {shown.written}", "filled: differs from it after correction"]
    title = f"{quantity.words} by group: {shown.domain(domain)}"
    yield Forest(
        _name(shown, quantity, domain), title, quantity.unit, estimates, "", middle, shown.written,
        f"Differs from {shown.written}", marks=tuple(marks),
    )  # fmt: skip
    if len(known) > len(estimates):
        yield Paragraph(
            f"The chart shows the {len(estimates)} of {len(known):,} groups that are farthest from the domain's value.",
            "note",
        )


def _opposite_chart(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Forest]:
    """A class minus its opposite in all texts of every group (Dhamala et al. 2021, Figure 2)."""
    method = quantity.method
    found = shown.known(OPPOSITE, domain, method.keys, "group") if quantity.cls in method.opposite else []
    if not found:
        return
    first, second = method.opposite
    estimates = (Estimate(f"{shown.group(f)} ({f.n:,} texts)", f.value, f.interval) for f in _farthest(found))
    yield Forest(
        f"{shown.info.name}-{method.name}-{domain or 'groups'}-opposite",
        f"{first.capitalize()} minus {second}, of all texts ({said_method(method)}): {shown.domain(domain)}",
        "share difference",
        tuple(estimates),
        f"right of 0: more {first} than {second} texts",
    )


def _pairs_held(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Paragraph]:
    """How many differences hold after correction."""
    every = [f for f in shown.differences(domain, quantity) if f.value is not None]
    held = sum(map(shown.differs, every))
    if len(every) == 1:
        words = "holds" if held else "does not hold"
        yield Paragraph(f"{quantity.words}: the difference between the two groups {words} after Holm's correction.")
    elif every:
        what = "groups and all others" if every[0].keys["second"] == REST else "pairs of groups"
        of = f"{held:,} of {len(every):,}" if held else f"none of {len(every):,}"
        yield Paragraph(f"{quantity.words}: {of} differences between {what} hold after Holm's correction.")


def pair_chart(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Block]:
    """The largest differences: first, and filled, the differences that hold after correction."""
    every = [f for f in shown.differences(domain, quantity) if f.value is not None]
    if not every:
        return
    chosen = sorted(every, key=lambda f: (not shown.differs(f), -abs(f.value or 0.0)))[:MOST_PAIRS]
    estimates = [_pair(shown, f) for f in chosen]
    order = list(dict.fromkeys(e.group for e in estimates))
    # those of one group stand next to each other, groups in the order of their first
    by_group = tuple(sorted(estimates, key=lambda e: order.index(e.group)))
    name, unit = f"{_name(shown, quantity, domain)}-differences", quantity.difference_unit
    line, marks = f"{INTERVAL} of this pair alone", ("filled: holds after correction",)
    yield Forest(name, _differences_of(shown, domain, quantity), unit, by_group, "", test=HOLDS, line=line, marks=marks)
    if len(every) > len(chosen):
        yield Paragraph(f"The chart shows the {len(chosen)} largest of {len(every):,} differences.", "note")


def _differences_of(shown: GroupFigures, domain: str, quantity: Quantity) -> str:
    return f"Differences of {quantity.words[:1].lower()}{quantity.words[1:]}: {shown.domain(domain)}"


def _pair(shown: GroupFigures, figure: Figure) -> Estimate:
    """The higher group minus the lower one, below the name of the higher; of a group and all others, the group."""
    first, second, marked = figure.keys["first"], figure.keys["second"], shown.differs(figure)
    if second == REST:
        return Estimate(said(first), figure.value, figure.interval, marked)
    value, between = figure.value or 0.0, figure.interval
    if value < 0:
        first, second, value = second, first, -value
        between = between and -between
    return Estimate(f"minus {said(second)}", value, between, marked, said(first))


def pair_table(shown: GroupFigures, domain: str, quantity: Quantity) -> Iterator[Table]:
    """The differences with all p-values, the smallest corrected p-value first."""
    every = list(shown.differences(domain, quantity))
    if not every:
        return
    every.sort(key=lambda f: (_missing_last(shown.p(f)), _missing_last(f.p_value), -abs(f.value or 0.0)))
    unit = quantity.difference_unit
    columns: col.FigureColumns = (
        ColumnOf("first", "Group", lambda f: said(f.keys["first"])),
        ColumnOf("second", "Compared with", lambda f: said(f.keys["second"])),
        col.value("difference", "Difference", unit),
        ColumnOf("holds", HOLDS, lambda f: yes(shown.differs(f))),
        col.interval(unit),
        col.p(key="p"),
        shown.beside("adjusted_p", "p (Holm)", "p_value", "holm"),
        shown.beside("adjusted_p_bh", "p (BH)", "p_value", "bh"),
        shown.beside(CLUSTERED, "p, items", "p_value", "clustered"),
        shown.beside("clustered_adjusted_p", "p, items (Holm)", "p_value", "clustered_holm"),
        col.n("texts", "Texts"),
    )
    rows = every[:MOST_ROWS]
    note = f"The table has {MOST_ROWS} of {len(every):,} differences. " if len(every) > MOST_ROWS else ""
    if any(shown.value(CLUSTERED, f.keys) is not None for f in rows):
        note += "p treats texts as independent; p of items keeps the texts of one prompt or page together."
    name = f"{_name(shown, quantity, domain)}-tests"
    table = table_of(name, _differences_of(shown, domain, quantity), columns, rows, note)
    yield without_empty(table, ("clustered", "clustered_holm"))


def _missing_last(p: float | None) -> float:
    return 2.0 if p is None else p


def change_sections(changes: Figures, shown: GroupFigures) -> tuple[Section, ...]:
    """Show the changes of the groups of every domain: the largest in a chart, all in a table."""
    blocks: list[Block] = []
    for quantity in shown.charted(shown.present[0]) if shown.present else ():
        both = (("group",), ("domain", "group"))
        every = (f for keys in both for f in changes.by(shown.info.name, CHANGE, *keys, **quantity.keys))
        if found := [f for f in every if f.value is not None]:
            blocks += _blocks(changes, shown, quantity, found)
    name = f"{shown.info.name}-changes".replace("_", "-")
    return (Section(name, shown.info.title, tuple(blocks) or (Paragraph(NOTHING),)),)


def _blocks(changes: Figures, shown: GroupFigures, quantity: Quantity, found: Sequence[Figure]) -> Iterator[Block]:
    name, count = f"{shown.info.name}-{quantity.slug}-changes", sum(f.differs for f in found)
    ordered = sorted(found, key=lambda f: (not f.differs, -abs(f.value or 0.0)))
    yield Paragraph(
        f"{quantity.words}: {count:,} of {len(found):,} groups change from A to B after correction.", "finding"
    )
    columns = (*shown.names, *col.changes(changes, quantity.unit), col.adjusted_p(key="p"))
    chosen = sorted(ordered[:MOST_DOTS], key=lambda f: f.keys.get("domain", ""))
    estimates = tuple(Estimate(shown.group(f), f.value, f.interval, f.differs, shown.of_domain(f)) for f in chosen)
    title, marks = f"{quantity.words}: change from A to B", ("filled: differs after correction",)
    yield Forest(name, title, quantity.difference_unit, estimates, "B minus A", marks=marks)
    if len(found) > len(chosen):
        yield Paragraph(f"The chart shows the {len(chosen)} largest changes.", "note")
    note = f"The table has {MOST_ROWS} of {len(ordered):,} groups." if len(ordered) > MOST_ROWS else ""
    yield table_of(f"{name}-table", f"{quantity.words} in A and B", columns, ordered[:MOST_ROWS], note)
