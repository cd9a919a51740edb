"""Charts of groups: their values beside those of texts that people wrote, and the differences between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias_eval.blocks import Column, Paragraph, Table, ends, yes
from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.measures.groups.comparisons import REST
from holisticbias_eval.measures.groups.of_all import OPPOSITE
from holisticbias_eval.measures.groups.readings import HUMAN
from holisticbias_eval.measures.groups.shown import Charted, Shown, said, said_method
from holisticbias_eval.sections import Estimate, Forest

HOLDS = "Holds after correction"
MOST_DOTS, MOST_PAIRS, MOST_ROWS = 40, 20, 300
"""Groups and differences of a chart, and rows of a table of differences."""


def group_chart(shown: Shown, domain: str, charted: Charted) -> Iterator[Forest | Paragraph]:
    """The value of every group, the largest first; of many groups those farthest from the domain's value."""
    known = [f for f in shown.of(charted.name, domain, charted.keys, "group") if f.value is not None]
    if not known:
        return
    whole = shown.one(charted.name, domain, charted.keys)
    middle = whole.value if whole and whole.value is not None else 0.0
    chosen = sorted(known, key=lambda f: -abs((f.value or 0.0) - middle))[:MOST_DOTS]
    chosen.sort(key=lambda f: -(f.value or 0.0))
    estimates = tuple(_estimate(shown, f, charted) for f in chosen)
    human = any(e.beside is not None for e in estimates)
    scale = ["line: 95% interval", "vertical line: all groups of the domain"]
    if human:
        scale += [f"mark: {shown.written}", "filled: differs from it after correction"]
    yield Forest(
        f"{shown.info.name}-{charted.slug}-{domain or 'groups'}",
        f"{charted.words} by group: {shown.domain(domain)}",
        charted.unit,
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


def opposite_chart(shown: Shown, domain: str, charted: Charted) -> Iterator[Forest]:
    """A class minus its opposite in all texts of every group (Dhamala et al. 2021, Figure 2)."""
    if charted.cls not in charted.method.opposite:
        return
    found = [f for f in shown.of(OPPOSITE, domain, charted.method.keys, "group") if f.value is not None]
    found.sort(key=lambda f: -abs(f.value or 0.0))
    chosen = sorted(found[:MOST_DOTS], key=lambda f: -(f.value or 0.0))
    if not chosen:
        return
    first, second = charted.method.opposite
    estimates = tuple(Estimate(f"{said(f.keys['group'])} ({f.n:,} texts)", f.value, f.interval) for f in chosen)
    yield Forest(
        f"{shown.info.name}-{charted.method.name}-{domain or 'groups'}-opposite",
        f"{first.capitalize()} minus {second}, of all texts ({said_method(charted.method)}): {shown.domain(domain)}",
        "share difference",
        estimates,
        f"right of 0: more {first} than {second} texts  ·  line: 95% interval",
    )


def _estimate(shown: Shown, figure: Figure, charted: Charted) -> Estimate:
    return Estimate(
        said(figure.keys["group"]),
        figure.value,
        figure.interval,
        marked=shown.differs_from_people(figure.keys),
        beside=shown.value(f"{HUMAN}_{charted.name}", figure.keys),
    )


def pairs_held(shown: Shown, domain: str, charted: Charted) -> Paragraph | None:
    """How many differences hold after correction."""
    every = _pairs(shown, domain, charted)
    if not every:
        return None
    held = sum(map(shown.differs, every))
    if len(every) == 1:
        words = "holds" if held else "does not hold"
        return Paragraph(f"{charted.words}: the difference between the two groups {words} after Holm's correction.")
    what = "groups and all others" if every[0].keys["second"] == REST else "pairs of groups"
    of = f"{held:,} of {len(every):,}" if held else f"none of {len(every):,}"
    return Paragraph(f"{charted.words}: {of} differences between {what} hold after Holm's correction.")


def pair_chart(shown: Shown, domain: str, charted: Charted) -> Iterator[Forest | Paragraph]:
    """The largest differences: first, and filled, the differences that hold after correction."""
    every = _pairs(shown, domain, charted)
    if not every:
        return
    chosen = sorted(every, key=lambda f: (not shown.differs(f), -abs(f.value or 0.0)))[:MOST_PAIRS]
    yield Forest(
        f"{shown.info.name}-{charted.slug}-{domain or 'groups'}-differences",
        f"Differences of {charted.words[:1].lower()}{charted.words[1:]}: {shown.domain(domain)}",
        f"{charted.unit} difference",
        _by_group([_pair(shown, f) for f in chosen]),
        "line: 95% interval of this pair alone  ·  filled: holds after correction",
        test=HOLDS,
    )
    if len(every) > len(chosen):
        yield Paragraph(f"The chart shows the {len(chosen)} largest of {len(every):,} differences.", "note")


def _pairs(shown: Shown, domain: str, charted: Charted) -> list[Figure]:
    return [f for f in shown.differences(domain, charted) if f.value is not None]


def _by_group(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """The differences with those of one group next to each other, groups in the order of their first."""
    order = list(dict.fromkeys(e.group for e in estimates))
    return tuple(sorted(estimates, key=lambda e: order.index(e.group)))


def _pair(shown: Shown, figure: Figure) -> Estimate:
    """The higher group minus the lower one, below the name of the higher; of a group and all others, the group."""
    first, second, marked = figure.keys["first"], figure.keys["second"], shown.differs(figure)
    if second == REST:
        return Estimate(said(first), figure.value, figure.interval, marked)
    value, between = figure.value or 0.0, figure.interval
    if value < 0:
        first, second, value = second, first, -value
        between = between and Interval(low=-between.high, high=-between.low)
    return Estimate(f"minus {said(second)}", value, between, marked, said(first))


def pair_table(shown: Shown, domain: str, charted: Charted) -> Table | None:
    """The differences with all p-values, the smallest corrected p-value first."""
    every = list(shown.differences(domain, charted))
    if not every:
        return None
    every.sort(key=lambda f: (_missing_last(shown.p(f)), _missing_last(f.p_value), -abs(f.value or 0.0)))
    columns = (
        Column("first", "Group"),
        Column("second", "Compared with"),
        Column("difference", "Difference", f"{charted.unit} difference"),
        Column("holds", HOLDS),
        Column("interval", "95% interval", f"{charted.unit} difference", interval=True),
        Column("p", "p", "p_value"),
        Column("holm", "p (Holm)", "p_value"),
        Column("bh", "p (BH)", "p_value"),
        Column("clustered", "p, items", "p_value"),
        Column("clustered_holm", "p, items (Holm)", "p_value"),
        Column("texts", "Texts", "count", base=True),
    )
    names = ("adjusted_p", "adjusted_p_bh", "clustered_p", "clustered_adjusted_p")
    rows = tuple(
        (
            said(f.keys["first"]), said(f.keys["second"]), f.value, yes(shown.differs(f)), ends(f.interval), f.p_value,
            *(shown.value(name, f.keys) for name in names), f.n,
        )
        for f in every[:MOST_ROWS]
    )  # fmt: skip
    kept = [i for i, c in enumerate(columns) if "clustered" not in c.key or any(r[i] is not None for r in rows)]
    left = f"The table has {MOST_ROWS} of {len(every):,} differences. " if len(every) > MOST_ROWS else ""
    note = left + "p treats texts as independent; p of items keeps the texts of one prompt or page together."
    return Table(
        f"{shown.info.name}-{charted.slug}-{domain or 'groups'}-tests",
        f"Differences of {charted.words[:1].lower()}{charted.words[1:]}: {shown.domain(domain)}",
        tuple(columns[i] for i in kept),
        tuple(tuple(row[i] for i in kept) for row in rows),
        note if len(kept) == len(columns) else left,
    )


def _missing_last(p: float | None) -> float:
    return 2.0 if p is None else p
