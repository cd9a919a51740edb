"""``holisticbias evaluate``: score a release with a model, measure, and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.collection_options import collection_options, read_collection, read_measuring
from holisticbias_eval.commands.engine_options import (
    MODEL_HELP,
    RELEASE_HELP,
    engine_options,
    first_token_option,
    read_api_options,
)
from holisticbias_eval.commands.file_options import file_options, read_files
from holisticbias_eval.commands.judging_options import judging_options, read_judging
from holisticbias_eval.commands.option_groups import GroupedCommand
from holisticbias_eval.commands.response_options import (
    CHAT,
    read_conversation,
    read_drawing,
    read_engine,
    read_selection,
    response_options,
)
from holisticbias_eval.commands.text_options import lexicon_options

if TYPE_CHECKING:
    from holisticbias_eval.commands.engine_options import ApiArguments
    from holisticbias_eval.likelihood.engines import EngineOptions
    from holisticbias_eval.pipeline.answering import AnsweringOptions

ROLES = ("user", "assistant")


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
    default="original",
    show_default=True,
    help="Variant of the pseudo-log-likelihood, for masked models.",
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
def command(
    model: str | None,
    release: str | None,
    measure: str | None,
    out: Path | None,
    overwrite: bool,
    context: str | None,
    context_file: Path | None,
    context_seed: int | None,
    store: Path | None,
    no_store: bool,
    dry_run: bool,
    **given: Any,
) -> None:
    """Measure a language model against a release, and write its answers, figures and report.

    The model's own code is never run; its weights must be safetensors or GGUF.
    An interrupted run continues where it stopped: finished scores and responses are kept.
    """
    from rich.console import Console

    from holisticbias_eval.pipeline import evaluation
    from holisticbias_eval.pipeline.answering import AnsweringOptions
    from holisticbias_eval.pipeline.preparing import Inputs, is_scored
    from holisticbias_eval.progress import Display
    from holisticbias_eval.prompts.contexts import read_context
    from holisticbias_eval.report.terminal import print_report
    from holisticbias_eval.store.shards import default_folder

    kept = {stage: None if no_store else store or default_folder(stage) for stage in ("scores", "responses", "labels")}
    files = read_files(given)  # type: ignore[arg-type] # click gives one dictionary for all groups
    chosen = [name.strip() for name in measure.split(",")] if measure else None
    runs = evaluation.runs_of(files.measures or None if chosen is None else chosen, out)
    measures = [names for names, _ in runs]
    files.refuse_unused(measures)
    inputs = Inputs(
        _scoring(given) if any(map(is_scored, measures)) else None,
        kept["scores"],
        read_context(context, context_file, context_seed),
        AnsweringOptions() if all(map(is_scored, measures)) else _answering(given, kept),
        *(files.pairs, files.test_set, files.retain),
        read_selection(given),  # type: ignore[arg-type] # click gives one dictionary for all groups
    )
    display = Display(Console(stderr=True))
    if dry_run:
        for plan in evaluation.dry_run(model, release, measures, inputs, display):
            write(plan)
        return
    for folder, _, report in evaluation.evaluate(model, release, runs, inputs, display=display, overwrite=overwrite):
        print_report(report)
        write(f"Report: {folder / 'report.html'}")


def _scoring(given: dict[str, Any]) -> EngineOptions:
    from holisticbias_eval.likelihood.engines import EngineOptions
    from holisticbias_eval.likelihood.local import ScoringOptions

    if given["chat"] in CHAT:
        raise click.UsageError(f"--chat {given['chat']} is for measures of responses; for scores give a role: user")
    return EngineOptions(
        engine=given["engine"],
        scoring=ScoringOptions(
            given["kind"], given["dtype"], given["device"], given["pll"], given["first_token"], given["chat"]
        ),
        api_base=given["api_base"],
        api=read_api_options(cast("ApiArguments", given)),
        ray_address=given["ray_address"],
        replicas=given["replicas"],
    )


def _answering(given: dict[str, Any], kept: dict[str, Path | None]) -> AnsweringOptions:
    from holisticbias_eval.pipeline.answering import AnsweringOptions
    from holisticbias_eval.prompts.conversations import PER_CELL

    if given["chat"] in ROLES:
        raise click.UsageError(f"--chat {given['chat']} is for measures of scores; for responses give auto, on or off")
    return AnsweringOptions(
        drawing=read_drawing(given, PER_CELL),  # type: ignore[arg-type] # click gives one dictionary for all groups
        decoding=given["decoding"],
        conversation=read_conversation(given, given["chat"] or "auto"),  # type: ignore[arg-type]
        engine=read_engine(given, given),  # type: ignore[arg-type]
        judging=read_judging(given, given["device"], kept["labels"]),  # type: ignore[arg-type]
        store=kept["responses"],
        given=given["responses"],
        collection=read_collection(given),  # type: ignore[arg-type]
        measuring=read_measuring(given),  # type: ignore[arg-type]
    )
