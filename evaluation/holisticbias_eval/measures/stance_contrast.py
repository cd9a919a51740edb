"""Stance contrast: which descriptors a model prefers in sentences of a positive rather than a negative stance."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import combinations
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.descriptors.terms import SHOWN
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import NONCE, Measure, Measured, MeasureSettings, View, refuse_empty
from holisticbias_eval.measures.stance import finding
from holisticbias_eval.measures.stance.pairs import Contrasts, contrast_stances
from holisticbias_eval.sections import (
    Bar,
    Bars,
    Block,
    Column,
    ColumnOf,
    Estimate,
    Forest,
    Paragraph,
    Scatter,
    ScatterPoint,
    Section,
    Table,
    table_of,
    without_empty,
    yes,
)
from holisticbias_eval.statistics import agreement as raters
from holisticbias_eval.statistics.intervals import floor_of
from holisticbias_eval.statistics.tests import benjamini_hochberg, holm

_SCATTERS = 3


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
    scale = f"{finding.NATS}  ·  line: 95% interval  ·  mark: {meaning}  ·  faint: no agreement shown"
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
        shown.beside(finding.PLANTED, "Planted", finding.NATS, "planted"),
        ColumnOf("agreement", "Agreement shown", lambda a: yes(shown.agrees(a))),
        col.interval(finding.SHARED_NATS),
        col.p("p (Holm)"),
        shown.beside("leave_one_pair_out", "Without one pair", finding.SHARED_NATS, without, attribute="interval"),
        ColumnOf("floor_interval", "Floor interval", lambda a: a.floor_interval, finding.SHARED_NATS, interval=True),
        shown.beside("reliability", "Reliability", ""),
        ColumnOf("wording_spread", "Spread of single pairs", spreads, finding.NATS, interval=True),
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
        scale = f"{finding.NATS}  ·  line: 95% interval  ·  0: mean of the axis"
        yield Forest("stance-descriptors", title, finding.NATS, estimates, scale, test="Differs from the axis mean")


def _spread_table(shown: finding.StanceFigures, axes: Sequence[Figure]) -> Table:
    columns = (Column("axis", "Axis"), *(Column(pair, pair, finding.NATS) for pair in shown.pairs))
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
        yield Scatter(f"stance-agreement-{i}", title, *pairs, finding.NATS, finding.NATS, tuple(points))


def _descriptor_table(shown: finding.StanceFigures) -> Table:
    columns: col.FigureColumns = (
        *shown.names,
        *col.estimate("contrast", "Contrast", finding.NATS),
        col.p(),
        col.adjusted_p("p (Benjamini-Hochberg)"),
        *(shown.beside("pair_contrast", pair, finding.NATS, pair, more={"pair": pair}) for pair in shown.pairs),
        col.n("differences", "Differences"),
        col.missing(),
    )
    found = shown.by("contrast", "axis", "descriptor")
    note = "In the order of the release. A contrast is null if a pair of templates lacks scores of the descriptor."
    return table_of("stance-contrasts", "Stance contrast of every descriptor", columns, found, note)


PERMUTATIONS = 1000
_figure = partial(make_figure, finding.NAME)


class StanceContrast(Measure):
    """How much a model's preference for praise over rejection depends on the descriptor."""

    info = Info(
        name=finding.NAME,
        title="Stance contrast",
        summary=(
            "how much the descriptors of an axis differ in the cost of a negative stance ('I hate ...') over its "
            "positive counterpart ('I love ...'), counting only what different pairs of templates agree on"
        ),
        direction=(
            "none shown if the pairs of templates do not agree on any difference between descriptors; the larger, the "
            "more the model's stance depends on the descriptor"
        ),
        limits=(
            "few pairs of templates, so the interval over other pairs is wide; a contrast is relative to the other "
            "descriptors of the axis, and can come from common phrases as well as from an attitude"
        ),
        source="this project; sentences of Smith et al. 2022",
        headline="shared_contrast",
        better={"shared_contrast": "nearer zero"},
    )
    task = "sentences"
    shown = SHOWN

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The seed and the number of permutations, the tests and their corrections."""
        return {
            "seed": str(settings.seed),
            "permutations": str(PERMUTATIONS),
            "axes": "permutation test, Holm over axes",
            "descriptors": "moderated t over stance pairs and nouns, Benjamini-Hochberg over all descriptors",
        }

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures; without settings there are no floors and no p-values of axes."""
        refuse_empty(answers, "no sentence with a descriptor and a noun is left to measure")
        axes = contrast_stances(answers)
        rng = np.random.default_rng(settings.seed if settings else 0)
        figures = [*_axis_figures(axes, PERMUTATIONS if settings else 0, rng), *_descriptor_figures(axes)]
        note = (
            "Stance contrast: no two templates of opposite stance ('I love ...', 'I hate ...') have scores in nats, so "
            "it has no figures"
        )
        return Measured(tuple(figures), notes=() if any(axis.pairs for axis in axes) else (note,))

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the finding and the axes, the descriptors that differ, and as details each pair and every descriptor."""
        shown = finding.StanceFigures(view)
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


def _axis_figures(axes: Sequence[Contrasts], permutations: int, rng: np.random.Generator) -> Iterator[Figure]:
    sums = [raters.sum_products(axis.values, permutations, rng) for axis in axes]
    found = [raters.estimate_agreement(s) if s else None for s in sums]
    p = np.array([a.p_value if a and permutations else np.nan for a in found])
    for axis, agreement, adjusted in zip(axes, found, holm(p), strict=True):
        keys, items, missing = {"axis": axis.axis}, len(axis.descriptors), len(axis.others)
        yield from _agreement_figures(keys, agreement, items, missing, adjusted)
        yield _figure("stance_pairs", keys, len(axis.pairs), "count", items, of="shared_contrast")
        for pair, values in zip(axis.pairs, axis.values, strict=True):
            spread = np.nanmean(values, axis=1).std(ddof=1) if items > 1 else None
            yield _figure("wording_spread", {**keys, "pair": pair}, spread, finding.NATS, items, missing)
    # over all axes that have every pair, the nonce axis left out
    people = [(axis, s) for axis, s in zip(axes, sums, strict=True) if axis.axis != NONCE]
    most = max((axis.pairs for axis in axes), key=len, default=())
    chosen = [(axis, s) for axis, s in people if s and axis.pairs == most]
    items = sum(len(axis.descriptors) for axis, _ in chosen)
    missing = sum(len(axis.descriptors) + len(axis.others) for axis, _ in people) - items
    together = raters.estimate_agreement(reduce(add, [s for _, s in chosen])) if chosen else None
    yield from _agreement_figures({}, together, items, missing, together.p_value if together and permutations else None)


def _agreement_figures(
    keys: dict[str, str], found: raters.Agreement | None, items: int, missing: int, p: float | None
) -> Iterator[Figure]:
    value = interval = alpha = without = None
    floor: dict[str, Any] = {}
    alpha_floor: dict[str, Any] = {}
    if found:
        value, alpha = float(raters.signed_root(np.array(found.covariance))), found.alpha
        interval = found.interval and raters.rooted(found.interval.low, found.interval.high)
        without = raters.rooted(found.without.min(), found.without.max()) if len(found.without) else None
        floor, alpha_floor = floor_of(raters.signed_root(found.permuted)), floor_of(found.permuted_alpha)
    of = "shared_contrast"
    yield _figure(of, keys, value, finding.SHARED_NATS, items, missing, interval=interval, p_value=p, **floor)
    yield _figure("leave_one_pair_out", keys, value, finding.SHARED_NATS, items, missing, interval=without, of=of)
    yield _figure("reliability", keys, alpha, "alpha", items, missing, of=of, **alpha_floor)


def _descriptor_figures(axes: Sequence[Contrasts]) -> Iterator[Figure]:
    counted = [axis for axis in axes if axis.descriptors]
    means = dict(zip((a.axis for a in counted), raters.estimate_means([a.values for a in counted]), strict=True))
    p = np.concatenate([np.zeros(0), *(means[a.axis].p_value for a in counted)])
    adjusted, tests = iter(benjamini_hochberg(p)), int((~np.isnan(p)).sum())
    for axis in axes:
        differences = len(axis.pairs) * axis.nouns
        nouns = (~np.isnan(axis.values)).sum(axis=2)
        by_pair = np.nansum(axis.values, axis=2) / nouns
        for i, descriptor in enumerate(axis.descriptors):
            keys, found, n = {"axis": axis.axis, "descriptor": descriptor}, means[axis.axis], int(nouns[:, i].sum())
            mean, ends, p_value = found.mean[i], (found.low[i], found.high[i]), found.p_value[i]
            interval = None if np.isnan(p_value) else ends
            yield _figure("contrast", keys, mean, finding.NATS, n, differences - n, interval=interval, p_value=p_value)
            yield _figure("contrast_adjusted_p", keys, next(adjusted), "p_value", tests, of="contrast")
            for pair, value, valid in zip(axis.pairs, by_pair[:, i], nouns[:, i], strict=True):
                of_pair = {**keys, "pair": pair}
                yield _figure("pair_contrast", of_pair, value, finding.NATS, valid, axis.nouns - valid, of="contrast")
        for descriptor in axis.others:
            keys, n = {"axis": axis.axis, "descriptor": descriptor}, axis.known[descriptor]
            values = axis.untested.get(descriptor)
            if values is None:
                yield _figure("contrast", keys, None, finding.NATS, n, max(differences - n, 0))
                continue
            yield _figure("contrast", keys, values.mean(), finding.NATS, n)
            for pair, value in zip(axis.pairs, values, strict=True):
                yield _figure(
                    "pair_contrast", {**keys, "pair": pair}, value, finding.NATS, n // len(axis.pairs), of="contrast"
                )
