"""``holisticbias evaluate``: score a release with a model, measure, and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import click

if TYPE_CHECKING:
    from holisticbias_eval.likelihood.engines import EngineOptions
    from holisticbias_eval.models.kinds import Kind

ROLES = ("user", "assistant")


def _use_recipe(context: click.Context, _: click.Parameter, name: str | None) -> None:
    """Use a recipe's values as the defaults of this command."""
    from holisticbias_eval.results.recipes import read_recipe

    if name is not None:
        context.default_map = dict(read_recipe(name).defaults)


class EngineArguments(TypedDict):
    """The options that say how and where a model is run."""

    kind: Kind | Literal["auto"]
    pll: str
    dtype: str
    first_token: str
    chat: str | None
    device: str
    engine: str
    api_base: str | None
    api_concurrency: int
    api_rate: int
    api_budget: int
    ray_address: str | None
    replicas: int


@click.command(short_help="Measure a language model against a release.")
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
    help="Language model: a folder, a GGUF file or a Hugging Face Hub repository. Default: the embedded model.",
)
@click.option(
    "--release",
    metavar="FOLDER|VERSION|ID@VERSION",
    help="A release folder, a version to compile from the terms, or a version of a Hugging Face Hub dataset. "
    "Default: the newest published version.",
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
    "--kind",
    type=click.Choice(["auto", "causal", "masked", "seq2seq"]),
    default="auto",
    show_default=True,
    help="Kind of model; auto reads the model's configuration.",
)
@click.option(
    "--pll",
    type=click.Choice(["original", "within_word_l2r"]),
    default="original",
    show_default=True,
    help="Variant of the pseudo-log-likelihood, for masked models.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Precision. bfloat16 is faster, with errors up to a nat per sentence; the error is measured and reported.",
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
    type=click.Choice(ROLES),
    help="Score each sentence as the beginning of this role's turn in the model's chat template, for chat models. "
    "The template is not scored.",
)
@click.option("--device", default="auto", show_default=True, help="torch device, such as cpu or cuda:1.")
@click.option(
    "--engine",
    type=click.Choice(["local", "api", "ray", "vllm"]),
    default="local",
    show_default=True,
    help="Where the model runs: in this process, behind an OpenAI-compatible server, on a Ray cluster, or in vLLM.",
)
@click.option(
    "--api-base",
    metavar="URL",
    help="Address of the server, such as http://localhost:8000/v1. If the server needs a key, set "
    "$HOLISTICBIAS_API_KEY.",
)
@click.option(
    "--api-concurrency", type=click.IntRange(1), default=8, show_default=True, help="Number of requests at once."
)
@click.option("--api-rate", type=click.IntRange(0), default=0, help="Most requests per minute; 0 means no limit.")
@click.option("--api-budget", type=click.IntRange(0), default=0, help="Most requests in total; 0 means no limit.")
@click.option("--ray-address", metavar="ADDRESS", help="Ray cluster to join. Default: start one on this machine.")
@click.option(
    "--replicas",
    type=click.IntRange(0),
    default=0,
    help="Replicas on the Ray cluster. Default: one per GPU; without GPUs, one fewer than the CPUs.",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="Folder that keeps scores between runs. Default: the folder scores in $HOLISTICBIAS_CACHE or "
    "~/.cache/holisticbias.",
)
@click.option("--no-store", is_flag=True, help="Score everything again, and keep no scores.")
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
    **engine: Unpack[EngineArguments],
) -> None:
    """Measure a language model against a release, and write its scores, figures and report.

    The model's own code is never run; its weights must be safetensors or GGUF.
    An interrupted run continues where it stopped: finished scores are kept.
    """
    from rich.console import Console

    from holisticbias_eval.pipeline import evaluation
    from holisticbias_eval.progress import Display
    from holisticbias_eval.prompts.contexts import read_context
    from holisticbias_eval.report.terminal import print_report
    from holisticbias_eval.store.shards import default_folder

    options = _engine_options(**engine)
    kept = None if no_store else store or default_folder("scores")
    drawn = read_context(context, context_file, context_seed)
    runs = evaluation.runs_of([name.strip() for name in measure.split(",")] if measure else None, out)
    display = Display(Console(stderr=True))
    if dry_run:
        measures = [names for names, _ in runs]
        for plan in evaluation.dry_run(model, release, measures, options, kept, drawn, display=display):
            click.echo(plan)
        return
    made = evaluation.evaluate(model, release, runs, options, kept, drawn, display=display, overwrite=overwrite)
    for folder, _, report in made:
        print_report(report)
        click.echo(f"Report: {folder / 'report.html'}")


def _engine_options(**given: Unpack[EngineArguments]) -> EngineOptions:
    from holisticbias_eval.likelihood.engines import EngineOptions
    from holisticbias_eval.likelihood.local import ScoringOptions
    from holisticbias_eval.remote.http import ApiOptions

    return EngineOptions(
        engine=given["engine"],
        scoring=ScoringOptions(
            given["kind"], given["dtype"], given["device"], given["pll"], given["first_token"], given["chat"]
        ),
        api_base=given["api_base"],
        api=ApiOptions(concurrency=given["api_concurrency"], per_minute=given["api_rate"], budget=given["api_budget"]),
        ray_address=given["ray_address"],
        replicas=given["replicas"],
    )
