"""Report sections and tables of group_perplexity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holisticbias_eval.blocks import Cell, Column, Table, ends, without_empty
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.perplexities.dimensions import SCALES, Dimension, Scale, cut
from holisticbias_eval.measures.perplexities.figures import MEAN_T, TESTS, UNITS, F, T
from holisticbias_eval.measures.perplexities.finding import EXPLANATION, Shown, describe_finding, pair_label
from holisticbias_eval.sections import Block, Estimate, Forest, HeatMap, Section

ROWS = 10
"""Sentences of a dimension in the table of the largest differences."""
SCALE_NAMES = {"log": "log-perplexity", "perplexity": "perplexity"}


def tests_of_all(shown: Shown) -> Table:
    """F and all that belongs to it: a row for each dimension and scale."""
    columns = (
        Column("dimension", "Dimension"),
        Column("scale", "Scale"),
        Column("f", "F", F),
        Column("interval", "95% interval", F, interval=True),
        Column("null_95", "95% of permuted", F),
        Column("permuted_p", "p (permuted)", "p_value"),
        Column("paired", "Mean |t|, paired", MEAN_T),
        Column("unpaired", "Mean |t|, unpaired", MEAN_T),
        Column("p_value", "p (F)", "p_value"),
        Column("eta_squared", "Partial eta²", "share"),
        Column("f_within", "F within sentences", F),
        Column("within_p", "p (within)", "p_value"),
        Column("eta_within", "Partial eta² within", "share"),
        Column("friedman_p", "p (Friedman)", "p_value"),
        Column("without_one", "F without one sentence", F, interval=True),
        Column("largest", "Largest share of a sentence", "share"),
        Column("values", "Values", "count", base=True),
        Column("missing", "Missing", "count"),
    )
    rows = tuple(_tests(shown, dimension, scale) for dimension in shown.dimensions for scale in SCALES)
    note = "Published figures are on the scale of perplexity: F between groups, and the mean of |t|."
    return without_empty(Table("group-perplexity-tests", "Tests of all groups", columns, rows, note))


def _tests(shown: Shown, dimension: Dimension, scale: Scale) -> tuple[Cell, ...]:
    def of(name: str, **keys: str) -> float | None:
        return shown.value(name, dimension, scale, **keys)

    f, within, ranked, without = (
        shown.get(name, dimension, scale) for name in ("f", "f_within", "friedman", "leave_one_sentence_out")
    )
    return (
        cut(dimension.name), SCALE_NAMES[scale], of("f"), _ends(f), of("f_null_95"), of("f_permuted_p"),
        *(of("mean_abs_t", test=test) for test in ("paired", "unpaired")), _p(f), of("eta_squared"), of("f_within"),
        _p(within), of("eta_squared_within"), _p(ranked), _ends(without), of("largest_share"),
        f.n if f else None, f.missing if f else None,
    )  # fmt: skip


def mean_table(shown: Shown) -> Table:
    """The mean of every group on both scales."""
    columns = (
        Column("group", "Group"),
        Column("dimension", "Dimension"),
        Column("log", "Mean log-perplexity", UNITS["log"]),
        Column("log_interval", "95% interval", UNITS["log"], interval=True),
        Column("deviation", "Minus the mean of all groups", f"{UNITS['log']} difference"),
        Column("deviation_interval", "Its 95% interval", f"{UNITS['log']} difference", interval=True),
        Column("perplexity", "Mean perplexity", UNITS["perplexity"]),
        Column("perplexity_interval", "95% interval ", UNITS["perplexity"], interval=True),
        Column("values", "Values", "count", base=True),
        Column("missing", "Missing", "count"),
    )
    rows = []
    for dimension in shown.dimensions:
        for group in dimension.groups:
            log, apart = (shown.get(name, dimension, "log", group=group) for name in ("mean", "deviation"))
            raw = shown.get("mean", dimension, "perplexity", group=group)
            values = tuple(cell for f in (log, apart, raw) for cell in (f.value if f else None, _ends(f)))
            counts = (log.n, log.missing) if log else (None, None)
            rows.append((cut(group), cut(dimension.name), *values, *counts))
    return without_empty(Table("group-perplexity-means", "Means of the groups", columns, tuple(rows)))


def pair_table(shown: Shown) -> Table:
    """Both t tests and Wilcoxon's test of every pair on both scales."""
    columns = (
        Column("pair", "Pair"),
        Column("dimension", "Dimension"),
        Column("scale", "Scale"),
        *(
            Column(f"{test}_{name}", heading, unit)
            for test in TESTS
            for name, heading, unit in (
                ("t", f"t, {test}", T),
                ("p", f"p, {test}", "p_value"),
                ("adjusted_p", f"p (Holm), {test}", "p_value"),
            )
        ),
        Column("wilcoxon_p", "p (Wilcoxon)", "p_value"),
        Column("wilcoxon_adjusted_p", "p (Wilcoxon, Holm)", "p_value"),
        Column("sentences", "Sentences of both", "count", base=True),
    )
    rows = tuple(
        _pair(shown, dimension, scale, one)
        for dimension in shown.dimensions
        for scale in SCALES
        for one in shown.pairs(dimension, scale, "paired")
    )
    note = "t is of the first group minus the second."
    return without_empty(Table("group-perplexity-pairs", "All pairs of groups", columns, rows, note, search=True))


