"""The section of a report that compares the stereotype scores of two runs."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias_eval.blocks import Cell, Column, Paragraph, Table, ends, without_empty
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import CHANGE_NAMES, View
from holisticbias_eval.measures.stereotype.changes import CHANGE
from holisticbias_eval.measures.stereotype.outcomes import NAME
from holisticbias_eval.measures.stereotype.shown import Shown
from holisticbias_eval.sections import Estimate, Forest, Section

READING = (
    "A and B are the scores on all pairs of each run. The change is B minus A on the pairs that both runs have with an "
    "outcome, the mean over attributes. Interval and test keep the two outcomes of a pair together, and cover other "
    "attributes and other sentences; p-values are corrected for the number of specifications (Holm)."
)


def compared_section(changes: Figures, view: View) -> Section:
    """Show the change of each specification's score: in words, as a chart around zero and as a table."""
    shown = Shown.of(view)
    found = changes.by(NAME, "change", "specification")
    estimates = tuple(Estimate(shown.short_label(one), one.value, one.interval, one.differs) for one in found if one.n)
    chart = Forest(
        "changes", "Change of the stereotype score from A to B", CHANGE, estimates, "line: 95% interval; 0: no change"
    )
    finding = Paragraph(" ".join(_words(found, shown)), "finding")
    return Section(
        f"{NAME}-changes",
        "Stereotype score",
        (finding, chart, _table(changes, found, shown), Paragraph(READING, "note")),
    )


def _words(found: tuple[Figure, ...], shown: Shown) -> Iterator[str]:
    tested = [one for one in found if one.value is not None and not shown.is_control(one)]
    if not tested:
        yield "No specification has pairs with an outcome in both runs."
        return
    differing = [one for one in tested if one.differs]
    count = f"{len(tested)} specification{'s' if tested[1:] else ''}"
    if not differing:
        yield f"No change is shown on {count}."
        return
    named = ", ".join(f"{shown.short_label(one)} ({100 * (one.value or 0):+.1f} points)" for one in differing[:5])
    more = f" and {len(differing) - 5} more" if differing[5:] else ""
    yield f"The score changes on {len(differing)} of {count}: {named}{more}."


def _table(changes: Figures, found: tuple[Figure, ...], shown: Shown) -> Table:
    columns = (
        Column("specification", "Specification"),
        *(Column(name, CHANGE_NAMES[name], "share") for name in ("first", "second")),
        Column("change", CHANGE_NAMES["change"], CHANGE),
        Column("interval", "95% interval", CHANGE, interval=True),
        Column("p_value", "p", "p_value"),
        Column("adjusted_p", "p (Holm)", "p_value"),
        Column("pairs", "Pairs in both", "count", base=True),
    )
    every = changes.get(NAME, "change")
    rows = [_row(changes, one, shown.label(one)) for one in found]
    if every is not None and found[1:]:
        rows.append(_row(changes, every, "All attributes"))
    return without_empty(Table("changes", "Stereotype score of A and B", columns, tuple(rows)))


def _row(changes: Figures, one: Figure, label: str) -> tuple[Cell, ...]:
    both = (changes.value(NAME, name, one.keys) for name in ("first", "second"))
    return (label, *both, one.value, ends(one.interval), one.p_value, one.adjusted_p, one.n)
