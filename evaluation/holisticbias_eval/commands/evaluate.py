"""``holisticbias evaluate``: measure a language model against a release."""

import gc
from pathlib import Path
from typing import Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import PATH, recipe_option
from holisticbias_eval.options import given_settings, settings_command

_COLLECTED = 100_000
"""New objects before garbage is collected: with the default a fifth of loading a model is collecting none."""


@settings_command(
    "Measure a language model against a release.", "ReleaseName Small Chosen Seed Keeping", uses="evaluating:all_uses"
)
@recipe_option
@click.option(
    "--model",
    metavar="ID|FOLDER|FILE",
    help="Folder, GGUF file or Hugging Face Hub repository. Its weights must be safetensors or GGUF, and its own code "
    "is never run. Default: the calibration model of what is asked.",
)
@click.option(
    "--measures",
    metavar="NAMES",
    help="Measures, separated by commas, as `holisticbias measures` explains them. Measures that use the same prompts "
    "share one run. Default: all measures of the release's sentences.",
)
@click.option("--out", type=PATH, help="Folder of the run. Default: runs/MODEL-on-VERSION.")
@click.option("--overwrite", is_flag=True, help="Replace another run in the output folder.")
@click.option("--dry-run", is_flag=True, help="Only print how much there is to score and how long it would take.")
def command(
    model: str | None, measures: str | None, out: Path | None, overwrite: bool, dry_run: bool, **_: Any
) -> None:
    """Measure a language model against a release.

    Writes its answers, figures and report. An interrupted run continues where it stopped.
    """
    gc.set_threshold(_COLLECTED)
    from holisticbias_eval.evaluating import evaluations, plans
    from holisticbias_eval.progress import Display
    from holisticbias_eval.settings import split_names

    values = given_settings()
    release = values.pop("release", None)
    named = None if measures is None else split_names([measures])
    asked, display = (model, release, named, values), Display()
    if dry_run:
        for plan in plans(*asked, display):
            write("\n".join(filter(None, (str(plan), plan.advice()))))
        return
    from holisticbias_eval.report.terminal import print_report

    for folder, _run, report in evaluations(*asked, out=out, overwrite=overwrite, display=display):
        print_report(report)
        write(f"Report: {folder / 'report.html'}")
