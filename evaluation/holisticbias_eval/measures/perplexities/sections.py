"""Report sections of group_perplexity: charts and tables."""

from collections.abc import Callable, Iterator

import numpy as np

from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.perplexities.dimensions import NAME, SCALE_NAMES, SCALES, Dimension, cut, said_dimension
from holisticbias_eval.measures.perplexities.figures import MEAN_T, TESTS, UNITS, F, T
from holisticbias_eval.measures.perplexities.finding import EXPLANATION, DimensionFigures, describe_finding, pair_label
from holisticbias_eval.sections.blocks import Block, Estimate, Forest, HeatMap, Section, in_parts
from holisticbias_eval.sections.tables import Cell, Column, ColumnOf, Table, table_of

ROWS = 10
"""Sentences of a dimension in the table of the largest differences."""


DIMENSION = ColumnOf[Figure]("dimension", "Dimension", lambda f: said_dimension(f.keys["dimension"]))
SCALE = ColumnOf[Figure]("scale", "Scale", lambda f: SCALE_NAMES[f.keys["scale"]])


def tests_of_all(shown: DimensionFigures) -> Table:
    """F and all that belongs to it: a row for each dimension and scale."""
    of = shown.beside
    columns: col.FigureColumns = (
        DIMENSION,
        SCALE,
        *col.estimate("f", "F", F),
        of("f_null_95", "95th percentile, permuted", F, "null_95"),
        of("f_permuted_p", "p (permuted)", "p_value", "permuted_p"),
        of("mean_abs_t", "Mean |t|, paired", MEAN_T, "paired", more={"test": "paired"}),
        of("mean_abs_t", "Mean |t|, unpaired", MEAN_T, "unpaired", more={"test": "unpaired"}),
        col.p("p (F)"),
        of("eta_squared", "Partial eta²", "share"),
        of("f_within", "F within sentences", F),
        of("f_within", "p (within)", "p_value", "within_p", "p_value"),
        of("eta_squared_within", "Partial eta² within", "share", "eta_within"),
        of("friedman", "p (Friedman)", "p_value", "friedman_p", "p_value"),
        of("leave_one_sentence_out", "F without one sentence", F, "without_one", "interval"),
        of("largest_share", "Largest share of a sentence", "share", "largest"),
        col.n("values", "Values"),
        col.missing(),
    )
    found = [f for d in shown.dimensions for scale in SCALES if (f := shown.of("f", d, scale))]
    note = "Published figures are on the scale of perplexity: F between groups, and the mean of |t|."
    return table_of("group-perplexity-tests", "Tests of all groups", columns, found, note, drop_empty=True)


def mean_table(shown: DimensionFigures) -> Table:
    """The mean of every group on both scales."""
    log, raw = UNITS["log"], UNITS["perplexity"]
    of, on_perplexity = shown.beside, {"scale": "perplexity"}
    columns: col.FigureColumns = (
        ColumnOf("group", "Group", lambda f: cut(f.keys["group"])),
        DIMENSION,
        *col.estimate("log", "Mean log-perplexity", log, "log_interval"),
        of("deviation", "Minus the mean of all groups", f"{log} difference"),
        of("deviation", "95% interval, difference", f"{log} difference", "deviation_interval", "interval"),
        of("mean", "Mean perplexity", raw, "perplexity", more=on_perplexity),
        of("mean", "95% interval, perplexity", raw, "perplexity_interval", "interval", more=on_perplexity),
        col.n("values", "Values"),
        col.missing(),
    )
    found = [f for d in shown.dimensions for g in d.groups if (f := shown.of("mean", d, "log", group=g))]
    return table_of("group-perplexity-means", "Means of the groups", columns, found, drop_empty=True)


def pair_table(shown: DimensionFigures) -> Table:
    """Both t tests and Wilcoxon's test of every pair on both scales."""

    def of(name: str, attribute: str, test: str = "") -> Callable[[Figure], Cell]:
        def cell(pair: Figure) -> Cell:
            keys = {k: v for k, v in pair.keys.items() if k != "test"} | ({"test": test} if test else {})
            value: Cell = getattr(shown.figures.get(NAME, name, keys), attribute, None)
            return value

        return cell

    columns: col.FigureColumns = (
        ColumnOf("pair", "Pair", pair_label),
        DIMENSION,
        SCALE,
        *(
            ColumnOf(f"{test}_{key}", f"{heading}, {test}", of("t", attribute, test), unit)
            for test in TESTS
            for key, heading, attribute, unit in (
                ("t", "t", "value", T),
                ("p", "p", "p_value", "p_value"),
                ("adjusted_p", "p (Holm)", "adjusted_p", "p_value"),
            )
        ),
        ColumnOf("wilcoxon_p", "p (Wilcoxon)", of("wilcoxon", "p_value"), "p_value"),
        ColumnOf("wilcoxon_adjusted_p", "p (Wilcoxon, Holm)", of("wilcoxon", "adjusted_p"), "p_value"),
        col.n("sentences", "Sentences of both"),
    )
    found = [pair for d in shown.dimensions for scale in SCALES for pair in shown.pairs(d, scale, "paired")]
    note = "t is of the first group minus the second."
    caption = "All pairs of groups"
    return table_of("group-perplexity-pairs", caption, columns, found, note, search=True, drop_empty=True)


def spread_table(shown: DimensionFigures) -> Table:
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
        rows.append((text, dimension.title, cut(high), found[high], cut(low), found[low], ratio))
    return rows


MOST_ROWS, MOST_SIDES = 40, 12
"""Groups in one chart, and groups of a dimension up to which all pairs are shown as a grid."""


def perplexity_sections(view: View) -> tuple[Section, ...]:
    """Show the finding with a chart of the groups, the pairs, and as details the sentences and all tables."""
    shown = DimensionFigures(view, NAME)
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


def _forests(shown: DimensionFigures) -> Iterator[Forest]:
    """The groups of each dimension around the mean of all groups, or their means if sentences are not paired."""
    line = f"{UNITS['log']}  ·  line: 95% interval"
    for paired in (True, False):
        estimates = [e for d in shown.dimensions if d.paired is paired for e in _estimates(shown, d)]
        for name, part in in_parts(f"group-perplexity{'' if paired else '-means'}", estimates, MOST_ROWS):
            if paired:
                title = "Mean log-perplexity of a group minus that of all groups, on the same sentences"
                unit, scale = f"{UNITS['log']} difference", f"{line}  ·  0: as all groups  ·  filled: differs"
            else:
                title, unit, scale = "Mean log-perplexity of each group", UNITS["log"], line
            reference = 0.0 if paired else min((e.value for e in part if e.value is not None), default=0.0)
            yield Forest(name, title, unit, part, scale, reference)


def _estimates(shown: DimensionFigures, dimension: Dimension) -> Iterator[Estimate]:
    heading = dimension.title if len(shown.dimensions) > 1 else ""
    for group in dimension.groups:
        found = shown.of("deviation" if dimension.paired else "mean", dimension, "log", group=group)
        if found is not None:
            marked = dimension.paired and found.excludes_zero
            yield Estimate(cut(group), found.value, found.interval, marked, heading)


def _grids(shown: DimensionFigures) -> Iterator[HeatMap]:
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
        title = f"{dimension.title}: {test} t of log-perplexity"
        scale = "row minus column; above 0 the row's sentences are the less likely ones"
        yield HeatMap(name, title, T, tuple(map(cut, groups)), rows, scale)
