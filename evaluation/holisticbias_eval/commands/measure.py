"""``holisticbias measure``: compute a measure from a table of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from holisticbias_eval.commands.measure_names import MeasureName


@click.command(short_help="Measure a table of scores.")
@click.argument("measure", type=MeasureName())
@click.option("--scores", type=click.Path(path_type=Path), required=True, help="Table of scores, .parquet or .csv.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the figures as JSON and CSV, and for details.")
@click.option("--format", "style", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option(
    "--trust/--no-trust", default=True, show_default=True, help="Add intervals, floors and other trust figures."
)
@click.option("--corpus", type=click.Path(path_type=Path), help="Text file to count terms in; adds their correlation.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the resampling.")
def command(
    measure: str,
    scores: Path,
    out: Path | None,
    style: Literal["table", "json"],
    trust: bool,
    corpus: Path | None,
    seed: int,
) -> None:
    """Compute a MEASURE from a table of scores; `holisticbias measures` lists the measures.

    The table has the columns axis, template, descriptor, noun and perplexity, and may have nll and tokens.
    """
    from holisticbias_eval.measures.measure import Settings
    from holisticbias_eval.pipeline.measurement import frequency_sections, measure_file, write_measurement
    from holisticbias_eval.report.runs import measurement_report
    from holisticbias_eval.report.terminal import print_report

    found, tables, view = measure_file(measure, scores, Settings(seed=seed) if trust else None, corpus)
    if out:
        write_measurement(found, tables, out)
    if style == "json":
        click.echo(found.model_dump_json(indent=2))
    else:
        print_report(measurement_report(measure, scores.name, view, frequency_sections(measure, view)))
    for note in found.notes:
        click.echo(f"holisticbias: {note}", err=True)
