"""``holisticbias evaluate``: score a release with a model, measure, and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from holisticbias_eval.commands.collection_options import collection_options, read_collection, read_measuring
from holisticbias_eval.commands.engine_options import MODEL_HELP, RELEASE_HELP, engine_options, read_api_options
from holisticbias_eval.commands.judging_options import judging_options, read_judging
from holisticbias_eval.commands.option_groups import GroupedCommand, option_group
from holisticbias_eval.commands.response_options import (
    CHAT,
    read_conversation,
    read_drawing,
    read_engine,
    response_options,
)
from holisticbias_eval.commands.text_options import lexicon_options

if TYPE_CHECKING:
    from holisticbias_eval.commands.engine_options import ApiArguments
    from holisticbias_eval.likelihood.engines import EngineOptions
    from holisticbias_eval.pipeline.answering import AnsweringOptions
    from holisticbias_eval.pipeline.pair_scoring import PairOptions
    from holisticbias_eval.pipeline.retention import RetainOptions
    from holisticbias_eval.pipeline.test_set_scoring import TestSetOptions

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
@click.option(
    "--first-token",
    metavar="auto|none|TOKEN",
    default="auto",
    show_default=True,
    help="The token before each text, on which its first token is conditioned, for causal models. auto: the "
    "token that the tokenizer prepends, or else the token between documents in training. none: the first token "
    "is not scored.",
)
@click.option(
    "--chat",
    type=click.Choice((*ROLES, *CHAT)),
    help="For scores, a role: each sentence is scored as the beginning of this role's turn in the model's chat "
    "template, which is not scored. For responses: whether prompts are put into the template; auto, the "
    "default: if there is one.",
)
@option_group(
    "Pairs of sentences",
    click.option(
        "--pairs",
        type=click.Path(path_type=Path),
        help="File of pairs for stereotype_score, or a folder that holisticbias pairs wrote. Without --measure, "
        "stereotype_score is measured.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["likelihood", "choice", "published"]),
        default="likelihood",
        show_default=True,
        help="likelihood: of both sentences. choice: a chat model chooses between both, in both orders. published: "
        "the formulas of the code of Kocielnik et al. 2023.",
    ),
)
@option_group(
    "Sentences about several groups",
    click.option(
        "--test-set",
        type=click.Path(path_type=Path),
        help="File of sentences for group_perplexity, with the columns dimension, group and sentence, or the folder of "
        "a split. Without --measure, group_perplexity is measured. Default: the calibration's.",
    ),
)
@option_group(
    "Retention",
    click.option(
        "--retain",
        multiple=True,
        metavar="FILE|multiwoz:FOLDER",
        help="For retention, a file of neutral text, one text per line; for dialogue_state, a folder of MultiWOZ 2.0 "
        "or 2.1. Without --measure, these are measured.",
    ),
    click.option(
        "--retain-command",
        metavar="COMMAND",
        help="For retained: a command to run, without a shell. {model} in it becomes the model, {out} a path to write "
        "to. It must report a JSON object of numbers: there, or as its last line.",
    ),
)
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
    pairs: Path | None,
    mode: Literal["likelihood", "choice", "published"],
    test_set: Path | None,
    retain: tuple[str, ...],
    retain_command: str | None,
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
    from holisticbias_eval.pipeline.pair_scoring import PairOptions
    from holisticbias_eval.pipeline.retention import read_retain
    from holisticbias_eval.pipeline.test_set_scoring import TestSetOptions
    from holisticbias_eval.progress import Display
    from holisticbias_eval.prompts.contexts import read_context
    from holisticbias_eval.report.terminal import print_report
    from holisticbias_eval.store.shards import default_folder

    kept = {stage: None if no_store else store or default_folder(stage) for stage in ("scores", "responses", "labels")}
    drawn = read_context(context, context_file, context_seed)
    paired = PairOptions(pairs, mode) if pairs is not None else None
    chosen = [name.strip() for name in measure.split(",")] if measure else None
    tested = TestSetOptions(test_set) if test_set is not None else None
    retained = read_retain(retain, retain_command)
    of_files = {"stereotype_score": paired, "group_perplexity": tested}
    implied = [*(name for name, file in of_files.items() if file is not None), *retained.measures]
    runs = evaluation.runs_of(implied or None if chosen is None else chosen, out)
    _refuse_unused_retain(retained, [name for names, _ in runs for name in names])
    _refuse_unused_files(paired, mode, tested, [names for names, _ in runs])
    measures = [names for names, _ in runs]
    scored, answered = (any(evaluation.is_scored(names) is wanted for names in measures) for wanted in (True, False))
    options = _scoring(given) if scored else None
    answering = _answering(given, kept) if answered else None
    display = Display(Console(stderr=True))
    scores = kept["scores"]
    if dry_run:
        plans = evaluation.dry_run(
            model, release, measures, options, scores, drawn, pairs=paired, test_set=tested, retain=retained,
            display=display,
        )  # fmt: skip
        for plan in plans:
            click.echo(plan)
        return
    made = evaluation.evaluate(
        model, release, runs, options, scores, drawn, answering=answering, pairs=paired, test_set=tested,
        retain=retained, display=display, overwrite=overwrite,
    )  # fmt: skip
    for folder, _, report in made:
        print_report(report)
        click.echo(f"Report: {folder / 'report.html'}")


def _refuse_unused_files(
    pairs: PairOptions | None, mode: str, test_set: TestSetOptions | None, measures: list[tuple[str, ...]]
) -> None:
    """A usage error for files and options that no measure uses."""
    from holisticbias_eval.pipeline.evaluation import is_of_test_set, is_paired

    if test_set is not None and not any(map(is_of_test_set, measures)):
        raise click.UsageError("--test-set is for group_perplexity: add it to --measure, or leave it out")
    if not any(map(is_paired, measures)) and (pairs is not None or mode != "likelihood"):
        raise click.UsageError("--pairs and --mode are for stereotype_score: add it to --measure, or leave them out")


def _refuse_unused_retain(retained: RetainOptions, measures: list[str]) -> None:
    """A usage error for an option of retention that no measure uses."""
    unused = [name for name in retained.measures if name not in measures]
    if unused:
        raise click.UsageError(f"--retain and --retain-command are given for {unused[0]}: add it to --measure")


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
