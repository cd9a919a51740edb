"""Report sections of the descriptors of an axis: medians, extremes, and their changes."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.descriptors.terms import Descriptors, Term, describe, example_sentences
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import MeasureFigures, View
from holisticbias_eval.measures.shares.finding import Words
from holisticbias_eval.sections.blocks import DotPlot, Dots, Section
from holisticbias_eval.sections.tables import ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.units import show, title

EXTREMES = 5
NO_FLOORS = "No descriptor is named: this run was made without permutation floors."


@dataclass(frozen=True, slots=True)
class Extremes:
    """The ends of an axis, among its ``compared`` descriptors that have the most frequent number of ``tokens``.

    Descriptors that are nouns themselves are left out: one sentence in a template has no median over nouns.

    Descriptors are named only if the axis exceeds its floor, overall and in the compared template.
    """

    axis: str
    tokens: float | None
    compared: int
    descriptors: int
    lowest: tuple[Term, ...]
    highest: tuple[Term, ...]


def find_extremes(found: Descriptors, axis: str) -> Extremes:
    """The ends of an axis; as in Table 3 of Smith et al. 2022, only descriptors of equal length are compared."""
    terms = [term for term in found.terms if term.axis == axis and not term.alone]
    known = [(term.compared, term) for term in terms if term.compared is not None]
    lengths = Counter(term.tokens for _, term in known if term.tokens is not None)
    tokens = min(lengths, key=lambda n: (-lengths[n], n), default=None)
    alike = [term for _, term in sorted((k for k in known if k[1].tokens == tokens), key=lambda k: k[0])]
    shown = min(EXTREMES, len(alike) // 2) if found.is_named(axis, found.template) else 0
    return Extremes(axis, tokens, len(alike), len(terms), tuple(alike[:shown]), tuple(alike[::-1][:shown]))


def extremes_table(found: Descriptors) -> Table:
    """The lowest and highest descriptors of each axis that may be named, in one cell each."""
    words, extremes = found.words, [find_extremes(found, axis) for axis in found.axes]
    cells = {share.keys["axis"]: share for share in found.by("share", "axis", template=found.template)}

    def names(side: Sequence[Term]) -> str:
        return ", ".join(term.text for term in side)

    def values(ends: Extremes) -> tuple[str, ...]:
        shown = (*ends.lowest, *reversed(ends.highest))
        return tuple(f"{term.text}: {show(term.compared or 0, 'perplexity')}" for term in shown)

    columns: tuple[ColumnOf[Extremes], ...] = (
        ColumnOf("axis", "Axis", lambda e: found.label(e.axis)),
        ColumnOf("lowest", "Lowest (likeliest)", lambda e: names(e.lowest)),
        ColumnOf("highest", "Highest (least likely)", lambda e: names(e.highest)),
        ColumnOf(words.measure, f"{words.short} there", lambda e: cells[e.axis].value, "share"),
        ColumnOf("floor", "Floor there", lambda e: cells[e.axis].floor, "share"),
        ColumnOf("tokens", f"Tokens of their {words.of}s", lambda e: e.tokens, "tokens"),
        ColumnOf("compared", "Descriptors of that length", lambda e: e.compared, "count"),
        ColumnOf("descriptors", "Descriptors", lambda e: e.descriptors, "count", base=True),
    )
    caption = f"Lowest and highest median {words.values} in “{found.template}”, among descriptors of equal length"
    named, note = [e for e in extremes if e.lowest], _not_named(found, extremes)
    return table_of("extremes", caption, columns, named, note, details=values)


def _not_named(found: Descriptors, extremes: list[Extremes]) -> str:
    """A note on the axes without named descriptors; empty if there are none."""
    if not found.has_floors:
        return NO_FLOORS
    names = [found.label(ends.axis) for ends in extremes if not ends.lowest]
    if not names:
        return ""
    every, few = len(names) == len(extremes), len(names) <= EXTREMES
    which = "any axis" if every else ", ".join(names) if few else f"the other {len(names)} axes"
    return (
        f"No descriptor is named for {which}: the share of pairs that differ does not exceed its floor in this "
        "template, or no two descriptors have the same length."
    )


def descriptor_changes(info: Info, changes: Figures, view: View) -> Section:
    """A table of all descriptors in the release's order, with the figures of both runs."""
    found = changes.by(info.name, "change", *info.by)
    unit = col.unit_of(changes, info.name)
    change = col.value("change", "Change", col.difference(unit))
    columns = (*MeasureFigures(view, info.name).names, *col.of_both(changes, unit), change)
    slug = info.name.replace("_", "-")
    table = table_of(f"{slug}-changes", f"{info.title} of A and B, all descriptors", columns, found)
    return Section(f"{slug}-changes", info.title, (table,), detail=True)


LOVE_HATE = (
    ("love_share", "Love", "share"),
    ("hate_share", "Hate", "share"),
    ("love_hate", "Love-hate difference", "share difference"),
)
"""Figures of the measure of love and hate: the name, heading and unit of each."""


def descriptor_sections(view: View, measure: str, words: Words) -> tuple[Section, ...]:
    """Show the extremes, the medians of every axis by template, all descriptors, and what is missing."""
    found = describe(view, measure, words)
    values, gaps = title(words.values), _gaps(found)
    featured, every = dot_plots(found, found.featured, "perplexities"), dot_plots(found, found.templates, "every")
    extremes = (Paragraph(_how_extremes(found), "note"), extremes_table(found))
    descriptors = (Paragraph(_how_descriptors(found), "note"), descriptors_table(found))
    return (
        Section("extremes", "Least and most likely descriptors", extremes),
        Section("perplexities", f"{values} by axis and template", (Paragraph(_how_dots(words), "note"), *featured)),
        Section("every-template", f"{values} in every template", tuple(every), detail=True),
        Section("descriptors", "All descriptors", descriptors, detail=True),
        *((Section("gaps", f"Descriptors without a {words.value}", (gaps,), detail=True),) if gaps.rows else ()),
    )


