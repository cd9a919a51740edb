"""``holisticbias corpus annotate``: make files for annotators, and join their labels to the examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.packages import refuse_missing_packages

if TYPE_CHECKING:
    from holisticbias_eval.corpus.annotation_files import Form


@click.command(short_help="Make files for annotators, and join their labels.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="EXAMPLES")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder to write for the annotators; with --labels the table to write (.parquet, .csv, .jsonl).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "label-studio"]),
    default="csv",
    show_default=True,
    help="CSV with the columns ID, Target, Attribute, Sentence and Label, or tasks for Label Studio.",
)
@click.option(
    "--annotators", metavar="NAME,NAME...", help="A file for each. Optional for Label Studio, which knows its users."
)
@click.option(
    "--per-example", type=click.IntRange(1), metavar="N", help="Annotators of each example, in turns. Default: all."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the order of examples.")
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE...",
    help="Files with labels: annotators' CSV files, or JSON exports of Label Studio. More files may follow.",
)
def command(
    paths: tuple[Path, ...],
    out: Path,
    form: Form,
    annotators: str | None,
    per_example: int | None,
    seed: int,
    labels: tuple[Path, ...],
) -> None:
    """Make files for annotators out of a table of examples; with --labels, join their labels to the examples.

    EXAMPLES is a table (.parquet, .csv, .jsonl) with dimension, group and text, as `retrieve` writes it, or a
    published file in its own form. Joining writes the table with the label on which all annotators agree, and
    NAME.agreement.json: agreement, and counts by dimension and group. Sentences on which they disagree keep an empty
    label, and `split` leaves them out.
    """
    examples, further = paths[0], paths[1:]
    if labels:
        _join(examples, (*labels, *further), out)
        return
    if further:
        raise click.UsageError("give one table of examples; files with labels follow --labels")
    from holisticbias_eval.corpus.annotation_files import CONFIG, GUIDELINES, make_annotation_files

    names = tuple(name.strip() for name in (annotators or "").split(",") if name.strip())
    shares = make_annotation_files(examples, out, form, names, per_example=per_example, seed=seed)
    for name, count in shares.items():
        write(f"{name}: {count:,} examples")
    also = f"{GUIDELINES}, {CONFIG}" if form == "label-studio" else GUIDELINES
    write(f"Files for annotators, and {also}: {out}")


def _join(examples: Path, labels: tuple[Path, ...], out: Path) -> None:
    refuse_missing_packages("corpus", "krippendorff", "statsmodels")
    from holisticbias_eval.commands.annotation_tables import report_lines
    from holisticbias_eval.corpus.annotating import RECORD_SUFFIX, join_labels

    annotated = join_labels(examples, labels, out)
    for line in report_lines(annotated):
        write(line)
    write(f"Examples with labels: {out}; report: {out.with_name(out.stem + RECORD_SUFFIX)}")
