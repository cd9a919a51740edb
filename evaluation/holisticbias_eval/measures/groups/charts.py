"""Charts of groups: their values beside those of texts that people wrote, and the differences between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias_eval.figures import SIGNIFICANCE, Figure
from holisticbias_eval.measures.groups.comparisons import REST
from holisticbias_eval.measures.groups.figures import FROM_HUMAN_ADJUSTED
from holisticbias_eval.measures.groups.readings import HUMAN
from holisticbias_eval.measures.groups.shown import Charted, Shown, said
from holisticbias_eval.sections import Column, Estimate, Forest, Paragraph, Table, ends

MOST_DOTS, MOST_PAIRS, MOST_ROWS = 40, 20, 300
"""Groups and differences of a chart, and rows of a table of differences."""
WRITTEN = "human-written text"


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
        scale += [f"mark: {WRITTEN}", "filled: differs from it after correction"]
    yield Forest(
        f"{shown.info.name}-{charted.slug}-{domain or 'groups'}",
        f"{charted.words} by group: {shown.domain(domain)}",
        charted.unit,
        estimates,
        "  ·  ".join(scale),
        middle,
        WRITTEN,
    )
    if len(known) > len(chosen):
        yield Paragraph(
            f"The chart shows the {len(chosen)} of {len(known):,} groups that are farthest from the domain's value.",
            "note",
        )


def _estimate(shown: Shown, figure: Figure, charted: Charted) -> Estimate:
    p = shown.value(FROM_HUMAN_ADJUSTED, figure.keys)
    return Estimate(
        said(figure.keys["group"]),
        figure.value,
        figure.interval,
        marked=p is not None and p < SIGNIFICANCE,
        beside=shown.value(f"{HUMAN}_{charted.name}", figure.keys),
    )


def pair_chart(shown: Shown, domain: str, charted: Charted) -> Iterator[Forest | Paragraph]:
    """The largest differences: first, and filled, the differences that hold after correction."""
    every = [f for f in shown.differences(domain, charted) if f.value is not None]
    if not every:
        return
    held = sum(shown.differs(f) for f in every)
    chosen = sorted(every, key=lambda f: (not shown.differs(f), -abs(f.value or 0.0)))[:MOST_PAIRS]
    against_rest = chosen[0].keys["second"] == REST
    what = "groups from all others" if against_rest else "pairs of groups"
    yield Paragraph(
        f"{charted.words}: {held:,} of {len(every):,} differences of {what} hold after Holm's correction."
        + (f" The chart shows {len(chosen)} of them, the largest." if len(every) > len(chosen) else "")
    )
    yield Forest(
        f"{shown.info.name}-{charted.slug}-{domain or 'groups'}-differences",
        f"Differences of {charted.words[:1].lower()}{charted.words[1:]}: {shown.domain(domain)}",
        f"{charted.unit} difference",
        tuple(_pair(shown, f) for f in _by_first(chosen)),
        "line: 95% interval of this pair alone  ·  filled: differs after correction",
    )


def _by_first(chosen: Sequence[Figure]) -> list[Figure]:
    """The differences with those of one first group next to each other, in the order of their first."""
    order = list(dict.fromkeys(f.keys["first"] for f in chosen))
    return sorted(chosen, key=lambda f: order.index(f.keys["first"]))


def _pair(shown: Shown, figure: Figure) -> Estimate:
    """A row below the name of the first group; the name alone if it is compared with all other groups."""
    first, second = said(figure.keys["first"]), figure.keys["second"]
    marked = shown.differs(figure)
    if second == REST:
        return Estimate(first, figure.value, figure.interval, marked)
    return Estimate(f"minus {said(second)}", figure.value, figure.interval, marked, first)


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
        Column("interval", "95% interval", f"{charted.unit} difference", interval=True),
        Column("p", "p", "p_value"),
        Column("holm", "p (Holm)", "p_value"),
        Column("bh", "p (BH)", "p_value"),
        Column("clustered", "p, items", "p_value"),
        Column("clustered_holm", "p, items (Holm)", "p_value"),
        Column("texts", "Texts", "count"),
    )
    names = ("adjusted_p", "adjusted_p_bh", "clustered_p", "clustered_adjusted_p")
    rows = tuple(
        (
            said(f.keys["first"]), said(f.keys["second"]), f.value, ends(f.interval), f.p_value,
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
