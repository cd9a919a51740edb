"""The tables of group_perplexity in a report."""

from __future__ import annotations

import numpy as np

from holisticbias_eval.blocks import Cell, Column, Table, ends, without_empty
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.perplexities.dimensions import SCALES, Dimension, Scale
from holisticbias_eval.measures.perplexities.figures import MEAN_T, TESTS, UNITS, F, T
from holisticbias_eval.measures.perplexities.remarks import cut
from holisticbias_eval.measures.perplexities.shown import Shown, pair_label

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
