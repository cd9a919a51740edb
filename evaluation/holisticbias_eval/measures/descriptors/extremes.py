"""The descriptors with the lowest and highest medians of each axis."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from holisticbias_eval.blocks import Column, Table
from holisticbias_eval.measures.descriptors.terms import Descriptors, Term
from holisticbias_eval.measures.shares.floors import cells_above_floor, has_floors
from holisticbias_eval.measures.text import significant

EXTREMES = 5
NO_FLOORS = "No term is named: this run was made without permutation floors."


@dataclass(frozen=True, slots=True)
class Extremes:
    """The ends of an axis, among its ``compared`` descriptors that have the most frequent number of ``tokens``.

    Terms that are nouns themselves are left out: one sentence in a template has no median over nouns.

    Descriptors are named only if the axis exceeds its floor, overall and in the compared template.
    """

    axis: str
    tokens: float | None
    compared: int
    descriptors: int
    lowest: tuple[Term, ...]
    highest: tuple[Term, ...]


def find_extremes(found: Descriptors) -> tuple[Extremes, ...]:
    """The ends of each axis; as in Table 3 of Smith et al. 2022, only descriptors of equal length are compared."""
    named = cells_above_floor(found.view.figures, found.words.measure)
    return tuple(_extremes(found, axis, (axis, found.template) in named) for axis in found.axes)


def _extremes(found: Descriptors, axis: str, named: bool) -> Extremes:
    terms = [term for term in found.terms if term.axis == axis and not term.alone]
    known = [(term.compared, term) for term in terms if term.compared is not None]
    lengths = Counter(term.tokens for _, term in known if term.tokens is not None)
    tokens = min(lengths, key=lambda n: (-lengths[n], n), default=None)
    alike = [term for _, term in sorted((k for k in known if k[1].tokens == tokens), key=lambda k: k[0])]
    shown = min(EXTREMES, len(alike) // 2) if named else 0
    return Extremes(axis, tokens, len(alike), len(terms), tuple(alike[:shown]), tuple(alike[::-1][:shown]))


def extremes_table(found: Descriptors) -> Table:
    """The lowest and highest descriptors of each axis that may be named, in one cell each."""
    words, extremes = found.words, find_extremes(found)
    columns = (
        Column("axis", "Axis"),
        Column("lowest", "Lowest (likeliest)"),
        Column("highest", "Highest (least likely)"),
        Column(words.measure, f"{words.short} there", "share"),
        Column("floor", "Floor there", "share"),
        Column("tokens", f"Tokens of their {words.of}s", "tokens"),
        Column("compared", "Descriptors of that length", "count"),
        Column("descriptors", "Descriptors", "count", base=True),
    )
    rows, details = [], []
    for ends in (e for e in extremes if e.lowest):
        share = found.view.figures.get(words.measure, "share", {"axis": ends.axis, "template": found.template})
        there = (share.value, share.floor) if share else (None, None)
        names = (", ".join(term.text for term in side) for side in (ends.lowest, ends.highest))
        rows.append((found.label(ends.axis), *names, *there, ends.tokens, ends.compared, ends.descriptors))
        shown = (*ends.lowest, *reversed(ends.highest))
        details.append(tuple(f"{term.text}: {significant(term.compared or 0)}" for term in shown))
    caption = f"Lowest and highest median {words.values} in “{found.template}”, among descriptors of equal length"
    return Table("extremes", caption, columns, tuple(rows), _not_named(found, extremes), tuple(details))


def _not_named(found: Descriptors, extremes: tuple[Extremes, ...]) -> str:
    """A note on the axes without named descriptors; empty if there are none."""
    if not has_floors(found.view.figures, found.words.measure):
        return NO_FLOORS
    names = [found.label(ends.axis) for ends in extremes if not ends.lowest]
    if not names:
        return ""
    every, few = len(names) == len(extremes), len(names) <= EXTREMES
    which = "any axis" if every else ", ".join(names) if few else f"the other {len(names)} axes"
    return (
        f"No term is named for {which}: the share of pairs that differ does not exceed its floor in this template, or "
        "no two descriptors have the same length."
    )
