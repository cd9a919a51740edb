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
@click.option(
    "--clusters",
    metavar="FILE|found",
    help="Clusters of styles, for generation_bias: a YAML file that maps names to styles, or found: clusters of "
    "styles that occur together in the responses.",
)
@click.option(
    "--phrases",
    default="holisticbias",
    show_default=True,
    metavar="NAME|FILE",
    help="List of phrases to look for, for response_wording.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Probability from which on a text is offensive.",
)
@click.option("--corpus", type=click.Path(path_type=Path), help="Text file to count terms in; adds their correlation.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the resampling.")
def command(
    measure: str,
    scores: Path,
    out: Path | None,
    style: Literal["table", "json"],
    trust: bool,
    clusters: str | None,
    phrases: str,
    threshold: float,
    corpus: Path | None,
    seed: int,
) -> None:
    """Compute a MEASURE from a table of scores; `holisticbias measures` lists the measures.

    The table has the columns axis, template and descriptor. For measures of likelihoods it has noun and perplexity,
    and may have nll and tokens; for generation_bias p:STYLE for each style, one row per response; for offensiveness
    probability; for response_wording response, and may have prompt and finish.
    """
    from holisticbias_eval.measures import MEASURES
    from holisticbias_eval.measures.measure import Settings
    from holisticbias_eval.pipeline.measurement import frequency_sections, measure_file, write_measurement
    from holisticbias_eval.report.runs import measurement_report
    from holisticbias_eval.report.terminal import print_report

    settings = Settings(seed=seed, clusters=_clusters(clusters), phrases=phrases, threshold=threshold)
    given = settings if trust or not MEASURES[measure].resamples else None
    found, tables, view = measure_file(measure, scores, given, corpus)
    if out:
        write_measurement(found, tables, out)
    if style == "json":
        click.echo(found.model_dump_json(indent=2))
    else:
        print_report(measurement_report(measure, scores.name, view, frequency_sections(measure, view)))
    for note in found.notes:
        click.echo(f"holisticbias: {note}", err=True)


def _clusters(name: str | None) -> dict[str, tuple[str, ...]] | Literal["found"] | None:
    from holisticbias_eval.pipeline.cluster_files import read_clusters

    if name is None or name == "found":
        return "found" if name else None
    return read_clusters(Path(name))
