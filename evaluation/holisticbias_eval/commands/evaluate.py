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
@click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Precision; bfloat16 is quicker and up to a nat off, which is measured and said.",
)
@click.option("--device", default="auto", show_default=True, help="torch device, as in cpu or cuda:1.")
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="Folder that keeps scores between runs; by default in ~/.cache/holisticbias.",
)
@click.option("--no-store", is_flag=True, help="Score everything again, and keep nothing.")
@click.option("--dry-run", is_flag=True, help="Say how much there is to score and how long it takes; write nothing.")
def command(
    model: str | None,
    release: Path | None,
    measure: str,
    out: Path | None,
    dtype: str,
    device: str,
    store: Path | None,
    no_store: bool,
    dry_run: bool,
) -> None:
    """Measure a language model against a release: scores, figures and a report.

    The model's code is never run, and its weights must be safetensors. A run
    that was cut short goes on where it stopped: finished scores are kept.
    """
    from holisticbias_eval import evaluate
    from holisticbias_eval.models.load import ScoringOptions, default_store
    from holisticbias_eval.report.terminal import print_report

    options = ScoringOptions(dtype=dtype, device=device)
    storage = evaluate.Storage(None if no_store else store or default_store())
    if dry_run:
        click.echo(evaluate.dry_run(model, release, options, storage))
        return
    folder, run = evaluate.evaluate(model, release, tuple(measure.split(",")), out, options, storage)
    print_report(run)
    click.echo(f"Report: {folder / 'report.html'}")
