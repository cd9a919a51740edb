"""``holisticbias measure``: a measure of a table of scores, files in and files out."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click


@click.command()
@click.argument("measure", type=click.Choice(["likelihood_bias"]))
@click.option("--scores", type=click.Path(path_type=Path), required=True, help="Table of scores, .parquet or .csv.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the figures as JSON, CSV and Parquet.")
@click.option("--format", "style", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--trust/--no-trust", default=True, show_default=True, help="Also say how far figures can be trusted.")
@click.option("--corpus", type=click.Path(path_type=Path), help="Text to count terms in, to correlate with.")
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
    """Compute a MEASURE from a table of perplexities.

    The table has the columns axis, template, descriptor, noun and perplexity. Figures come
    by axis, by template, by both and by pair of descriptors.
    """
    from holisticbias_eval.measures.trust.records import TrustSettings
    from holisticbias_eval.pipeline.measurement import measure_file, write_measurement
    from holisticbias_eval.report.shares import print_shares

    measurement, tables = measure_file(measure, scores, TrustSettings(seed=seed) if trust else None, corpus)
    if out:
        write_measurement(measurement, tables, out)
    if style == "json":
        click.echo(measurement.model_dump_json(indent=2))
    else:
        print_shares(measurement.likelihood_bias, measurement.trust, f"Likelihood Bias of {scores.name}")
        for found in measurement.frequency or ():
            value = "not known" if found.correlation is None else f"{found.correlation:+.2f} (p = {found.p_value:.3f})"
            click.echo(f"{found.axis}: rank correlation of corpus frequency and perplexity {value}")
    if measurement.note:
        click.echo(f"holisticbias: {measurement.note}", err=True)
