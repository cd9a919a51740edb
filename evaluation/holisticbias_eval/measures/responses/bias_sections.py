"""Report sections of generation bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holisticbias_eval.blocks import ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.measure import NONCE, View
from holisticbias_eval.measures.responses.bias_corpus import corpus_section
from holisticbias_eval.measures.responses.bias_figures import CORRECTED, FULL, NAME, PARTIAL, SUMMED, UNIT
from holisticbias_eval.measures.responses.bias_leaders import leaders_section
from holisticbias_eval.measures.responses.examples import Examples, ResponseFigures
from holisticbias_eval.measures.text import listed, percent
from holisticbias_eval.sections import Bar, Bars, Block, Section, Stack, StackedBars

OTHER = "Other styles"
READING_OF_CLUSTERS = (
    "Partial Gen Bias is the part of Full Gen Bias that comes from the styles of a cluster: over all styles the parts "
    "add up. Summed-Cluster Gen Bias is the bias of the sum of a cluster's probabilities, so styles that replace each "
    "other cancel. Values are times 1000; p is corrected for the number of rows (Holm)."
)


def cluster_section(shown: ResponseFigures) -> Iterator[Section]:
    """The clusters by axis as parts of a bar, and tables of clusters and of styles."""
    clusters, styles = shown.by(PARTIAL, "cluster"), shown.by(PARTIAL, "style")
    if not clusters and not styles:
        return
    blocks: list[Block] = []
    if clusters:
        blocks += [_stacked(shown, clusters), _cluster_table(shown, clusters)]
    if styles:
        blocks.append(_style_table(shown, styles))
    yield Section("clusters", "Clusters and styles", (*blocks, Paragraph(READING_OF_CLUSTERS, "note")))


def _stacked(shown: ResponseFigures, clusters: Sequence[Figure]) -> StackedBars:
    names = [f.keys["cluster"] for f in clusters]
    bars, rest = [], []
    for axis in shown.by(FULL, "axis"):
        if axis.value is None:
            continue
        values = [shown.value(PARTIAL, {**axis.keys, "cluster": name}) for name in names]
        bars.append(Stack(shown.axis(axis), tuple(values)))
        rest.append(axis.value - sum(value or 0.0 for value in values))
    title, scale = "Full Gen Bias by axis and cluster", "Gen Bias x 1000, with sampling noise; the parts add up"
    if any(value < 0 for value in rest):  # clusters share styles
        scale = "Partial Gen Bias x 1000, with sampling noise; clusters share styles, so the parts overlap"
        return StackedBars("clusters", "Partial Gen Bias by axis and cluster", UNIT, tuple(names), tuple(bars), scale)
    if not any(value > 1e-9 for value in rest):
        return StackedBars("clusters", title, UNIT, tuple(names), tuple(bars), scale)
    stacks = tuple(Stack(bar.label, (*bar.values, other)) for bar, other in zip(bars, rest, strict=True))
    return StackedBars("clusters", title, UNIT, (*names, OTHER), stacks, scale)


def _tested(shown: ResponseFigures, name: str, heading: str) -> FigureColumns:
    """The bias, its corrected value with the interval, its floor and its p-value."""
    corrected = name + CORRECTED
    return (
        col.value("bias", heading, UNIT),
        shown.beside(corrected, "Corrected", UNIT, key="corrected"),
        shown.beside(corrected, "95% interval", UNIT, key="interval", attribute="interval"),
        col.floor(UNIT),
        col.p("p (Holm)"),
    )


def _cluster_table(shown: ResponseFigures, clusters: Sequence[Figure]) -> Table:
    columns: FigureColumns = (
        col.key("cluster"),
        *_tested(shown, PARTIAL, "Partial Gen Bias"),
        shown.beside(SUMMED, "Summed-Cluster Gen Bias", UNIT, key="summed"),
        shown.beside(SUMMED + CORRECTED, "Summed, corrected", UNIT, key="summed_corrected"),
        shown.beside(f"audit_{PARTIAL}", "Classifier's own", UNIT, key="audit"),
    )
    members = _members(shown)

    def styles(f: Figure) -> tuple[str, ...]:
        return (", ".join(members.get(f.keys["cluster"], ())),)

    return table_of("clusters-by-bias", "Gen Bias by cluster", columns, clusters, details=styles, drop_empty=True)


def _members(shown: ResponseFigures) -> Mapping[str, list[str]]:
    """The styles of each cluster."""
    found: dict[str, list[str]] = {}
    for f in shown.by(PARTIAL, "cluster", "style"):
        found.setdefault(f.keys["cluster"], []).append(f.keys["style"])
    return found


def _style_table(shown: ResponseFigures, styles: Sequence[Figure]) -> Table:
    cluster = {style: name for name, own in _members(shown).items() for style in own}
    columns: FigureColumns = (
        col.key("style"),
        ColumnOf("cluster", "Cluster", lambda f: cluster.get(f.keys["style"])),
        *_tested(shown, PARTIAL, "Partial Gen Bias"),
    )
    ordered = sorted(styles, key=lambda f: -(f.value or 0.0))
    return table_of("styles", "Partial Gen Bias by style", columns, ordered, drop_empty=True)


_EACH = 4
READING = (
    "Gen Bias is the variance of the mean style probabilities over descriptors, mean over templates, times 1000. Its "
    "sampling noise grows with fewer responses per descriptor: the corrected figure is without it, with the 95% "
    "interval, and is about 0 if nothing differs. The floor is the bias expected if descriptors are permuted; p is "
    "of the test against it, corrected for the number of axes (Holm). Share of variance is the part of all variance "
    "of responses that is due to descriptors."
)
AUDIT = (
    "The classifier judges fixed texts in which only the descriptor differs, with mentions of the descriptor replaced "
    "as in the responses, and without. Its bias there is its own: a bias of responses of about the same size can come "
    "from the classifier alone."
)


def bias_sections(view: View) -> tuple[Section, ...]:
    """Show the finding and the axes, clusters and styles, leading descriptors with examples, corpus, and audit."""
    shown = ResponseFigures(NAME, view)
    axes = _ordered(shown)
    if not axes:
        return ()
    overview: list[Block] = [
        *_finding(shown, axes),
        *_corrected_bars(shown, axes),
        _raw_bars(shown, axes),
        _axis_table(shown, axes),
        Paragraph(READING, "note"),
    ]
    return (
        Section("generation-bias", "Generation bias", tuple(overview)),
        *cluster_section(shown),
        *leaders_section(shown, Examples(view.answers)),
        *corpus_section(shown),
        *_audit_section(shown, axes),
    )


def _ordered(shown: ResponseFigures) -> list[Figure]:
    """First the axes on which responses differ, the largest bias first, then the others as they come."""
    axes = shown.by(FULL, "axis")
    differ = [f for f in axes if f.above_floor]
    return sorted(differ, key=lambda f: -(_corrected(shown, f) or 0)) + [f for f in axes if not f.above_floor]


def _finding(shown: ResponseFigures, axes: Sequence[Figure]) -> Iterator[Paragraph]:
    people = [f for f in axes if f.keys["axis"] != NONCE and f.value is not None]
    if not people:
        yield Paragraph(
            "Gen Bias is not defined on any axis: it needs two descriptors with responses in a template.", "finding"
        )
        return
    yield Paragraph(_by_axis(shown, people), "finding")
    yield from _together(shown)
    nonce = shown.get(FULL, {"axis": NONCE})
    if nonce and nonce.value is not None and people:
        verdict = {True: ", more than by chance. So words that describe nobody get different responses, too",
                   False: ", not more than by chance", None: ""}[nonce.above_floor]  # fmt: skip
        yield Paragraph(f"Baseline: made-up words ({shown.axis(nonce)}): {_brief(shown, nonce)}{verdict}.")
    audit = shown.value(f"audit_{FULL}")
    if audit is not None:
        yield Paragraph(
            f"The classifier's own bias on fixed texts is {_number(audit)}: see the audit below before reading a "
            "difference as the model's.",
            "caveat",
        )


def _by_axis(shown: ResponseFigures, people: Sequence[Figure]) -> str:
    differ = [f for f in people if f.above_floor]
    many = f"of {len(people)} axes" if len(people) > 1 else f"axis, {shown.axis(people[0])},"
    if all(f.above_floor is None for f in people):
        return "This run has no floors, so it does not show whether responses differ by descriptor more than by chance."
    if not differ:
        return (
            f"On none {many} do responses differ by descriptor more than sampling explains."
            if len(people) > 1
            else f"On {shown.axis(people[0])} responses do not differ by descriptor more than sampling explains."
        )
    named = [f"{shown.axis(f)} ({_brief(shown, f)})" for f in differ]
    said = listed(named) if len(named) <= _EACH else f"most on {named[0]}, least on {named[-1]}"
    where = f"On {len(differ)} {many}" if len(people) > 1 else f"On {shown.axis(people[0])}"
    return f"{where} responses differ by descriptor more than sampling explains: {said}."


def _together(shown: ResponseFigures) -> Iterator[Paragraph]:
    full = shown.get(FULL)
    if full is None or full.value is None:
        return
    share, corrected = shown.value("variance_share"), shown.get(FULL + CORRECTED)
    text = f"Over all descriptors Full Gen Bias is {_number(full.value)}"
    if corrected and corrected.value is not None:
        text += f"; without sampling noise it is {_brief(shown, full)}"
    if share is not None:
        text += f". {percent(share)} of the variance of responses is between descriptors"
    yield Paragraph(f"{text}.")


def _corrected(shown: ResponseFigures, raw: Figure) -> float | None:
    return shown.value(raw.name + CORRECTED, raw.keys)


def _brief(shown: ResponseFigures, raw: Figure) -> str:
    """The corrected figure with its interval, or the raw one."""
    corrected = shown.get(raw.name + CORRECTED, raw.keys)
    if corrected is None or corrected.value is None:
        return f"{_number(raw.value or 0)} with sampling noise"
    return f"{_number(corrected.value)}{_in_words(corrected.interval)}"


def _in_words(interval: Interval | None) -> str:
    return f", 95% interval {_number(interval.low)} to {_number(interval.high)}" if interval else ""


def _number(value: float) -> str:
    """A bias times 1000 with about three digits."""
    return f"{value:z.2f}" if abs(value) >= 0.1 or not value else f"{value:z.3f}"


def _corrected_bars(shown: ResponseFigures, axes: Sequence[Figure]) -> Iterator[Bars]:
    found = [(f, shown.get(FULL + CORRECTED, f.keys)) for f in axes]
    bars = tuple(
        Bar(shown.axis(f), c.value, c.interval, faint=f.above_floor is False)
        for f, c in found if c is not None and c.value is not None
    )  # fmt: skip
    if bars:
        scale = "Gen Bias x 1000, without sampling noise  ·  line: 95% interval  ·  faint: not more than by chance"
        yield Bars("generation-bias", "Full Gen Bias by axis, corrected", UNIT, bars, scale)


def _raw_bars(shown: ResponseFigures, axes: Sequence[Figure]) -> Bars:
    bars = tuple(
        Bar(shown.axis(f), f.value, floor=f.floor, faint=f.above_floor is False) for f in axes if f.value is not None
    )
    scale = "Gen Bias x 1000  ·  mark: floor, the value expected by chance  ·  faint: not more than by chance"
    return Bars("generation-bias-raw", "Full Gen Bias by axis, as published", UNIT, bars, scale)


def _axis_table(shown: ResponseFigures, axes: Sequence[Figure]) -> Table:
    columns: FigureColumns = (
        shown.axis_column,
        *_tested(shown, FULL, "Full Gen Bias"),
        shown.beside("variance_share", "Share of variance", "share"),
        shown.beside(f"audit_{FULL}", "Classifier's own", UNIT, key="audit"),
        shown.beside("descriptors", "Descriptors", "count"),
        shown.beside("responses", "Responses", "count", base=True),
        shown.beside("responses", "Not judged", "count", key="missing", attribute="missing"),
    )
    note = "Responses that are not judged are empty, refused or withheld; they are left out."
    rows = (*shown.all_axes(FULL), *axes)
    return table_of("generation-bias-by-axis", "Full Gen Bias by axis", columns, rows, note, drop_empty=True)


def _audit_section(shown: ResponseFigures, axes: Sequence[Figure]) -> Iterator[Section]:
    """The bias of the responses beside that of the classifier on fixed texts."""
    name = f"audit_{FULL}"
    if shown.get(name) is None:
        return
    bars = tuple(Bar(shown.axis(f), f.value, floor=shown.value(name, f.keys)) for f in axes if f.value is not None)
    columns: FigureColumns = (
        shown.axis_column,
        col.value("responses", "Responses", UNIT),
        shown.beside(name, "Fixed texts", UNIT, key="audit"),
        shown.beside(f"{name}_uncensored", "Fixed texts, not censored", UNIT, key="uncensored"),
        shown.beside(name, "Texts", "count", key="cells", attribute="n", base=False),
    )
    rows = (*shown.all_axes(FULL), *axes)
    scale = "Full Gen Bias x 1000  ·  bar: responses  ·  mark: the classifier on fixed texts"
    yield Section(
        "audit",
        "Audit of the classifier",
        (
            Bars("audit", "Gen Bias of responses and of the classifier", UNIT, bars, scale, mark="classifier"),
            table_of("audit-by-axis", "Full Gen Bias of responses and of fixed texts", columns, rows),
            Paragraph(AUDIT, "note"),
        ),
    )
