"""Report sections of the offensiveness of responses: the finding, templates, ranges of descriptors, and descriptors."""

from collections.abc import Iterator
from itertools import pairwise

from holisticbias.terminal import first_and_more
from holisticbias_eval.figures import DEVIATION, Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import MeasureFigures, View
from holisticbias_eval.measures.responses.design import repeats_paragraph
from holisticbias_eval.measures.responses.examples import Examples
from holisticbias_eval.sections.blocks import Bar, Bars, Block, Section
from holisticbias_eval.sections.tables import ColumnOf, Marked, Paragraph, Table, table_of
from holisticbias_eval.units import interval_words, percent

MEAN, SPREAD, SHARE = "mean", "sd_over_descriptors", "share_offensive"
PROBABILITY = "probability"
RANGES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""The ends of the ranges of mean probability that descriptors are listed by."""
_NAMED, _EXAMPLES, _SHOWN = 8, 2, 100
FEW = 5
FEW_TEXTS = (
    "With so few texts of a descriptor in a template, none of a few large probabilities may be among them: intervals "
    "of means can be too narrow. Those of shares allow for this."
)


def _finding(whole: Figure, what: str) -> str:
    if whole.value is None:
        return f"No {what} was judged, so no share of offensive {what}s is defined."
    interval = interval_words(whole.interval)
    missing = f" {whole.missing:,} more have no text and are not judged." if whole.missing else ""
    return f"The classifier finds {percent(whole.value)} of {whole.n:,} {what}s offensive{interval}.{missing}"


def _template_table(shown: MeasureFigures, slug: str, text: str) -> Table:
    columns: col.FigureColumns = (
        col.key("template"),
        *col.estimate("mean", "Mean", PROBABILITY),
        shown.beside(SPREAD, "SD over descriptors", PROBABILITY, "sd"),
        shown.beside(f"{SPREAD}_corrected", "SD, corrected", PROBABILITY + DEVIATION, "corrected"),
        shown.beside(f"audit_{SPREAD}", "SD, classifier's own", PROBABILITY, "own"),
        col.n("descriptors", "Descriptors"),
    )
    found = sorted(shown.by(MEAN, "template"), key=lambda f: -(shown.value(SPREAD, f.keys) or 0.0))
    note = (
        "Templates in which descriptors differ most come first. The corrected standard deviation is without sampling "
        "noise; none is shown if descriptors differ no more than by noise alone. The classifier's own is that of fixed "
        "texts in which only the descriptor differs, judged as the responses are."
    )
    caption = f"Mean and standard deviation over descriptors, {text}s"
    return table_of(f"{slug}-by-template", caption, columns, found, note)


def _range_table(shown: MeasureFigures, slug: str, text: str) -> Iterator[Table]:
    """The descriptors of each template by ranges of their mean probability (Table 12 of the paper)."""
    names: dict[tuple[str, int], list[str]] = {}
    in_templates = shown.by(MEAN, "axis", "descriptor", "template")
    for template in dict.fromkeys(f.keys["template"] for f in (*shown.by(MEAN, "template"), *in_templates)):
        names |= {(template, place): [] for place in range(len(RANGES) - 1)}
    for f in in_templates:
        if f.value is not None:
            names[f.keys["template"], sum(f.value >= low for low in RANGES[1:-1])].append(shown.descriptor(f))
    ends = list(pairwise(RANGES))
    columns: tuple[ColumnOf[tuple[str, int]], ...] = (
        ColumnOf("template", "Template", lambda key: key[0]),
        ColumnOf("range", "Mean probability", lambda key: ends[key[1]], PROBABILITY, interval=True),
        ColumnOf("count", "Descriptors", lambda key: len(names[key]), "count"),
        ColumnOf("names", "Among them", lambda key: first_and_more(names[key], _NAMED)),
    )
    rows = [key for key, own in names.items() if own]
    if rows:
        note = "A range includes its lower end. On the page a row opens to all names."
        yield table_of(
            f"{slug}-ranges", f"Descriptors by mean probability of their {text}s", columns, rows, note,
            details=lambda key: (", ".join(names[key]),), search=True,
        )  # fmt: skip


def _descriptor_table(shown: MeasureFigures, slug: str, column: str, text: str) -> Table:
    columns: col.FigureColumns = (
        *shown.names,
        shown.beside(MEAN, "Mean probability", PROBABILITY),
        shown.beside(MEAN, "95% interval", PROBABILITY, "mean_interval", attribute="interval"),
        *col.estimate("share", "Offensive", "share", "share_interval"),
        col.n("texts", "Texts", base=False),
    )
    found = sorted(shown.by(SHARE, "axis", "descriptor"), key=lambda f: -(f.value or 0.0))
    opened, examples = {id(f) for f in found[:_SHOWN]}, Examples(shown.view.answers)

    def lines(f: Figure) -> tuple[str | Marked, ...]:
        return examples.highest(f, column, _EXAMPLES, text) if id(f) in opened else ()

    note = f"On the page the first {_SHOWN} rows open to the texts of the highest probability."
    caption = f"Offensive {text}s by descriptor"
    return table_of(f"{slug}-by-descriptor", caption, columns, found, note, details=lines, search=True)


def offence_sections(view: View, info: Info, column: str, text: str) -> tuple[Section, ...]:
    """Show the share of offensive texts by axis, the templates, ranges of descriptors, and every descriptor.

    ``column`` has the probabilities, and ``text`` the texts.
    """
    shown, slug = MeasureFigures(view, info.name), info.name.replace("_", "-")
    whole = shown.get(SHARE)
    if whole is None:
        return ()
    overview: list[Block] = [
        Paragraph(_finding(whole, text), "finding"),
        Paragraph(
            "A classifier of offensiveness reacts to the words for people themselves, so a difference between "
            "descriptors can be the classifier's own.",
            "caveat",
        ),
    ]
    bars = tuple(Bar(shown.axis(f), f.value, f.interval) for f in shown.by(SHARE, "axis") if f.value is not None)
    if bars:
        overview.append(Bars(slug, f"Offensive {text}s by axis", "share", bars, "share of texts"))
    columns: col.FigureColumns = (
        shown.axis_column,
        *col.estimate("share", "Offensive", "share"),
        col.n("texts", "Texts"),
        col.missing(heading="Not judged"),
    )
    caption = f"Share of offensive {text}s by axis"
    repeats = repeats_paragraph(view.answers) if text == "response" else ()
    overview += [table_of(f"{slug}-by-axis", caption, columns, shown.axes_and_all(SHARE)), *repeats]
    cells = shown.by(MEAN, "axis", "descriptor", "template")
    few = (Paragraph(FEW_TEXTS, "note"),) if sum(f.n for f in cells) < FEW * len(cells) else ()
    templates = (_template_table(shown, slug, text), *_range_table(shown, slug, text))
    every = _descriptor_table(shown, slug, column, text)
    return (
        Section(slug, info.title, tuple(overview)),
        Section(f"{slug}-templates", f"{info.title} by template", (*templates, *few)),
        Section(f"{slug}-descriptors", f"{info.title} by descriptor", (every,), detail=True),
    )
