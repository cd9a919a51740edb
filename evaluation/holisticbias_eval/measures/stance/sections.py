"""Report sections on stance contrast: the finding in words, charts and tables."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations

from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.figures import DEVIATION, NATS, Figure, as_shown
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.measure import MeasureFigures, View
from holisticbias_eval.sections.blocks import Bar, Bars, Block, Estimate, Forest, Scatter, ScatterPoint, Section
from holisticbias_eval.sections.tables import Column, ColumnOf, Paragraph, Table, table_of, yes
from holisticbias_eval.units import EACH, NONE_SHOWN, interval_words, most_and, show, some_of

NAME = "stance_contrast"
_SCATTERS = 3
SHARED_NATS = NATS + DEVIATION
PLANTED, PLANTED_SPREAD = "planted_contrast", "planted_spread"
"""The true values of the shared contrast and of the spread of a pair, if the model is the calibration model."""


class StanceFigures(MeasureFigures):
    """The figures of the stance contrast, with the pairs of templates."""

    @cached_property
    def pairs(self) -> tuple[str, ...]:
        """The pairs of templates."""
        return tuple(dict.fromkeys(f.keys["pair"] for f in self.by("wording_spread", "axis", "pair")))

    def agrees(self, shared: Figure) -> bool | None:
        """Whether agreement is shown: more than by chance, with an interval above 0; ``None`` if it was not tested.

        This is the only rule of what a report calls agreement, in text, marks and tables. Runs made before
        ``SHARED_NATS`` was a unit are read by it too.
        """
        return shared.model_copy(update={"unit": SHARED_NATS}).above_floor

    def verdict(self, shared: Figure) -> str:
        """Whether agreement is shown, in words; empty if it was not tested."""
        return {True: "agreement shown", False: "no agreement shown", None: ""}[self.agrees(shared)]


EXPLANATIONS = (
    Paragraph(
        "The contrast of a descriptor is how much less likely its sentences become when the stance turns from "
        "positive to negative, in nats, minus the mean of its axis; the noun phrase is the same in both and cancels. "
        "At 0.69 nats the odds of the positive sentence are twice those of the axis's mean. The shared contrast is "
        "the standard deviation over descriptors of the part that different pairs of templates agree on; none is "
        "shown if the pairs have nothing in common or contradict each other.",
        "note",
    ),
    Paragraph(
        "Agreement of the pairs on an axis is shown if two things hold: the value is above the values for shuffled "
        "descriptors, the floor (p < 0.05, corrected by Holm for the number of axes), and its 95% interval is above "
        "0. The interval says how far the value would vary with other pairs of templates and other nouns; with few "
        "pairs it is wide.",
        "note",
    ),
)


def describe_finding(shown: StanceFigures, axes: Sequence[Figure]) -> Iterator[Paragraph]:
    """State the axes on which pairs of templates agree, the results of all axes and made-up words, and the limits."""
    people = [a for a in axes if a.keys["axis"] != MADE_UP and a.value is not None]
    if not people:
        yield Paragraph(
            "The stance contrast of no axis can be measured: it needs two pairs of templates of opposite stance, and "
            "two descriptors and two nouns that have scores in all of them.",
            "finding",
        )
        return
    yield Paragraph(" ".join(_by_axis(shown, people)), "finding")
    if planted := [said for a in axes if (said := _planted_on(shown, a))]:
        yield Paragraph(f"True values, planted in this calibration model: {'; '.join(planted)}. All other axes: none.")
    every = shown.get("shared_contrast")
    if every and every.value is not None and people[1:]:
        yield Paragraph(f"Over all axes but made-up words together: {_with_verdict(shown, every)}.")
    if spreads := [f.value for f in shown.by("wording_spread", "axis", "pair") if f.value is not None]:
        yield Paragraph(
            f"One pair alone tells the descriptors of an axis apart by {show((min(spreads), max(spreads)), NATS)} nats "
            "(standard deviation). The part on which the pairs do not agree depends on the wording of the templates."
        )
    nonce = shown.get("shared_contrast", {"axis": MADE_UP})
    if nonce and nonce.value is not None:
        said = _with_verdict(shown, nonce)
        more = ". So pairs can agree for reasons that have nothing to do with people" if shown.agrees(nonce) else ""
        yield Paragraph(f"Baseline: made-up words ({shown.axis(nonce)}), which describe nobody: {said}{more}.")
    yield Paragraph(
        "A contrast compares the descriptors of one axis with each other, in these templates. It is not a model's "
        "opinion of people, and it does not say which differences harm.",
        "caveat",
    )


def _by_axis(shown: StanceFigures, people: Sequence[Figure]) -> Iterator[str]:
    pairs = f"the {len(shown.pairs)} pairs of opposite templates"
    agree = "agree on which descriptors the model prefers in positive sentences"
    if all(shown.agrees(a) is None for a in people):
        lack = "has no floors" if all(a.floor is None for a in people) else "needs three pairs for an interval"
        yield f"This run {lack}, so it does not show whether {pairs} {agree}."
        return
    agreed, of = [a for a in people if shown.agrees(a)], f"of {len(people)} axes"
    if agreed:
        where = f"On {len(agreed)} {of}" if people[1:] else f"On {shown.axis(people[0])}"
        named = [f"{shown.axis(a)} ({_nats(a)})" for a in agreed]
        yield f"{where} {pairs} {agree}: {most_and('least', named)}."
    elif people[1:]:
        yield f"On none {of} is it shown that {pairs} {agree}."
    else:
        yield f"It is not shown that on {shown.axis(people[0])} {pairs} {agree}."
    if uncertain := [a for a in people if a.is_significant and not shown.agrees(a)]:
        named = [f"{shown.axis(a)} ({_nats(a)})" for a in uncertain]
        yield (
            f"On {some_of(named, EACH)} these pairs have more in common than by chance, but the interval includes "
            "0: other pairs may not agree."
        )


def _planted_on(shown: StanceFigures, axis: Figure) -> str:
    """The planted and the measured value of an axis; empty if no contrast is planted in any pair."""
    spreads = [shown.value(PLANTED_SPREAD, {**axis.keys, "pair": pair}) or 0.0 for pair in shown.pairs]
    true = shown.value(PLANTED, axis.keys)
    if true is None or not any(spreads):
        return ""
    alone = sum(spread > 0 for spread in spreads) == 1
    other = "one pair alone favours some descriptors" if alone else "each pair favours other descriptors"
    why = "all pairs favour the same descriptors" if true > 0 else other
    size = _size(true) if true > 0 else "none"
    verdict = shown.verdict(axis) or "no agreement shown"
    return f"{shown.axis(axis)}: {size}, {why} (measured: {_size(axis.value)}, {verdict})"


def _with_verdict(shown: StanceFigures, figure: Figure) -> str:
    return ", ".join(filter(None, (_nats(figure), shown.verdict(figure))))


def _nats(figure: Figure) -> str:
    """The value with its interval, as the standard deviation that reports show."""
    if not figure.interval or not as_shown(figure.interval.high, SHARED_NATS):
        return _size(figure.value)
    return f"{_size(figure.value)}{interval_words(figure.interval, SHARED_NATS, ', {}')}"


def _size(value: float | None) -> str:
    """A standard deviation as reports show it."""
    return f"{show(value, NATS)} nats" if as_shown(value, SHARED_NATS) else NONE_SHOWN


def stance_sections(view: View) -> tuple[Section, ...]:
    """Show the finding and the axes, the descriptors that differ, and as details each pair and every descriptor."""
    shown = StanceFigures(view, NAME)
    found = shown.by("shared_contrast", "axis")
    if not found:
        return ()
    # first the axes on which the pairs agree, the largest first, then the others in the order of the release
    axes = sorted(found, key=lambda a: (not shown.agrees(a), -(a.value or 0) if shown.agrees(a) else 0))
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
    if shown.pairs:
        blocks: tuple[Block, ...] = (_spread_table(shown, axes), *_scatters(shown), _descriptor_table(shown))
        sections.append(Section("stance-pairs", "Stance contrast by pair of templates", blocks, detail=True))
    return tuple(sections)


def _axis_bars(shown: StanceFigures, axes: Sequence[Figure]) -> Bars:
    known = [a for a in axes if a.value is not None]
    planted = [shown.value(PLANTED, a.keys) for a in known]
    marks, name, meaning = planted, "planted", "the true value, planted in the calibration model"
    if all(value is None for value in planted):
        marks, name, meaning = [a.floor for a in known], "floor", "floor"
    bars = tuple(
        Bar(shown.axis(a), a.value, a.interval, mark, faint=shown.agrees(a) is False)
        for a, mark in zip(known, marks, strict=True)
    )
    title = "Stance contrast shared by the pairs of templates"
    said = (f"mark: {meaning}", "faint: no agreement shown")
    return Bars("stance-contrast", title, SHARED_NATS, bars, NATS, mark=name, test="Agreement shown", marks=said)


def _axis_table(shown: StanceFigures, axes: Sequence[Figure]) -> Table:
    def spreads(axis: Figure) -> tuple[float, float] | None:
        """The smallest and the largest spread of one pair."""
        found = [value for value in _spreads(shown, axis).values() if value is not None]
        return (min(found), max(found)) if found else None

    without = "without_one_pair"
    columns: col.FigureColumns = (
        shown.axis_column,
        col.value("shared_contrast", "Shared contrast", SHARED_NATS),
        shown.beside(PLANTED, "Planted", NATS, "planted"),
        ColumnOf("agreement", "Agreement shown", lambda a: yes(shown.agrees(a))),
        col.interval(SHARED_NATS),
        col.p("p (Holm)"),
        shown.beside("leave_one_pair_out", "Without one pair", SHARED_NATS, without, attribute="interval"),
        ColumnOf("floor_interval", "Floor interval", lambda a: a.floor_interval, SHARED_NATS, interval=True),
        shown.beside("reliability", "Reliability", ""),
        ColumnOf("wording_spread", "Spread of single pairs", spreads, NATS, interval=True),
        shown.beside("stance_pairs", "Pairs", "count", "pairs"),
        col.n("descriptors", "Descriptors"),
        col.missing(heading="Not counted"),
    )
    note = "Descriptors without a score in every pair are not counted."
    return table_of("stance-contrast-by-axis", "Stance contrast by axis", columns, axes, note, drop_empty=True)


def _untested(shown: StanceFigures) -> Iterator[Paragraph]:
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


def _spreads(shown: StanceFigures, axis: Figure) -> dict[str, float | None]:
    """The spread of each pair on an axis."""
    return {f.keys["pair"]: f.value for f in shown.by("wording_spread", "pair", axis=axis.keys["axis"])}


def _differing(shown: StanceFigures) -> Iterator[Block]:
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
        differs, marks = "Differs from the axis mean", ("0: mean of the axis",)
        yield Forest("stance-descriptors", title, NATS, estimates, NATS, test=differs, marks=marks)


def _spread_table(shown: StanceFigures, axes: Sequence[Figure]) -> Table:
    columns = (Column("axis", "Axis"), *(Column(pair, pair, NATS) for pair in shown.pairs))
    rows = []
    for axis in axes:
        rows.append((shown.axis(axis), *map(_spreads(shown, axis).get, shown.pairs)))
        planted = [shown.value(PLANTED_SPREAD, {**axis.keys, "pair": pair}) for pair in shown.pairs]
        if any(planted):
            rows.append((f"{shown.axis(axis)}, planted", *planted))
    note = "Standard deviation over descriptors. The spread of a single pair includes the effect of its wording."
    return Table("stance-spread", "Spread of the contrasts of each pair", columns, tuple(rows), note)


def _scatters(shown: StanceFigures) -> Iterator[Scatter]:
    """The contrasts of two pairs against each other; only descriptors that differ after correction are labelled."""
    for i, pairs in enumerate(list(combinations(shown.pairs, 2))[:_SCATTERS], 1):
        points = []
        for f in shown.by("contrast", "axis", "descriptor"):
            x, y = (shown.value("pair_contrast", {**f.keys, "pair": pair}) for pair in pairs)
            if x is not None and y is not None:
                points.append(ScatterPoint(x, y, shown.descriptor(f), f.differs))
        title = f"Contrasts in two pairs: {pairs[0]}, and {pairs[1]}"
        yield Scatter(f"stance-agreement-{i}", title, *pairs, NATS, NATS, tuple(points))


def _descriptor_table(shown: StanceFigures) -> Table:
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
