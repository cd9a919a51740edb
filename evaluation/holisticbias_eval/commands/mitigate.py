"""``holisticbias mitigate``: train a model so that it treats groups more alike, and measure what that changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.option_uses import refuse_unused
from holisticbias_eval.commands.style_options import read_style, style_options
from holisticbias_eval.options import SettingsCommand, option_group

if TYPE_CHECKING:
    from holisticbias_eval.mitigation.measuring import Measuring
    from holisticbias_eval.mitigation.settings import MitigationSettings
    from holisticbias_eval.settings import Uses

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

_training = option_group(
    "Training (a method has its own defaults for some; see docs/mitigation.md)",
    click.option("--epochs", type=click.IntRange(1), help="Passes over the texts."),
    click.option("--steps", type=click.IntRange(1), help="Optimizer steps, in place of epochs."),
    click.option("--batch", type=click.IntRange(1), help="Texts per batch."),
    click.option("--accumulation", type=click.IntRange(1), help="Batches per optimizer step."),
    click.option("--learning-rate", type=click.FloatRange(0, min_open=True)),
    click.option("--warmup", type=click.IntRange(0), help="Steps until the full learning rate; it falls linearly."),
    click.option("--optimizer", type=click.Choice(["adamw", "sgd"])),
    click.option("--weight", type=click.FloatRange(0), help="Weight of the method's auxiliary loss."),
    click.option("--lm-weight", type=click.FloatRange(0), help="Weight of the language model's loss."),
    click.option(
        "--patience",
        type=click.IntRange(0),
        help="Validations without improvement after which the training stops and keeps the best state; with 0 it "
        "makes all steps and keeps the last state.",
    ),
    click.option(
        "--criterion",
        type=click.Choice(["perplexity", "loss"]),
        help="What has to improve: the validation perplexity, or the whole loss on validation texts.",
    ),
    click.option("--evaluations", type=click.IntRange(1), help="Validations in the training."),
    click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Seed of the training, and of the split."),
    click.option("--lora-rank", type=click.IntRange(1), help="Train LoRA adapters of this rank, and merge them."),
)
_choosing = option_group(
    "Grid",
    click.option(
        "--grid",
        metavar="NAME|FILE",
        help="Try every combination of a grid's values: zhao-2024, a file, or default, which is the method's own. "
        "Without it one training is made.",
    ),
    click.option(
        "--max-perplexity-rise",
        type=click.FloatRange(0),
        default=5.0,
        show_default=True,
        metavar="PERCENT",
        help="The point with the smallest F on validation sentences is chosen among those whose validation perplexity "
        "is at most so far above that of the model before training; without such a point, the smallest perplexity.",
    ),
)
_measuring = option_group(
    "Measuring before and after",
    click.option("--no-measure", is_flag=True, help="Only train."),
    click.option(
        "--measure",
        metavar="NAMES",
        help="Further measures, separated by commas, besides group_perplexity or, for methods of responses, "
        "generation_bias, offensiveness and response_wording; see `holisticbias measures`.",
    ),
    click.option(
        "--retain",
        multiple=True,
        metavar="FILE|multiwoz:FOLDER",
        help="Neutral text, one text per line, whose perplexity is compared; or a folder of MultiWOZ for dialogue "
        "state tracking.",
    ),
    click.option(
        "--retain-command",
        metavar="COMMAND",
        help="Any other evaluation, run without a shell: {model} becomes the model, {out} a path to write to. It must "
        "report a JSON object of numbers, there or as its last line.",
    ),
)


def _uses() -> Uses:
    from holisticbias_eval.models.settings import of_model

    return {"mitigate": (of_model("first_token", "device"),)}


@click.command(
    cls=SettingsCommand,
    shown=("ReleaseName",),
    uses=_uses,
    short_help="Train a model so that it treats groups more alike, and measure the change.",
    epilog=_METHODS,
)
@click.argument("methods", metavar="METHOD[,METHOD...]")
@click.option(
    "--model",
    metavar="ID|FOLDER",
    help="Causal model: a folder or a Hub repository. Default: embedded-gossip; for methods of responses the embedded "
    "responder.",
)
@click.option("--specification", metavar="NAME|FILE", help="Specification of the groups. Default: calibration-many.")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="Sentences about the groups: a table of examples, which is split, or a folder that holisticbias corpus "
    "split wrote. Default, for calibration-many: its invented sentences.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of the model; of one for each method, if several.",
)
@click.option("--overwrite", is_flag=True, help="Replace another mitigation in the output folder.")
@click.option(
    "--hold-out", multiple=True, metavar="GROUP", help="A group to measure and not to train on; may be repeated."
)
@click.option("--groups", metavar="A,B", help="Train on these groups only, such as a pair. Default: all not held out.")
@style_options
@_training
@_choosing
@_measuring
def command(methods: str, out: Path, overwrite: bool, **given: Any) -> None:
    """Train MODEL with each METHOD, and compare it before and after.

    The model's folder has safetensors weights, a tokenizer, a model card, mitigation.json with everything that the
    weights depend on, the runs before and after in measured/, and a page, report.html. An interrupted training
    continues when the same command is run again.
    """
    from rich.console import Console

    from holisticbias_eval.commands.declared_uses import mitigate_uses
    from holisticbias_eval.mitigation.run import find_methods, mitigate
    from holisticbias_eval.progress import Display
    from holisticbias_eval.report.terminal import print_report

    names = _split(methods)
    find_methods(names)
    refuse_unused(click.get_current_context(), mitigate_uses(), names)
    settings, measuring = _settings(given), _measure(given)
    display = Display(Console(stderr=True))
    style = read_style(given)
    made = mitigate(names, settings, style, measuring, out, display=display, overwrite=overwrite)
    print_report(made.report)
    for one in made.models:
        write(f"Model: {one.folder}")
    write(f"Report: {made.page}")


def _settings(given: dict[str, Any]) -> MitigationSettings:
    from holisticbias_eval.mitigation.settings import MitigationSettings, TrainingSettings

    training = {name: given[name] for name in TrainingSettings.model_fields if given[name] is not None}
    if "patience" in training:
        training["patience"] = training["patience"] or None
    own = {name: given[name] for name in MitigationSettings.model_fields if given.get(name) is not None}
    return MitigationSettings(**{**own, "training": training, "groups": _split(given["groups"])})


def _measure(given: dict[str, Any]) -> Measuring | None:
    from holisticbias_eval.mitigation.measuring import Measuring
    from holisticbias_eval.tasks.lines import RetainSettings
    from holisticbias_eval.tasks.retain_command import split_command

    further = _split(given["measure"])
    if given["no_measure"]:
        if further or given["retain"] or given["retain_command"]:
            raise click.UsageError("--no-measure leaves out what --measure, --retain and --retain-command ask for")
        return None
    retain = RetainSettings(retain=given["retain"])
    _ = retain.text, retain.dialogues  # refuses two of a kind
    if given["retain_command"] is not None:
        split_command(given["retain_command"])
    return Measuring(
        further=further,
        release=given["release"],
        retain=retain,
        retain_command=given["retain_command"],
        device=given["device"] or "auto",
        first_token=given["first_token"] or "auto",
    )


def _split(value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())