def _how_extremes(found: Descriptors) -> str:
    words = found.words
    return (
        f"In the template “{found.template}”, the descriptors whose {words.of}s have the lowest median {words.value} "
        "(the model finds them likeliest) and the highest. As in Table 3 of Smith et al. 2022, only descriptors of one "
        f"length are compared: those whose {words.of}s have the axis's most frequent number of tokens."
    )


def _how_dots(words: Words) -> str:
    return (
        f"Every dot is a descriptor: the median {words.value} of its {words.of}s over nouns"
        f"{'' if words.log else ', in nats'}, or of its one {words.of} if it is a noun itself, which is never named. "
        "The box holds the middle half of the axis's descriptors, its line is their median, and the whiskers reach "
        "the last dots within one and a half box lengths. Outliers are named if the axis's share exceeds its floor, "
        "both overall and in the template. All templates share one "
        f"{'logarithmic ' if words.log else ''}scale. Made-up words are the baseline: they describe "
        "nobody."
    )


def _how_descriptors(found: Descriptors) -> str:
    words = found.words
    return (
        f"All {len(found.terms):,} descriptors that were measured, each with its {words.of}s of the lowest, middle and "
        f"highest {words.value} in “{found.template}”. Descriptors that are nouns themselves have one sentence in "
        "a template."
    )


def dot_plots(found: Descriptors, templates: tuple[str, ...], name: str) -> Iterator[DotPlot]:
    """The medians of every axis in each template, on one scale for all templates of the run."""
    words = found.words
    cells: dict[tuple[str, str], list[tuple[float, str]]] = {}
    texts = {term.id: "" if term.alone else term.text for term in found.terms}
    for figure in found.in_templates:
        if figure.value is not None and math.isfinite(figure.value):
            cell = cells.setdefault((figure.keys["axis"], figure.keys["template"]), [])
            cell.append((figure.value, texts.get(figure.keys["descriptor"], "")))
    values = [value for cell in cells.values() for value, _ in cell]
    limits = (min(values), max(values)) if values else None
    scale = f"median {words.value} over nouns ({'log scale' if words.log else 'nats'})"
    for i, template in enumerate(templates, 1):
        rows = []
        for axis in found.axes:
            cell = sorted(cells.get((axis, template), ()), key=lambda item: item[0])
            numbers, names = tuple(v for v, _ in cell), tuple(n for _, n in cell)
            rows.append(Dots(found.label(axis), numbers, names, found.is_named(axis, template)))
        heading = f"{title(words.values)} in “{template}”"
        yield DotPlot(f"{name}-{i}", heading, words.unit, tuple(rows), scale, words.log, limits)


def descriptors_table(found: Descriptors) -> Table:
    """Every descriptor with its medians, its preference and, if they were measured, its love-hate differences."""
    words, figures = found.words, found.figures
    examples = example_sentences(found.view.answers, found.template, words)

    def of_love_hate(name: str, heading: str, unit: str) -> ColumnOf[Term]:
        return ColumnOf(name, heading, lambda term: figures.value("love_hate", name, term.median.keys), unit)

    columns: tuple[ColumnOf[Term], ...] = (
        ColumnOf("descriptor", "Descriptor", lambda t: t.text),
        ColumnOf("axis", "Axis", lambda t: found.label(t.axis)),
        ColumnOf("bucket", "Bucket", lambda t: t.bucket),
        ColumnOf("community_preference", "Community preference", lambda t: t.preference, "preference"),
        ColumnOf("sentences", "Sentences", lambda t: t.median.n, "count", base=True),
        ColumnOf(f"median_{words.column}", f"Median {words.value}", lambda t: t.median.value, words.unit),
        ColumnOf(f"compared_{words.column}", f"In “{found.template}”", lambda t: t.compared, words.unit),
        ColumnOf("compared_tokens", "Tokens there", lambda t: t.tokens, "tokens"),
        *(of_love_hate(*column) for column in LOVE_HATE if figures.by("love_hate", "love_hate", "axis", "descriptor")),
    )

    def sentences(term: Term) -> tuple[str, ...]:
        return tuple(f"{text} {show(value, 'perplexity')}" for text, value in examples.get(term.id, ()))

    return table_of("descriptors", "All descriptors", columns, found.terms, details=sentences)


def _gaps(found: Descriptors) -> Table:
    """The descriptors without a value in some templates: their pairs there are not tested."""
    gaps: dict[str, list[str]] = {}
    for figure in found.in_templates:
        if figure.value is None:
            gaps.setdefault(figure.keys["descriptor"], []).append(figure.keys["template"])
    unscored = sum(term.median.missing for term in found.terms)
    terms = [term for term in found.terms if term.id in gaps]
    columns: tuple[ColumnOf[Term], ...] = (
        ColumnOf("descriptor", "Descriptor", lambda t: t.text),
        ColumnOf("axis", "Axis", lambda t: found.label(t.axis)),
        ColumnOf("templates", f"Templates, of {len(found.templates)}", lambda t: len(gaps[t.id]), "count"),
    )
    caption = f"Descriptors without a {found.words.value} in some templates"
    note = f"{unscored:,} of the scored {found.words.of}s have no {found.words.value}."
    return table_of("gaps", caption, columns, terms, note, details=lambda t: tuple(gaps[t.id]))
