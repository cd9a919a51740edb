"""Report sections on stance contrast: charts and tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial

from holisticbias_eval.blocks import Column, ColumnOf, Paragraph, Table, table_of, without_column, yes
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.stance.finding import (
    EXPLANATIONS,
    NAME,
    NATS,
    PLANTED,
    PLANTED_SPREAD,
    SHARED_NATS,
    StanceFigures,
    describe_finding,
)
from holisticbias_eval.sections import Bar, Bars, Block, Estimate, Forest, Scatter, ScatterPoint, Section

_SCATTERS = 3


def stance_sections(view: View) -> tuple[Section, ...]:
    """Show the finding and the axes, the descriptors that differ, and as details each pair and every descriptor."""
    shown = StanceFigures(view)
    axes = _ordered(shown, shown.figures.by(NAME, "shared_contrast", "axis"))
    if not axes:
        return ()
    overview: list[Block] = [
        *describe_finding(shown, axes),
        _axis_bars(shown, axes),
        _axis_table(shown, axes),
        *_untested(shown),
        *EXPLANATIONS,
    ]
    sections = [
        Section("stance-contrast", "Stance contrast by axis", tuple(overview)),
        Section("stance-descriptors", "Descriptors with a stance contrast", tuple(_differing(shown))),
    ]
    if pairs := shown.pairs:
        spread, every = _spread_table(shown, axes, pairs), _descriptor_table(shown, pairs)
        blocks: tuple[Block, ...] = (spread, *_scatters(shown, pairs), every)
        sections.append(Section("stance-pairs", "Stance contrast by pair of templates", blocks, detail=True))
    return tuple(sections)


def _ordered(shown: StanceFigures, axes: Sequence[Figure]) -> list[Figure]:
    """First the axes on which the pairs agree, the largest first, then the others in the order of the release."""
    agreed = [a for a in axes if shown.agrees(a)]
    return sorted(agreed, key=lambda a: -(a.value or 0)) + [a for a in axes if not shown.agrees(a)]


def _axis_bars(shown: StanceFigures, axes: Sequence[Figure]) -> Bars:
    known = [a for a in axes if a.value is not None]
    planted = [shown.planted(PLANTED, a.keys) for a in known]
    calibrated = any(value is not None for value in planted)
    marks = planted if calibrated else [a.floor for a in known]
    bars = tuple(
        Bar(shown.axis(a), a.value, a.interval, mark, faint=shown.agrees(a) is False)
        for a, mark in zip(known, marks, strict=True)
    )
    title, name = "Stance contrast shared by the pairs of templates", "planted" if calibrated else "floor"
    meaning = "the true value, planted in the calibration model" if calibrated else "floor"
    scale = f"nats per sentence  ·  line: 95% interval  ·  mark: {meaning}  ·  faint: no agreement shown"
    return Bars("stance-contrast", title, SHARED_NATS, bars, scale, mark=name, test="Agreement shown")


def _axis_table(shown: StanceFigures, axes: Sequence[Figure]) -> Table:
    columns: FigureColumns = (
        ColumnOf("axis", "Axis", shown.axis),
        col.value("shared_contrast", "Shared contrast", SHARED_NATS),
        col.beside(shown.figures, PLANTED, "Planted", NATS, key="planted"),
        ColumnOf("agreement", "Agreement shown", lambda a: yes(shown.agrees(a))),
        col.interval(SHARED_NATS),
        col.p("p (Holm)"),
        col.beside(
            shown.figures, "leave_one_pair_out", "Without one pair", SHARED_NATS, "without_one_pair", "interval"
        ),
        ColumnOf("floor_interval", "By chance", lambda a: a.floor_interval, SHARED_NATS, interval=True),
        col.beside(shown.figures, "reliability", "Reliability", ""),
        ColumnOf("wording_spread", "Spread of single pairs", partial(_range_of_spreads, shown), NATS, interval=True),
        col.beside(shown.figures, "stance_pairs", "Pairs", "count", key="pairs"),
        col.n("descriptors", "Descriptors"),
        col.missing(heading="Not counted"),
    )
    note = "Descriptors without a score in every pair are not counted."
    table = table_of("stance-contrast-by-axis", "Stance contrast by axis", columns, axes, note)
    return table if any(row[2] is not None for row in table.rows) else without_column(table, "planted")


def _untested(shown: StanceFigures) -> Iterator[Paragraph]:
    """How many descriptors are tested, and why not the others."""
    every = shown.figures.by(NAME, "contrast", "axis", "descriptor")
    tested = sum(f.p_value is not None for f in every)
    alone = sum(f.p_value is None and f.value is not None for f in every)
    lacking = sum(f.value is None for f in every)
    said = [f"{tested:,} of {len(every):,} descriptors are tested."]
    if tested and alone:
        said.append(
            f"{alone:,} have a contrast but fewer than two nouns for a test; terms that are nouns themselves are "
            "compared with one another."
        )
    if tested and lacking:
        said.append(f"{lacking:,} have no contrast: a pair lacks their scores, or nothing to compare them with.")
    if tested and tested < len(every):
        yield Paragraph(" ".join(said))


def _range_of_spreads(shown: StanceFigures, axis: Figure) -> tuple[float, float] | None:
    """The smallest and the largest spread of one pair."""
    spreads = [f.value for f in _spreads(shown, axis) if f.value is not None]
    return (min(spreads), max(spreads)) if spreads else None


def _spreads(shown: StanceFigures, axis: Figure) -> list[Figure]:
    found = shown.figures.by(NAME, "wording_spread", "axis", "pair")
    return [f for f in found if f.keys["axis"] == axis.keys["axis"]]


def _differing(shown: StanceFigures) -> Iterator[Block]:
    contrasts = shown.figures.by(NAME, "contrast", "axis", "descriptor")
    tested = [f for f in contrasts if f.p_value is not None]
    found = sorted((f for f in tested if f.differs), key=lambda f: (shown.axis(f), f.value))
    if not tested:
        yield Paragraph("No descriptor is tested by itself: that needs three pairs of templates.")
    elif not found:
        yield Paragraph(
            f"None of {len(tested)} descriptors differs from the mean of its axis after correction for the number of "
            "descriptors, so none is named here."
        )
    else:
        estimates = tuple(
            Estimate(shown.descriptor(f), f.value, f.interval, marked=True, group=shown.axis(f)) for f in found
        )
        yield Paragraph(
            f"{len(found)} of {len(tested)} descriptors differ from the mean of their axis (p < 0.05, corrected by "
            "Benjamini and Hochberg). To the right of 0 the model prefers positive sentences more than for other "
            "descriptors of the axis, to the left less."
        )
        title = "Stance contrast of the descriptors that differ"
        scale = "line: 95% interval; 0: mean of the axis"
        yield Forest("stance-descriptors", title, NATS, estimates, scale, test="Differs from the axis mean")


def _spread_table(shown: StanceFigures, axes: Sequence[Figure], pairs: Sequence[str]) -> Table:
    columns = (Column("axis", "Axis"), *(Column(pair, pair, NATS) for pair in pairs))
    rows = []
    for axis in axes:
        spread = {f.keys["pair"]: f.value for f in _spreads(shown, axis)}
        rows.append((shown.axis(axis), *(spread.get(pair) for pair in pairs)))
        planted = [shown.planted(PLANTED_SPREAD, {**axis.keys, "pair": pair}) for pair in pairs]
        if any(planted):
            rows.append((f"{shown.axis(axis)}, planted", *planted))
    note = "Standard deviation over descriptors. The spread of a single pair includes the effect of its wording."
    return Table("stance-spread", "Spread of the contrasts of each pair", columns, tuple(rows), note)


def _scatters(shown: StanceFigures, pairs: Sequence[str]) -> Iterator[Scatter]:
    """The contrasts of two pairs against each other; only descriptors that differ after correction are labelled."""
    contrasts = shown.figures.by(NAME, "contrast", "axis", "descriptor")
    for i, (x, y) in enumerate(list(itertools.combinations(pairs, 2))[:_SCATTERS], 1):
        points = []
        for f in contrasts:
            at = [shown.figures.value(NAME, "pair_contrast", {**f.keys, "pair": pair}) for pair in (x, y)]
            if at[0] is not None and at[1] is not None:
                points.append(ScatterPoint(at[0], at[1], shown.descriptor(f), f.differs))
        title = f"Contrasts in two pairs: {x}, and {y}"
        yield Scatter(f"stance-agreement-{i}", title, x, y, NATS, NATS, tuple(points))


def _descriptor_table(shown: StanceFigures, pairs: Sequence[str]) -> Table:
    columns: FigureColumns = (
        ColumnOf("descriptor", "Descriptor", shown.descriptor),
        ColumnOf("axis", "Axis", shown.axis),
        col.value("contrast", "Contrast", NATS),
        col.interval(NATS),
        col.p(),
        col.adjusted_p("p, corrected"),
        *(col.beside(shown.figures, "pair_contrast", pair, NATS, key=pair, more={"pair": pair}) for pair in pairs),
        col.n("differences", "Differences"),
        col.missing(),
    )
    found = shown.figures.by(NAME, "contrast", "axis", "descriptor")
    note = "In the order of the release. A contrast is null if a pair of templates lacks scores of the descriptor."
    return table_of("stance-contrasts", "Stance contrast of every descriptor", columns, found, note)
