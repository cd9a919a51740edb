"""The sections of group_perplexity in a report."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.perplexities.dimensions import Dimension
from holisticbias_eval.measures.perplexities.figures import UNITS, T
from holisticbias_eval.measures.perplexities.finding import EXPLANATION, describe_finding
from holisticbias_eval.measures.perplexities.remarks import cut
from holisticbias_eval.measures.perplexities.shown import Shown
from holisticbias_eval.measures.perplexities.tables import mean_table, pair_table, spread_table, tests_of_all
from holisticbias_eval.sections import Block, Estimate, Forest, HeatMap, Section

MOST_ROWS, MOST_SIDES = 40, 12
"""Groups in one chart, and groups of a dimension up to which all pairs are shown as a grid."""


def perplexity_sections(view: View) -> tuple[Section, ...]:
    """Show the finding with a chart of the groups, the pairs, and as details the sentences and all tables."""
    shown = Shown(view)
    if not shown.dimensions:
        return ()
    overview: list[Block] = [*describe_finding(shown), *_forests(shown), tests_of_all(shown), EXPLANATION]
    sections = [Section("group-perplexity", "Log-perplexity by group", tuple(overview))]
    if grids := tuple(_grids(shown)):
        sections.append(Section("group-perplexity-t", "Pairs of groups", grids))
    sections.append(Section("group-perplexity-means", "Means of the groups", (mean_table(shown),)))
    pairs, sentences = pair_table(shown), spread_table(shown)
    if sentences.rows:
        title = "Sentences that differ most between groups"
        sections.append(Section("group-perplexity-sentences", title, (sentences,), in_terminal=False))
    if pairs.rows:
        sections.append(Section("group-perplexity-pairs", "Tests of every pair", (pairs,), detail=True))
    return tuple(sections)


def _forests(shown: Shown) -> Iterator[Forest]:
    """The groups of each dimension around the mean of all groups, or their means if sentences are not paired."""
    for paired in (True, False):
        estimates = [e for d in shown.dimensions if d.paired is paired for e in _estimates(shown, d)]
        for number, start in enumerate(range(0, len(estimates), MOST_ROWS), 1):
            name = f"group-perplexity{'' if paired else '-means'}{f'-{number}' if number > 1 else ''}"
            if paired:
                title = "Mean log-perplexity of a group minus that of all groups, on the same sentences"
                unit, scale = f"{UNITS['log']} difference", "line: 95% interval; 0: as all groups; filled: differs"
            else:
                title, unit, scale = "Mean log-perplexity of each group", UNITS["log"], "line: 95% interval"
            part = tuple(estimates[start : start + MOST_ROWS])
            reference = 0.0 if paired else min((e.value for e in part if e.value is not None), default=0.0)
            yield Forest(name, title, unit, part, scale, reference)


def _estimates(shown: Shown, dimension: Dimension) -> Iterator[Estimate]:
    heading = cut(dimension.name) if len(shown.dimensions) > 1 else ""
    for group in dimension.groups:
        found = shown.get("deviation" if dimension.paired else "mean", dimension, "log", group=group)
        if found is not None:
            interval = found.interval
            apart = dimension.paired and interval is not None and not interval.low <= 0 <= interval.high
            yield Estimate(cut(group), found.value, interval, apart, heading)


def _grids(shown: Shown) -> Iterator[HeatMap]:
    """The t of every pair of a dimension with up to ``MOST_SIDES`` groups: row minus column."""
    for number, dimension in enumerate(shown.dimensions, 1):
        groups, test = dimension.groups, shown.test(dimension)
        pairs = {tuple(f.keys[k] for k in ("first", "second")): f for f in shown.pairs(dimension, "log", test)}
        if len(groups) > MOST_SIDES or all(f.value is None for f in pairs.values()):
            continue
        t = {both: f.value for both, f in pairs.items()}
        t |= {(second, first): None if v is None else -v for (first, second), v in t.items()}
        rows = tuple((cut(row), tuple(t.get((row, column)) for column in groups)) for row in groups)
        name = f"group-perplexity-t{f'-{number}' if number > 1 else ''}"
        title = f"{cut(dimension.name)}: {test} t of log-perplexity"
        scale = "row minus column; above 0 the row's sentences are the less likely ones"
        yield HeatMap(name, title, T, tuple(map(cut, groups)), rows, scale)
