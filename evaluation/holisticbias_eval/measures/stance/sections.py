"""Report sections on stance contrast: charts and tables."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from holisticbias_eval.figures import NATS, Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.stance import finding
from holisticbias_eval.sections.blocks import Bar, Bars, Block, Estimate, Forest, Scatter, ScatterPoint, Section
from holisticbias_eval.sections.tables import Column, ColumnOf, Paragraph, Table, table_of, without_empty, yes

_SCATTERS = 3


def stance_sections(view: View) -> tuple[Section, ...]:
    """Show the finding and the axes, the descriptors that differ, and as details each pair and every descriptor."""
    shown = finding.StanceFigures(view, finding.NAME)
    found = shown.by("shared_contrast", "axis")
    if not found:
        return ()
    # first the axes on which the pairs agree, the largest first, then the others in the order of the release
    agreed = sorted((a for a in found if shown.agrees(a)), key=lambda a: -(a.value or 0))
    axes = [*agreed, *(a for a in found if not shown.agrees(a))]
    overview: list[Block] = [
        *finding.describe_finding(shown, axes),
        _axis_bars(shown, axes),
        _axis_table(shown, axes),
        *_untested(shown),
        *finding.EXPLANATIONS,
    ]
    sections = [
        Section("stance-contrast", "Stance contrast by axis", tuple(overview)),
        Section("stance-descriptors", "Descriptors with a stance contrast", tuple(_differing(shown))),
    ]
    if shown.pairs:
        blocks: tuple[Block, ...] = (_spread_table(shown, axes), *_scatters(shown), _descriptor_table(shown))
        sections.append(Section("stance-pairs", "Stance contrast by pair of templates", blocks, detail=True))
    return tuple(sections)


def _axis_bars(shown: finding.StanceFigures, axes: Sequence[Figure]) -> Bars:
    known = [a for a in axes if a.value is not None]
    planted = [shown.value(finding.PLANTED, a.keys) for a in known]
    marks, name, meaning = planted, "planted", "the true value, planted in the calibration model"
    if all(value is None for value in planted):
        marks, name, meaning = [a.floor for a in known], "floor", "floor"
    bars = tuple(
        Bar(shown.axis(a), a.value, a.interval, mark, faint=shown.agrees(a) is False)
        for a, mark in zip(known, marks, strict=True)
    )
    title = "Stance contrast shared by the pairs of templates"
    scale = f"{NATS}  ·  line: 95% interval  ·  mark: {meaning}  ·  faint: no agreement shown"
    return Bars("stance-contrast", title, finding.SHARED_NATS, bars, scale, mark=name, test="Agreement shown")


def _axis_table(shown: finding.StanceFigures, axes: Sequence[Figure]) -> Table:
    def spreads(axis: Figure) -> tuple[float, float] | None:
        """The smallest and the largest spread of one pair."""
        found = [value for value in _spreads(shown, axis).values() if value is not None]
        return (min(found), max(found)) if found else None

    without = "without_one_pair"
    columns: col.FigureColumns = (
        shown.axis_column,
        col.value("shared_contrast", "Shared contrast", finding.SHARED_NATS),
        shown.beside(finding.PLANTED, "Planted", NATS, "planted"),
        ColumnOf("agreement", "Agreement shown", lambda a: yes(shown.agrees(a))),
        col.interval(finding.SHARED_NATS),
        col.p("p (Holm)"),
        shown.beside("leave_one_pair_out", "Without one pair", finding.SHARED_NATS, without, attribute="interval"),
        ColumnOf("floor_interval", "Floor interval", lambda a: a.floor_interval, finding.SHARED_NATS, interval=True),
        shown.beside("reliability", "Reliability", ""),
        ColumnOf("wording_spread", "Spread of single pairs", spreads, NATS, interval=True),
        shown.beside("stance_pairs", "Pairs", "count", "pairs"),
        col.n("descriptors", "Descriptors"),
        col.missing(heading="Not counted"),
    )
    note = "Descriptors without a score in every pair are not counted."
    table = table_of("stance-contrast-by-axis", "Stance contrast by axis", columns, axes, note)
    return without_empty(table, ("planted",))


def _untested(shown: finding.StanceFigures) -> Iterator[Paragraph]:
    """How many descriptors are tested, and why not the others."""
    every = shown.by("contrast", "axis", "descriptor")
    tested = sum(f.p_value is not None for f in every)
    alone = sum(f.p_value is None and f.value is not None for f in every)
    lacking = sum(f.value is None for f in every)
    said = [f"{tested:,} of {len(every):,} descriptors are tested."]
    if alone:
        said.append(
            f"{alone:,} have a contrast but fewer than two nouns for a test; descriptors that are nouns themselves "
            "are compared with each other."
        )
    if lacking:
        said.append(f"{lacking:,} have no contrast: a pair lacks their scores, or nothing to compare them with.")
    if 0 < tested < len(every):
        yield Paragraph(" ".join(said))


def _spreads(shown: finding.StanceFigures, axis: Figure) -> dict[str, float | None]:
    """The spread of each pair on an axis."""
    return {f.keys["pair"]: f.value for f in shown.by("wording_spread", "pair", axis=axis.keys["axis"])}


def _differing(shown: finding.StanceFigures) -> Iterator[Block]:
    tested = [f for f in shown.by("contrast", "axis", "descriptor") if f.p_value is not None]
    found = sorted((f for f in tested if f.differs), key=lambda f: (shown.axis(f), f.value))
    if not tested:
        yield Paragraph("No descriptor is tested by itself: that needs three pairs of templates.")
    elif not found:
        yield Paragraph(
            f"None of {len(tested):,} descriptors differs from the mean of its axis after correction for the number of "
            "descriptors, so none is named here."
        )
    else:
        estimates = tuple(
            Estimate(shown.descriptor(f), f.value, f.interval, marked=True, group=shown.axis(f)) for f in found
        )
        differ = "differs from the mean of its" if len(found) == 1 else "differ from the mean of their"
        yield Paragraph(
            f"{len(found):,} of {len(tested):,} descriptors {differ} axis (p < 0.05, corrected by Benjamini and "
            "Hochberg). Above 0 the model prefers positive sentences more than for other descriptors of the axis, "
            "below 0 less."
        )
        title = "Stance contrast of the descriptors that differ"
        scale = f"{NATS}  ·  line: 95% interval  ·  0: mean of the axis"
        yield Forest("stance-descriptors", title, NATS, estimates, scale, test="Differs from the axis mean")


def _spread_table(shown: finding.StanceFigures, axes: Sequence[Figure]) -> Table:
    columns = (Column("axis", "Axis"), *(Column(pair, pair, NATS) for pair in shown.pairs))
    rows = []
    for axis in axes:
        spread = _spreads(shown, axis)
        rows.append((shown.axis(axis), *(spread.get(pair) for pair in shown.pairs)))
        planted = [shown.value(finding.PLANTED_SPREAD, {**axis.keys, "pair": pair}) for pair in shown.pairs]
        if any(planted):
            rows.append((f"{shown.axis(axis)}, planted", *planted))
    note = "Standard deviation over descriptors. The spread of a single pair includes the effect of its wording."
    return Table("stance-spread", "Spread of the contrasts of each pair", columns, tuple(rows), note)


def _scatters(shown: finding.StanceFigures) -> Iterator[Scatter]:
    """The contrasts of two pairs against each other; only descriptors that differ after correction are labelled."""
    for i, pairs in enumerate(list(combinations(shown.pairs, 2))[:_SCATTERS], 1):
        points = []
        for f in shown.by("contrast", "axis", "descriptor"):
            x, y = (shown.value("pair_contrast", {**f.keys, "pair": pair}) for pair in pairs)
            if x is not None and y is not None:
                points.append(ScatterPoint(x, y, shown.descriptor(f), f.differs))
        title = f"Contrasts in two pairs: {pairs[0]}, and {pairs[1]}"
        yield Scatter(f"stance-agreement-{i}", title, *pairs, NATS, NATS, tuple(points))


def _descriptor_table(shown: finding.StanceFigures) -> Table:
    columns: col.FigureColumns = (
        *shown.names,
        *col.estimate("contrast", "Contrast", NATS),
        col.p(),
        col.adjusted_p("p (Benjamini-Hochberg)"),
        *(shown.beside("pair_contrast", pair, NATS, pair, more={"pair": pair}) for pair in shown.pairs),
        col.n("differences", "Differences"),
        col.missing(),
    )
    found = shown.by("contrast", "axis", "descriptor")
    note = "In the order of the release. A contrast is null if a pair of templates lacks scores of the descriptor."
    return table_of("stance-contrasts", "Stance contrast of every descriptor", columns, found, note)
