"""Report sections on offensiveness, of responses and of prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holisticbias_eval.blocks import Cell, Column, Marked, Paragraph, Table, ends
from holisticbias_eval.figures import DEVIATION, Figure
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.responses.examples import Examples, Shown
from holisticbias_eval.measures.responses.offence_figures import MEAN, PROBABILITY, SHARE, SPREAD
from holisticbias_eval.measures.text import percent, percents
from holisticbias_eval.sections import Bar, Bars, Block, Section

RANGES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""The ends of the ranges of mean probability that descriptors are listed by."""
_NAMED, _EXAMPLES, _SHOWN = 8, 2, 100
_TEXTS = {"offensiveness": ("offensive", "response"), "prompt_offensiveness": ("prompt_offensive", "prompt")}
"""The column of probabilities of each measure, and the column of the texts."""


def offensiveness_sections(view: View, info: Info) -> tuple[Section, ...]:
    """Show the share of offensive texts by axis, the templates, ranges of descriptors, and every descriptor."""
    shown, slug = Shown(info.name, view), info.name.replace("_", "-")
    whole = shown.get(SHARE)
    if whole is None:
        return ()
    what = _TEXTS[info.name][1]
    overview: list[Block] = [
        Paragraph(_finding(whole, what), "finding"),
        Paragraph(
            "A classifier of offensiveness reacts to the words for people themselves, so a difference between "
            "descriptors can be the classifier's own.",
            "caveat",
        ),
        *_axis_bars(shown, slug),
        _axis_table(shown, slug),
    ]
    templates = (_template_table(shown, slug), *_range_table(shown, slug))
    every = (_descriptor_table(shown, slug, Examples(view.answers)),)
    return (
        Section(slug, info.title, tuple(overview)),
        Section(f"{slug}-templates", f"{info.title} by template", templates),
        Section(f"{slug}-descriptors", f"{info.title} by descriptor", every, detail=True),
    )


def _finding(whole: Figure, what: str) -> str:
    if whole.value is None:
        return f"No {what} was judged, so no share of offensive {what}s is defined."
    interval = f" (95% interval {percents(whole.interval)})" if whole.interval else ""
    missing = f" {whole.missing:,} more have no text and are not judged." if whole.missing else ""
    return f"The classifier finds {percent(whole.value)} of {whole.n:,} {what}s offensive{interval}.{missing}"


def _axis_bars(shown: Shown, slug: str) -> Iterator[Bars]:
    bars = tuple(Bar(shown.axis(f), f.value, f.interval) for f in shown.by(SHARE, "axis") if f.value is not None)
    if bars:
        title, scale = "Offensive texts by axis", "share of texts  ·  line: 95% interval"
        yield Bars(slug, title, "share", bars, scale)


def _axis_table(shown: Shown, slug: str) -> Table:
    columns = (
        Column("axis", "Axis"),
        Column("share", "Offensive", "share"),
        Column("interval", "95% interval", "share", interval=True),
        Column("texts", "Texts", "count", base=True),
        Column("missing", "Not judged", "count"),
    )
    rows = tuple(
        (shown.axis(f) if f.keys else "All axes", f.value, ends(f.interval), f.n, f.missing)
        for f in shown.axes_and_all(SHARE)
    )
    return Table(f"{slug}-by-axis", "Share of offensive texts by axis", columns, rows)


def _template_table(shown: Shown, slug: str) -> Table:
    columns = (
        Column("template", "Template"),
        Column("mean", "Mean", PROBABILITY),
        Column("interval", "95% interval", PROBABILITY, interval=True),
        Column("sd", "SD over descriptors", PROBABILITY),
        Column("corrected", "SD, corrected", PROBABILITY + DEVIATION),
        Column("own", "SD, classifier's own", PROBABILITY),
        Column("descriptors", "Descriptors", "count", base=True),
    )
    found = sorted(shown.by(MEAN, "template"), key=lambda f: -(shown.value(SPREAD, f.keys) or 0.0))
    rows = tuple(
        (
            f.keys["template"], f.value, ends(f.interval), shown.value(SPREAD, f.keys),
            shown.value(f"{SPREAD}_corrected", f.keys), shown.value(f"audit_{SPREAD}", f.keys), f.n,
        )
        for f in found
    )  # fmt: skip
    note = (
        "Templates in which descriptors differ most come first. The corrected standard deviation is without sampling "
        "noise; none is shown if descriptors differ no more than by noise alone. The classifier's own is that of fixed "
        "texts in which only the descriptor differs, judged as the responses are."
    )
    return Table(f"{slug}-by-template", "Mean and standard deviation over descriptors", columns, rows, note)


def _range_table(shown: Shown, slug: str) -> Iterator[Table]:
    """The descriptors of each template by ranges of their mean probability (Table 12 of the paper)."""
    cells: dict[str, list[list[str]]] = {}
    for f in shown.by(MEAN, "axis", "descriptor", "template"):
        if f.value is not None:
            ranges = cells.setdefault(f.keys["template"], [[] for _ in RANGES[1:]])
            place = sum(f.value >= low for low in RANGES[1:-1])
            ranges[place].append(shown.descriptor(f))
    columns = (
        Column("template", "Template"),
        Column("range", "Mean probability", PROBABILITY, interval=True),
        Column("count", "Descriptors", "count"),
        Column("names", "Among them"),
    )
    rows: list[tuple[Cell, ...]] = []
    details: list[tuple[str, ...]] = []
    for template, ranges in cells.items():
        for low, high, names in zip(RANGES, RANGES[1:], ranges, strict=False):
            if names:
                rows.append((template, (low, high), len(names), _few(names)))
                details.append((", ".join(names),))
    if rows:
        note = "A range includes its lower end. On the page a row opens to all names."
        caption = "Descriptors by mean probability"
        yield Table(f"{slug}-ranges", caption, columns, tuple(rows), note, tuple(details), search=True)


def _few(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _descriptor_table(shown: Shown, slug: str, examples: Examples) -> Table:
    columns = (
        Column("descriptor", "Descriptor"),
        Column("axis", "Axis"),
        Column("mean", "Mean probability", PROBABILITY),
        Column("mean_interval", "95% interval", PROBABILITY, interval=True),
        Column("share", "Offensive", "share"),
        Column("share_interval", "95% interval", "share", interval=True),
        Column("texts", "Texts", "count"),
    )
    means: Mapping[tuple[str, ...], Figure] = {tuple(f.keys.values()): f for f in shown.by(MEAN, "axis", "descriptor")}
    found = sorted(shown.by(SHARE, "axis", "descriptor"), key=lambda f: -(f.value or 0.0))
    rows, details = [], []
    for i, f in enumerate(found):
        mean = means.get(tuple(f.keys.values()))
        own = (mean.value, ends(mean.interval)) if mean else (None, None)
        rows.append((shown.descriptor(f), shown.axis(f), *own, f.value, ends(f.interval), f.n))
        details.append(_lines(examples, f, shown.measure) if i < _SHOWN else ())
    note = f"On the page the first {_SHOWN} rows open to the texts of the highest probability."
    caption = "Offensive texts by descriptor"
    return Table(f"{slug}-by-descriptor", caption, columns, tuple(rows), note, tuple(details), search=True)


def _lines(examples: Examples, figure: Figure, measure: str) -> tuple[str | Marked, ...]:
    column, text = _TEXTS[measure]
    return examples.highest(figure.keys["axis"], figure.keys["descriptor"], column, _EXAMPLES, text)
