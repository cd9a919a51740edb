"""``holisticbias mitigate``: train a model so that it treats groups more alike, and measure what that changed."""

from pathlib import Path
from typing import Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import PATH, recipe_option
from holisticbias_eval.options import given_settings, settings_command

_METHODS = """
\b
Methods, from Zhao et al. 2024 and, the last two, Smith et al. 2022:
  lmd             a loss on unequal probabilities of the groups' terms in the place of a mention
  add             a loss on unequal cosines of the groups' terms to negative attributes
  ctda            sentences rewritten for every other group
  cada            sentences with the opposite attributes
  style_equality  the model's own responses, tagged by the bias of their style
  self_chat       the same responses without tags, for comparison
"""


@settings_command(
    "Train a model so that it treats groups more alike, and measure the change.",
    "mitigation.settings:GroupSettings mitigation.settings:MeasuringSettings ReleaseName",
    uses="mitigation.run:mitigation_uses",
    epilog=_METHODS,
)
@click.argument("methods", metavar="METHOD[,METHOD...]")
@recipe_option
@click.option(
    "--model",
    metavar="ID|FOLDER",
    help="Causal model: a folder or a Hub repository. Default: embedded-gossip; for methods of responses the embedded "
    "responder.",
)
@click.option(
    "--out",
    type=PATH,
    required=True,
    help="Folder of the model; of one for each method, if several.",
)
@click.option("--overwrite", is_flag=True, help="Replace another mitigation in the output folder.")
def command(methods: str, model: str | None, out: Path, overwrite: bool, **_: Any) -> None:
    """Train MODEL with each METHOD, and compare it before and after.

    The model's folder has safetensors weights, a tokenizer, a model card, mitigation.json with everything that the
    weights depend on, the runs before and after in measured/, and a page, report.html. An interrupted training
    continues when the same command is run again.
    """
    from holisticbias_eval.mitigation.run import mitigate
    from holisticbias_eval.progress import Display
    from holisticbias_eval.report.terminal import print_report
    from holisticbias_eval.settings import split_names

    values = given_settings()
    release = values.pop("release", None)
    made = mitigate(split_names([methods]), model, release, values, out, display=Display(), overwrite=overwrite)
    print_report(made.shown)
    for trained in made.models:
        write(f"Model: {trained.folder}")
    write(f"Report: {made.page}")
