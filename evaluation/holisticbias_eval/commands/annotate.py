"""``holisticbias corpus annotate``: make files for annotators, and join their labels to the examples."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from holisticbias.terminal import counted, write
from holisticbias_eval.commands.shared import PATH, refuse_missing_packages
from holisticbias_eval.options import read_own, settings_command

_NAMES = {
    "raw": "raw agreement of pairs of labels",
    "krippendorff_alpha": "Krippendorff's alpha",
    "fleiss_kappa": "Fleiss' kappa",
    "cohen_kappa": "Cohen's kappa",
}
_NAMED = 3
_WIDTH = 40


@settings_command("Make files for annotators, and join their labels.", "corpus.settings:AnnotationSettings")
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
    OUT.agreement.json: agreement, and counts by dimension and group. Sentences on which they disagree keep an empty
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
    from holisticbias_eval.corpus.annotation_files import GUIDELINES, make_annotation_files
    from holisticbias_eval.corpus.label_studio import CONFIG

    for name, count in make_annotation_files(examples, out, settings).items():
        write(f"{name}: {counted(count, 'examples')}")
    also = f"{GUIDELINES}, {CONFIG}" if settings.form == "label-studio" else GUIDELINES
    write(f"Files for annotators, and {also}: {out}")


def _join(examples: Path, labels: tuple[Path, ...], out: Path) -> None:
    refuse_missing_packages("corpus", "krippendorff", "statsmodels")
    from holisticbias_eval.corpus.annotating import RECORD_SUFFIX, join_labels
    from holisticbias_eval.corpus.examples import record_of

    annotated = join_labels(examples, labels, out)
    for line in _report(annotated.record):
        write(line)
    write(f"Examples with labels: {out}; report: {record_of(out, RECORD_SUFFIX)}")


def _report(record: Mapping[str, Any]) -> Iterator[str]:
    """Annotators, agreement, then the counts of Zhao et al. 2024, table 9."""
    yield "Annotators:"
    for row in record["annotators"]:
        yield from _annotator(row)
    if len(record["annotators"]) < 2:
        yield "Labels of one annotator: there is no agreement to measure."
    for dimension in dict.fromkeys(figure["dimension"] for figure in record["agreement"]):
        yield f"Agreement, {_shortened(dimension)}:" if dimension else "Agreement:"
        yield from (_figure(figure) for figure in record["agreement"] if figure["dimension"] == dimension)
    names = {"candidates": 10, "removed": 8, "biased": 8, "not_biased": 10, "incomplete": 10}
    yield f"  {'':<{_WIDTH}} " + " ".join(f"{name.replace('_', ' '):>{width}}" for name, width in names.items())
    for row in record["counts"]:
        name = _shortened(row["dimension"]) if row["group"] is None else f"  {_shortened(row['group'])}"
        yield f"  {name:<{_WIDTH}} " + " ".join(f"{row[name]:>{width},}" for name, width in names.items())


def _annotator(row: Mapping[str, Any]) -> Iterator[str]:
    missing = f"{row['empty']:,} rows without a label, {row['absent']:,} examples without a row"
    yield f"  {_shortened(row['annotator'])}: {row['labels']:,} labels, {row['biased']:,} biased; {missing}"
    for name, what in (
        ("unknown", "rows with an id that no example has"),
        ("repeated", "ids in several rows"),
        ("conflicting", "ids with two different labels, which count as not labelled"),
    ):
        if row[name]:
            known = zip(row[f"{name}_ids"][:_NAMED], row[f"{name}_places"], strict=False)
            named = (f"{_shortened(one)} ({' and '.join(map(_shortened, places[:2]))})" for one, places in known)
            yield f"    {row[name]:,} {what}, such as {', '.join(named)}"
    if row["other_sentence"]:
        yield f"    {row['other_sentence']:,} rows with another sentence than the example: are they of this table?"


def _figure(figure: Mapping[str, Any]) -> str:
    pair = f" {_shortened(figure['first'])}, {_shortened(figure['second'])}" if figure["first"] else ""
    value = "-" if figure["value"] is None else f"{figure['value']:.3f}"
    return f"  {_NAMES[figure['name']] + pair:<48} {value:>7}  {figure['n']:,} examples"


def _shortened(text: str) -> str:
    from holisticbias_eval.units import printable, shorten

    return shorten(printable(text), _WIDTH - 2)
