"""``holisticbias evaluate``: score a release with a model, measure, and report."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Measure a language model against a release.")
@click.option(
    "--model",
    metavar="ID|FOLDER",
    help="Causal language model: a folder or a Hugging Face Hub repository; by default the embedded model.",
)
@click.option(
    "--release",
    type=click.Path(path_type=Path),
    help="Release folder; by default the newest version, compiled from the terms.",
)
@click.option("--measure", default="likelihood_bias", show_default=True, help="Measures, separated by commas.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the run; by default runs/MODEL-on-VERSION.")
def command(model: str | None, release: Path | None, measure: str, out: Path | None) -> None:
    """Measure a language model against a release: scores, figures and a report.

    The model's code is never run, and its weights must be safetensors.
    """
    from holisticbias_eval.evaluate import evaluate
    from holisticbias_eval.report.terminal import print_report

    folder, run = evaluate(model, release, tuple(measure.split(",")), out)
    print_report(run)
    click.echo(f"Report: {folder / 'report.html'}")
