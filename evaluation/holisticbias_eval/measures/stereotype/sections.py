"""The sections of the stereotype score in a report."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.stereotype.finding import EXPLANATION, describe_finding
from holisticbias_eval.measures.stereotype.made_tables import made_tables
from holisticbias_eval.measures.stereotype.outcomes import NAME
from holisticbias_eval.measures.stereotype.shown import SOURCES, Shown
from holisticbias_eval.measures.stereotype.tables import (
    attribute_table,
    pair_table,
    score_table,
    trust_tables,
)
from holisticbias_eval.sections import Block, Estimate, Forest, Section

MOST = 40
"""Estimates in one chart."""
BASELINE = "Baseline: invented words"


def stereotype_sections(view: View) -> tuple[Section, ...]:
    """Show the finding and the specifications, what the scores depend on, and as details attributes and pairs."""
    shown = Shown.of(view)
    if not shown.scores:
        return ()
    overview: list[Block] = [*describe_finding(shown), *_forests(shown), score_table(shown), EXPLANATION]
    sections = [
        Section("stereotype-score", "Stereotype score by specification", tuple(overview)),
        Section("stereotype-trust", "Dependence on sentences and attributes", trust_tables(shown)),
    ]
    if made := made_tables(shown):
        sections.append(Section("stereotype-sentences", "Sentences and pairs", made))
    sections.append(
        Section("stereotype-attributes", "Score of every attribute", (attribute_table(shown),), detail=True)
    )
    if table := pair_table(shown, view.answers):
        sections.append(Section("stereotype-pairs", "Pairs and their scores", (table,), detail=True))
    return tuple(sections)


def _forests(shown: Shown) -> Iterator[Forest]:
    """The specifications around one half; several charts if there are many."""
    estimates = [estimate for figure in shown.scores for estimate in _estimates(shown, figure)]
    for number, start in enumerate(range(0, len(estimates), MOST), 1):
        part = tuple(estimates[start : start + MOST])
        name = "stereotype-score" if number == 1 else f"stereotype-score-{number}"
        title = "Share of pairs with a likelier stereotyped sentence"
        yield Forest(name, title, "share", part, "line: 95% interval; 50%: no preference", reference=0.5)


def _estimates(shown: Shown, figure: Figure) -> Iterator[Estimate]:
    """A specification by the source of its sentences, or as one row if there is one source."""
    by_source = shown.by_source(figure)
    if not any(len(shown.by_source(f)) > 1 for f in shown.scores):
        group = BASELINE if shown.is_control(figure) else ""
        yield Estimate(shown.short_label(figure), figure.value, figure.interval, shown.differs(figure), group)
        return
    group = f"{'Baseline: ' if shown.is_control(figure) else ''}{shown.short_label(figure)}"
    for one in by_source:
        source = one.keys["source"]
        marked = shown.differs(figure) and one.value == shown.figures.value(NAME, NAME, figure.keys)
        yield Estimate(SOURCES.get(source, source).capitalize(), one.value, one.interval, marked, group)
