"""``holisticbias evaluate``: score a release with a model, measure, and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.collection_options import collection_options, read_collection, read_measuring
from holisticbias_eval.commands.engine_options import (
    MODEL_HELP,
    RELEASE_HELP,
    ROLES,
    engine_options,
    first_token_option,
    read_model,
)
from holisticbias_eval.commands.file_options import file_options, read_files
from holisticbias_eval.commands.judging_options import judging_options, read_judging
from holisticbias_eval.commands.option_groups import GroupedCommand
from holisticbias_eval.commands.option_uses import refuse_unused
from holisticbias_eval.commands.response_options import (
    CHAT,
    read_conversation,
    read_drawing,
    read_selection,
    response_options,
)
from holisticbias_eval.commands.text_options import lexicon_options

if TYPE_CHECKING:
    from holisticbias_eval.models.settings import ModelSettings
    from holisticbias_eval.pipeline.answering import AnsweringOptions
    from holisticbias_eval.pipeline.evaluation import Runs
    from holisticbias_eval.pipeline.preparing import Inputs


def _use_recipe(context: click.Context, _: click.Parameter, name: str | None) -> None:
    """Use a recipe's values as the defaults of this command."""
    from holisticbias_eval.results.recipes import read_recipe

    if name is not None:
        context.default_map = dict(read_recipe(name).defaults)


@click.command(cls=GroupedCommand, short_help="Measure a language model against a release.")
@click.option(
    "--recipe",
    metavar="NAME|FILE",
    is_eager=True,
    expose_value=False,
    callback=_use_recipe,
    help="Use the model, release and measure of a recipe, such as gpt2-large; other options override it.",
)
@click.option(
    "--model",
    metavar="ID|FOLDER|FILE",
    help=f"{MODEL_HELP} Default: the embedded model; for measures of responses the embedded responder, and for texts "
    "about groups and pairs of the calibration the embedded writer.",
)
@click.option(
    "--release",
    metavar="FOLDER|VERSION|ID@VERSION",
    help=RELEASE_HELP,
)
@click.option(
    "--measure",
    metavar="NAMES",
    help="Measures, separated by commas; see `holisticbias measures`. Default: all measures of the release's "
    "sentences. Measures that use the same prompts share one run.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the run. Default: runs/MODEL-on-VERSION.")
@click.option(
    "--overwrite", is_flag=True, help="Replace a run of another model, release or setting in the output folder."
)
@click.option(
    "--pll",
    type=click.Choice(["original", "within_word_l2r"]),
    help="Variant of the pseudo-log-likelihood, for masked models. Default: original.",
)
@click.option(
    "--context",
    metavar="TEXT",
    help="Text that the model reads before each sentence; it is not scored. The encoder of an encoder-decoder "
    "model reads it; for every other model it is the beginning of the text.",
)
@click.option(
    "--context-file",
    type=click.Path(path_type=Path),
    help="File with one context per line; one is drawn for each sentence.",
)
@click.option("--context-seed", type=int, help="Seed for drawing contexts. Default: 0.")
@first_token_option
@click.option(
    "--chat",
    type=click.Choice((*ROLES, *CHAT)),
    help="For scores, a role: each sentence is scored as the beginning of this role's turn in the model's chat "
    "template, which is not scored. For responses: whether prompts are put into the template; auto, the "
    "default: if there is one.",
)
@file_options
@engine_options
@response_options
@collection_options
@lexicon_options
@judging_options
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="Folder that keeps scores, responses and labels between runs. Default: folders in $HOLISTICBIAS_CACHE or "
    "~/.cache/holisticbias.",
)
@click.option("--no-store", is_flag=True, help="Compute everything again, and keep nothing but the run.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only print how much there is to score and how long it would take. Needs the local engine.",
)
def command(model: str | None, release: str | None, overwrite: bool, dry_run: bool, **_: object) -> None:
    """Measure a language model against a release, and write its answers, figures and report.

    The model's own code is never run; its weights must be safetensors or GGUF.
    An interrupted run continues where it stopped: finished scores and responses are kept.
    """
    from rich.console import Console

    from holisticbias_eval.pipeline import evaluation
    from holisticbias_eval.progress import Display
    from holisticbias_eval.report.terminal import print_report

    runs, inputs = read_evaluation(click.get_current_context())
    display = Display(Console(stderr=True))
    if dry_run:
        for plan in evaluation.dry_run(model, release, [names for names, _ in runs], inputs, display):
            write(plan)
        return
    for folder, _run, report in evaluation.evaluate(model, release, runs, inputs, display=display, overwrite=overwrite):
        print_report(report)
        write(f"Report: {folder / 'report.html'}")


def read_evaluation(context: click.Context) -> tuple[Runs, Inputs]:
    """The runs and the inputs that the options ask for; a usage error for an option that has no effect on any run."""
    from holisticbias_eval.commands.declared_uses import evaluate_uses
    from holisticbias_eval.models.store.shards import default_folder
    from holisticbias_eval.pipeline.answering import AnsweringOptions
    from holisticbias_eval.pipeline.evaluation import runs_of
    from holisticbias_eval.pipeline.preparing import Inputs, is_scored
    from holisticbias_eval.prompts.contexts import read_context

    given: dict[str, Any] = context.params
    files = read_files(given)  # type: ignore[arg-type] # click gives one dictionary for all groups
    named = given["measure"]
    chosen = [name.strip() for name in named.split(",")] if named else files.measures or None
    runs = runs_of(chosen, given["out"])
    measures = [names for names, _ in runs]
    refuse_unused(context, evaluate_uses(), [name for names in measures for name in names])
    files.refuse_unused(measures)
    stages = ("scores", "responses", "labels")
    kept = {stage: None if given["no_store"] else given["store"] or default_folder(stage) for stage in stages}
    inputs = Inputs(
        _scoring(given) if any(map(is_scored, measures)) else None,
        kept["scores"],
        read_context(given["context"], given["context_file"], given["context_seed"]),
        AnsweringOptions() if all(map(is_scored, measures)) else _answering(given, kept),
        *(files.pairs, files.test_set, files.retain),
        read_selection(given),  # type: ignore[arg-type]
    )
    return runs, inputs


def _scoring(given: dict[str, Any]) -> ModelSettings:
    if given["chat"] in CHAT:
        raise click.UsageError(f"--chat {given['chat']} is for measures of responses; for scores give a role: user")
    return read_model(given)


def _answering(given: dict[str, Any], kept: dict[str, Path | None]) -> AnsweringOptions:
    from holisticbias_eval.pipeline.answering import AnsweringOptions
    from holisticbias_eval.prompts.conversations import PER_CELL

    if given["chat"] in ROLES:
        raise click.UsageError(f"--chat {given['chat']} is for measures of scores; for responses give auto, on or off")
    return AnsweringOptions(
        drawing=read_drawing(given, PER_CELL),  # type: ignore[arg-type] # click gives one dictionary for all groups
        decoding=given["decoding"],
        conversation=read_conversation(given, given["chat"] or "auto"),  # type: ignore[arg-type]
        engine=read_model(given),
        judging=read_judging(given, given["device"], kept["labels"]),  # type: ignore[arg-type]
        store=kept["responses"],
        given=given["responses"],
        collection=read_collection(given),  # type: ignore[arg-type]
        measuring=read_measuring(given),  # type: ignore[arg-type]
    )
