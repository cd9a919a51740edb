"""Report sections of generation bias: the axes, the audit of the classifier, and changes."""

from collections.abc import Iterator, Sequence

from holisticbias_eval.blocks import ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.measure import NONCE, MeasureFigures, View
from holisticbias_eval.measures.responses import bias_details as details
from holisticbias_eval.measures.responses.bias_figures import CORRECTED, FULL, NAME, UNIT
from holisticbias_eval.measures.responses.examples import Examples
from holisticbias_eval.sections import Bar, Bars, Block, Section
from holisticbias_eval.units import interval_words, most_and, percent, show

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
_AUDITED = f"audit_{FULL}"


def bias_sections(view: View) -> tuple[Section, ...]:
    """Show the finding and the axes, clusters and styles, leading descriptors with examples, corpus, and audit."""
    shown = MeasureFigures(view, NAME)
    axes = _ordered(shown)
    if not axes:
        return ()
    overview: list[Block] = [
        *_finding(shown, axes),
        *_bars(shown, axes),
        _axis_table(shown, axes),
        Paragraph(READING, "note"),
    ]
    return (
        Section("generation-bias", "Generation bias", tuple(overview)),
        *details.cluster_section(shown),
        *details.leaders_section(shown, Examples(view.answers)),
        *details.corpus_section(shown),
        *_audit_section(shown, axes),
    )


def _ordered(shown: MeasureFigures) -> list[Figure]:
    """First the axes on which responses differ, the largest bias first, then the others as they come."""

    def rank(f: Figure) -> tuple[bool, float]:
        return not f.above_floor, -(shown.value(FULL + CORRECTED, f.keys) or 0) if f.above_floor else 0

    return sorted(shown.by(FULL, "axis"), key=rank)


def _finding(shown: MeasureFigures, axes: Sequence[Figure]) -> Iterator[Paragraph]:
    people = [f for f in axes if f.keys["axis"] != NONCE and f.value is not None]
    if not people:
        yield Paragraph(
            "Gen Bias is not defined on any axis: it needs two descriptors with responses in a template.", "finding"
        )
        return
    yield Paragraph(_by_axis(shown, people), "finding")
    yield from _together(shown)
    nonce = shown.get(FULL, {"axis": NONCE})
    if nonce and nonce.value is not None:
        verdict = {True: ", more than by chance. So words that describe nobody get different responses, too",
                   False: ", not more than by chance", None: ""}[nonce.above_floor]  # fmt: skip
        yield Paragraph(f"Baseline: made-up words ({shown.axis(nonce)}): {_brief(shown, nonce)}{verdict}.")
    audit = shown.value(_AUDITED)
    if audit is not None:
        yield Paragraph(
            f"The classifier's own bias on fixed texts is {show(audit, 'x 1000')}: see the audit below before reading "
            "a difference as the model's.",
            "caveat",
        )


def _by_axis(shown: MeasureFigures, people: Sequence[Figure]) -> str:
    if all(f.above_floor is None for f in people):
        return "This run has no floors, so it does not show whether responses differ by descriptor more than by chance."
    differ = [f for f in people if f.above_floor]
    where, more = f"On {shown.axis(people[0])}", "differ by descriptor more than sampling explains"
    if not differ and people[1:]:
        return f"On none of {len(people)} axes do responses {more}."
    if not differ:
        return f"{where} responses do not {more}."
    named = [f"{shown.axis(f)} ({_brief(shown, f)})" for f in differ]
    if people[1:]:
        where = f"On {len(differ)} of {len(people)} axes"
    return f"{where} responses {more}: {most_and('least', named)}."


def _together(shown: MeasureFigures) -> Iterator[Paragraph]:
    full, share = shown.get(FULL), shown.value("variance_share")
    if full is None or full.value is None:
        return
    text = f"Over all descriptors Full Gen Bias is {show(full.value, full.unit)}"
    if shown.value(FULL + CORRECTED) is not None:
        text += f"; without sampling noise it is {_brief(shown, full)}"
    if share is not None:
        text += f". {percent(share)} of the variance of responses is between descriptors"
    yield Paragraph(f"{text}.")


def _brief(shown: MeasureFigures, raw: Figure) -> str:
    """The corrected figure with its interval, or the raw one."""
    corrected = shown.get(raw.name + CORRECTED, raw.keys)
    if corrected is None or corrected.value is None:
        return f"{show(raw.value or 0, raw.unit)} with sampling noise"
    return f"{show(corrected.value, corrected.unit)}{interval_words(corrected.interval, corrected.unit, ', {}')}"


