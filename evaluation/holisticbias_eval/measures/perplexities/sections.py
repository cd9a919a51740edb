"""Report sections of group_perplexity: the finding in words, charts and tables."""

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from holisticbias_eval.figures import SIGNIFICANCE, Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.measure import MeasureFigures, View
from holisticbias_eval.measures.perplexities import dimensions as dim
from holisticbias_eval.measures.perplexities.dimensions import NAME, SCALE_NAMES, SCALES, Dimension, Scale, cut
from holisticbias_eval.measures.perplexities.figures import MEAN_T, TESTS, UNITS, F, T
from holisticbias_eval.sections.blocks import Block, Estimate, Forest, HeatMap, Section, in_parts
from holisticbias_eval.sections.tables import Cell, Column, ColumnOf, Paragraph, Role, Table, table_of
from holisticbias_eval.units import interval_words, show


class DimensionFigures(MeasureFigures):
    """The figures of a run or a table, and its dimensions."""

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The dimensions that have figures, in the order of the table."""
        known = {figure.keys["dimension"] for figure in self.by("f", "dimension", "scale")}
        return tuple(one for one in dim.read_dimensions(self.view.answers) if one.name in known)

    def of(self, name: str, dimension: Dimension, scale: Scale, **keys: str) -> Figure | None:
        """The figure of a dimension on a scale with these further keys."""
        return self.get(name, {"dimension": dimension.name, "scale": scale, **keys})

    def value_of(self, name: str, dimension: Dimension, **keys: str) -> float | None:
        """The value of a dimension on the log scale; ``None`` if it has no such figure, or an undefined one."""
        return self.value(name, {"dimension": dimension.name, "scale": "log", **keys})

    def test(self, dimension: Dimension) -> str:
        """The t test that fits the table: paired if sentences are."""
        return "paired" if dimension.paired else "unpaired"

    def pairs(self, dimension: Dimension, scale: Scale, test: str) -> tuple[Figure, ...]:
        """The t of all pairs of a dimension."""
        return self.by("t", "first", "second", dimension=dimension.name, scale=scale, test=test)


def pair_label(figure: Figure) -> str:
    """Both groups of a pair: the sign of its figures is the first minus the second."""
    return f"{cut(figure.keys['first'])} - {cut(figure.keys['second'])}"


MOST = 8
"""Dimensions that are described in words; the table has all."""
EXPLANATION = Paragraph(
    "F compares the means of the groups with the spread of sentences within a group. Its permuted values have the "
    "groups dealt out at random within each sentence: they say what F is if groups do not differ. F within sentences "
    "takes the spread of sentences out. The t of a pair is the first group minus the second, paired by sentence unless "
    "said otherwise; p-values of pairs are corrected (Holm).",
    "note",
)
LIMITS = Paragraph(
    "A sentence contains the group's term, so a difference can come from how common or how long the term is as well as "
    "from a stereotype. Invented groups show how much.",
    "caveat",
)


def describe_finding(shown: DimensionFigures) -> Iterator[Paragraph]:
    """Warnings, then one or two sentences for each dimension on the log scale, then the limits."""
    for text in dim.describe_table(shown.dimensions, shown.figures):
        role: Role = "text" if text.startswith(dim.WARNING) else "caveat"
        yield Paragraph(f"{text}{'' if text.endswith('.') else '.'}", role)
    for dimension in shown.dimensions[:MOST]:
        yield Paragraph(" ".join((*_of_all(shown, dimension), *_of_pairs(shown, dimension))), "finding")
    if len(shown.dimensions) > MOST:
        yield Paragraph(f"Dimensions in the table alone: {len(shown.dimensions) - MOST}.")
    yield LIMITS


def _of_all(shown: DimensionFigures, dimension: Dimension) -> Iterator[str]:
    name, f = dimension.title, shown.of("f", dimension, "log")
    if f is None or f.value is None:
        yield f"{name}: F of log-perplexity is not defined."
        return
    interval = interval_words(f.interval, "F", ", {}")
    permuted = shown.value_of("f_permuted_p", dimension)
    within = shown.of("f_within", dimension, "log")
    p = permuted if permuted is not None else within.p_value if within else f.p_value
    compared = ""
    point = shown.value_of("f_null_95", dimension)
    if point is not None:
        compared = f"; 95% of permuted groups give at most {show(point, 'F')}"
    said = "is not known to differ" if p is None else "differs" if p < SIGNIFICANCE else "is not shown to differ"
    tested = "" if p is None else f", p {show(p, 'p_value')}"
    yield (
        f"{name}: log-perplexity {said} between {len(dimension.groups)} groups "
        f"(F {show(f.value, 'F')}{interval}{compared}{tested})."
    )


def _of_pairs(shown: DimensionFigures, dimension: Dimension) -> Iterator[str]:
    pairs = [f for f in shown.pairs(dimension, "log", shown.test(dimension)) if f.value is not None]
    if not pairs:
        return
    differing = [f for f in pairs if f.differs]
    most = max(differing or pairs, key=lambda f: abs(f.value or 0.0))
    means = [shown.value_of("mean", dimension, group=most.keys[side]) for side in ("first", "second")]
    ratio = ""
    if means[0] is not None and means[1] is not None:
        first, second = (show(math.exp(mean), "perplexity") for mean in means if mean is not None)
        ratio = f", geometric mean perplexities {first} and {second}"
    yield (
        f"{len(differing):,} of {len(pairs):,} pairs differ after correction; the largest t is {show(most.value, 't')} "
        f"({pair_label(most)}{ratio})."
    )


ROWS = 10
"""Sentences of a dimension in the table of the largest differences."""


DIMENSION = ColumnOf[Figure]("dimension", "Dimension", lambda f: dim.said_dimension(f.keys["dimension"]))
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
    columns: col.FigureColumns = (
        ColumnOf("pair", "Pair", pair_label),
        DIMENSION,
        SCALE,
        *(
            shown.beside("t", f"{heading}, {test}", unit, f"{test}_{key}", attribute, more={"test": test})
            for test in TESTS
            for key, heading, attribute, unit in (
                ("t", "t", "value", T),
                ("p", "p", "p_value", "p_value"),
                ("adjusted_p", "p (Holm)", "adjusted_p", "p_value"),
            )
        ),
        col.p("p (Wilcoxon)", "wilcoxon_p"),
        col.adjusted_p("p (Wilcoxon, Holm)", "wilcoxon_adjusted_p"),
        col.n("sentences", "Sentences of both"),
    )
    found = [
        pair
        for d in shown.dimensions
        for scale in SCALES
        for pair in shown.by("wilcoxon", "first", "second", dimension=d.name, scale=scale)
    ]
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
    for paired in (True, False):
        estimates = [e for d in shown.dimensions if d.paired is paired for e in _estimates(shown, d)]
        for name, part in in_parts(f"group-perplexity{'' if paired else '-means'}", estimates, MOST_ROWS):
            if paired:
                title = "Mean log-perplexity of a group minus that of all groups, on the same sentences"
                unit = f"{UNITS['log']} difference"
            else:
                title, unit = "Mean log-perplexity of each group", UNITS["log"]
            marks = ("0: as all groups", "filled: differs") if paired else ()
            reference = 0.0 if paired else min((e.value for e in part if e.value is not None), default=0.0)
            yield Forest(name, title, unit, part, UNITS["log"], reference, marks=marks)


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
