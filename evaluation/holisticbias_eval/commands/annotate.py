"""``holisticbias corpus annotate``: make files for annotators, and join their labels to the examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import PATH, refuse_missing_packages
from holisticbias_eval.options import SettingsCommand, read_own

if TYPE_CHECKING:
    from holisticbias_eval.corpus.annotating import AgreementFigure, Annotated, AnnotatorCounts, GroupCounts

_NAMES = {
    "raw": "raw agreement of pairs of labels",
    "krippendorff_alpha": "Krippendorff's alpha",
    "fleiss_kappa": "Fleiss' kappa",
    "cohen_kappa": "Cohen's kappa",
}
_NAMED = 3
_WIDTH = 40


@click.command(
    cls=SettingsCommand,
    shown=("corpus.settings:AnnotationSettings",),
    short_help="Make files for annotators, and join their labels.",
)
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="EXAMPLES")
@click.option(
    "--out",
    type=PATH,
    required=True,
    help="Folder to write for the annotators; with --labels the table to write (.parquet, .csv, .jsonl).",
)
def command(paths: tuple[Path, ...], out: Path, **_: Any) -> None:
    """Make files for annotators out of a table of examples; with --labels, join their labels to the examples.

    EXAMPLES is a table (.parquet, .csv, .jsonl) with dimension, group and text, as `retrieve` writes it, or a
    published file in its own form. Joining writes the table with the label on which all annotators agree, and
    NAME.agreement.json: agreement, and counts by dimension and group. Sentences on which they disagree keep an empty
    label, and `split` leaves them out.
    """
    from holisticbias_eval.corpus.settings import AnnotationSettings

    examples, further = paths[0], paths[1:]
    settings = read_own(AnnotationSettings)
    if settings.labels:
        _join(examples, (*settings.labels, *further), out)
        return
    if further:
        raise click.UsageError("give one table of examples; files with labels follow --labels")
    from holisticbias_eval.corpus.annotation_files import CONFIG, GUIDELINES, make_annotation_files

    for name, count in make_annotation_files(examples, out, settings).items():
        write(f"{name}: {count:,} examples")
    also = f"{GUIDELINES}, {CONFIG}" if settings.form == "label-studio" else GUIDELINES
    write(f"Files for annotators, and {also}: {out}")


def _join(examples: Path, labels: tuple[Path, ...], out: Path) -> None:
    refuse_missing_packages("corpus", "krippendorff", "statsmodels")
    from holisticbias_eval.corpus.annotating import RECORD_SUFFIX, join_labels

    annotated = join_labels(examples, labels, out)
    for line in _report(annotated):
        write(line)
    write(f"Examples with labels: {out}; report: {out.with_name(out.stem + RECORD_SUFFIX)}")


def _report(annotated: Annotated) -> Iterator[str]:
    """Annotators, agreement, then the counts of Zhao et al. 2024, table 9."""
    yield "Annotators:"
    for one in annotated.annotators:
        yield from _annotator(one)
    if len(annotated.annotators) < 2:
        yield "Labels of one annotator: there is no agreement to measure."
    for dimension in dict.fromkeys(figure.dimension for figure in annotated.agreement):
        yield f"Agreement, {_shortened(dimension)}:" if dimension else "Agreement:"
        yield from (_figure(figure) for figure in annotated.agreement if figure.dimension == dimension)
    yield from _counts(annotated.counts)


def _annotator(one: AnnotatorCounts) -> Iterator[str]:
    missing = f"{one.empty:,} rows without a label, {one.absent:,} examples without a row"
    yield f"  {_shortened(one.annotator)}: {one.labels:,} labels, {one.biased:,} biased; {missing}"
    for count, ids, what in (
        (one.unknown, one.unknown_ids, "rows with an id that no example has"),
        (one.repeated, one.repeated_ids, "ids in several rows"),
        (one.conflicting, one.conflicting_ids, "ids with two different labels, which count as not labelled"),
    ):
        if count:
            yield f"    {count:,} {what}, such as {', '.join(map(_shortened, ids[:_NAMED]))}"
    if one.other_sentence:
        yield f"    {one.other_sentence:,} rows with another sentence than the example: are they of this table?"


def _figure(figure: AgreementFigure) -> str:
    pair = f" {_shortened(figure.first)}, {_shortened(figure.second or '')}" if figure.first else ""
    value = "-" if figure.value is None else f"{figure.value:.3f}"
    return f"  {_NAMES[figure.name] + pair:<48} {value:>7}  {figure.n:,} examples"


def _counts(counts: Sequence[GroupCounts]) -> Iterator[str]:
    yield f"  {'':<{_WIDTH}} {'candidates':>10} {'removed':>8} {'biased':>8} {'not biased':>10} {'incomplete':>10}"
    for row in counts:
        name = _shortened(row.dimension) if row.group is None else f"  {_shortened(row.group)}"
        yield (
            f"  {name:<{_WIDTH}} {row.candidates:>10,} {row.removed:>8,} {row.biased:>8,} {row.not_biased:>10,} "
            f"{row.incomplete:>10,}"
        )


def _shortened(text: str) -> str:
    from holisticbias_eval.report.units import printable, shorten

    return shorten(printable(text), _WIDTH - 2)