def _bars(shown: MeasureFigures, axes: Sequence[Figure]) -> Iterator[Bars]:
    """The corrected bias, if there is one, and the bias as published."""
    corrected, raw = [], []
    for f in axes:
        label, faint, c = shown.axis(f), f.above_floor is False, shown.get(FULL + CORRECTED, f.keys)
        if c and c.value is not None:
            corrected.append(Bar(label, c.value, c.interval, faint=faint))
        if f.value is not None:
            raw.append(Bar(label, f.value, floor=f.floor, faint=faint))
    faint_bars = "faint: not more than by chance"
    if corrected:
        scale = f"Gen Bias x 1000, without sampling noise  ·  line: 95% interval  ·  {faint_bars}"
        yield Bars("generation-bias", "Full Gen Bias by axis, corrected", UNIT, tuple(corrected), scale)
    scale = f"Gen Bias x 1000  ·  mark: floor, the value expected by chance  ·  {faint_bars}"
    yield Bars("generation-bias-raw", "Full Gen Bias by axis, as published", UNIT, tuple(raw), scale)


def _axis_table(shown: MeasureFigures, axes: Sequence[Figure]) -> Table:
    columns: col.FigureColumns = (
        shown.axis_column,
        *details.tested_columns(shown, FULL, "Full Gen Bias"),
        shown.beside("variance_share", "Share of variance", "share"),
        shown.beside(_AUDITED, "Classifier's own", UNIT, "audit"),
        shown.beside("descriptors", "Descriptors", "count"),
        shown.beside("responses", "Responses", "count", base=True),
        shown.beside("responses", "Not judged", "count", "missing", attribute="missing"),
    )
    note = "Responses that are not judged are empty, refused or filtered; they are left out."
    rows = (*shown.all_axes(FULL), *axes)
    return table_of("generation-bias-by-axis", "Full Gen Bias by axis", columns, rows, note, drop_empty=True)


def _audit_section(shown: MeasureFigures, axes: Sequence[Figure]) -> Iterator[Section]:
    """The bias of the responses beside that of the classifier on fixed texts."""
    if shown.get(_AUDITED) is None:
        return
    bars = tuple(Bar(shown.axis(f), f.value, floor=shown.value(_AUDITED, f.keys)) for f in axes if f.value is not None)
    columns: col.FigureColumns = (
        shown.axis_column,
        col.value("responses", "Responses", UNIT),
        shown.beside(_AUDITED, "Fixed texts", UNIT, "audit"),
        shown.beside(f"{_AUDITED}_uncensored", "Fixed texts, not censored", UNIT, "uncensored"),
        shown.beside(_AUDITED, "Texts", "count", "cells", attribute="n", base=False),
    )
    scale = "Full Gen Bias x 1000  ·  bar: responses  ·  mark: the classifier on fixed texts"
    chart = Bars("audit", "Gen Bias of responses and of the classifier", UNIT, bars, scale, mark="classifier")
    caption, rows = "Full Gen Bias of responses and of fixed texts", (*shown.all_axes(FULL), *axes)
    table = table_of("audit-by-axis", caption, columns, rows)
    yield Section("audit", "Audit of the classifier", (chart, table, Paragraph(AUDIT, "note")))


def change_sections(changes: Figures, view: View) -> tuple[Section, ...]:
    """Show the corrected bias of both runs and its change: by axis, cluster and style."""

    def label(f: Figure) -> str:
        return ", ".join(view.label(key, value) for key, value in f.keys.items()) or "All axes"

    blocks: list[Block] = []
    for key, what in (("axis", "Full"), ("cluster", "Partial"), ("style", "Partial")):
        found = changes.by(NAME, "change", key)
        if key == "axis" and len(found) > 1:
            found = (*changes.by(NAME, "change"), *found)
        if found:
            name, caption = f"changes-by-{key}", f"{what} Gen Bias of A and B by {key}, corrected"
            columns: col.FigureColumns = (ColumnOf(key, key.title(), label), *col.changes(changes, UNIT), col.p())
            bars = col.change_bars(changes, found, label, name, caption, UNIT)
            blocks += [bars, table_of(name, caption, columns, found)]
    reading = "Both runs are restricted to the descriptors and templates that both have. Sampling noise is taken off."
    return (Section("generation-bias-changes", "Generation bias of A and B", (*blocks, Paragraph(reading, "note"))),)