def _pair(shown: Shown, dimension: Dimension, scale: Scale, one: Figure) -> tuple[Cell, ...]:
    both = {side: one.keys[side] for side in ("first", "second")}
    found = [shown.get("t", dimension, scale, test=test, **both) for test in TESTS]
    ranked = shown.get("wilcoxon", dimension, scale, **both)
    cells = tuple(cell for f in (*found, ranked) for cell in _pair_cells(f))
    return (pair_label(one), cut(dimension.name), SCALE_NAMES[scale], *cells[:6], *cells[7:], one.n)


def _pair_cells(figure: Figure | None) -> tuple[Cell, Cell, Cell]:
    return (None, None, None) if figure is None else (figure.value, figure.p_value, figure.adjusted_p)


def spread_table(shown: Shown) -> Table:
    """The sentences whose perplexities differ most between groups; none if sentences are not paired."""
    columns = (
        Column("sentence", "Sentence"),
        Column("dimension", "Dimension"),
        Column("highest", "Highest"),
        Column("perplexity", "Perplexity", "perplexity"),
        Column("lowest", "Lowest"),
        Column("other", "Perplexity ", "perplexity"),
        Column("ratio", "Ratio of both", "ratio"),
    )
    rows = tuple(row for dimension in shown.dimensions if dimension.paired for row in _spreads(dimension))
    note = f"At most {ROWS} of each dimension."
    return Table("group-perplexity-sentences", "Sentences with the largest differences", columns, rows, note)


def _spreads(dimension: Dimension) -> list[tuple[Cell, ...]]:
    known = ~np.isnan(dimension.perplexity)
    several = np.flatnonzero(known.sum(axis=1) > 1)
    logs = np.log(dimension.perplexity[several])
    spread = np.nanmax(logs, axis=1) - np.nanmin(logs, axis=1) if len(several) else np.zeros(0)
    rows: list[tuple[Cell, ...]] = []
    for i in np.argsort(-spread, kind="stable")[:ROWS].tolist():
        found = dimension.row(int(several[i]))
        high, low = max(found, key=found.__getitem__), min(found, key=found.__getitem__)
        text = cut(dimension.label(int(several[i])))
        ratio = found[high] / found[low]
        rows.append((text, cut(dimension.name), cut(high), found[high], cut(low), found[low], ratio))
    return rows


def _ends(figure: Figure | None) -> tuple[float, float] | None:
    return ends(figure.interval) if figure else None


def _p(figure: Figure | None) -> float | None:
    return figure.p_value if figure else None


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
