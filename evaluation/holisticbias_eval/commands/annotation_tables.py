"""The report of annotations as lines for the terminal; - is a figure that is undefined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holisticbias_eval.corpus.annotation_record import AgreementFigure, Annotated, AnnotatorCounts, GroupCounts
from holisticbias_eval.report.plain_text import printable, shorten

_NAMES = {
    "raw": "raw agreement of pairs of labels",
    "krippendorff_alpha": "Krippendorff's alpha",
    "fleiss_kappa": "Fleiss' kappa",
    "cohen_kappa": "Cohen's kappa",
}
_NAMED = 3
_WIDTH = 40


def report_lines(annotated: Annotated) -> Iterator[str]:
    """Annotators, agreement, then the counts of Zhao et al. 2024, table 9."""
    yield "Annotators:"
    for one in annotated.annotators:
        yield from _annotator(one)
    if len(annotated.annotators) < 2:
        yield "Labels of one annotator: there is no agreement to measure."
    for dimension in dict.fromkeys(figure.dimension for figure in annotated.agreement):
        yield f"Agreement, {_name(dimension)}:" if dimension else "Agreement:"
        yield from (_figure(figure) for figure in annotated.agreement if figure.dimension == dimension)
    yield from _counts(annotated.counts)


def _annotator(one: AnnotatorCounts) -> Iterator[str]:
    missing = f"{one.empty:,} rows without a label, {one.absent:,} examples without a row"
    yield f"  {_name(one.annotator)}: {one.labels:,} labels, {one.biased:,} biased; {missing}"
    for count, ids, what in (
        (one.unknown, one.unknown_ids, "rows with an id that no example has"),
        (one.repeated, one.repeated_ids, "ids in several rows"),
        (one.conflicting, one.conflicting_ids, "ids with two different labels, which count as not labelled"),
    ):
        if count:
            yield f"    {count:,} {what}, such as {', '.join(map(_name, ids[:_NAMED]))}"
    if one.other_sentence:
        yield f"    {one.other_sentence:,} rows with another sentence than the example: are they of this table?"


def _figure(figure: AgreementFigure) -> str:
    pair = f" {_name(figure.first)}, {_name(figure.second or '')}" if figure.first else ""
    value = "-" if figure.value is None else f"{figure.value:.3f}"
    return f"  {_NAMES[figure.name] + pair:<48} {value:>7}  {figure.n:,} examples"


def _counts(counts: Sequence[GroupCounts]) -> Iterator[str]:
    yield f"  {'':<{_WIDTH}} {'candidates':>10} {'removed':>8} {'biased':>8} {'not biased':>10} {'incomplete':>10}"
    for row in counts:
        name = _name(row.dimension) if row.group is None else f"  {_name(row.group)}"
        yield (
            f"  {name:<{_WIDTH}} {row.candidates:>10,} {row.removed:>8,} {row.biased:>8,} {row.not_biased:>10,} "
            f"{row.incomplete:>10,}"
        )


def _name(text: str) -> str:
    return shorten(printable(text), _WIDTH - 2)
