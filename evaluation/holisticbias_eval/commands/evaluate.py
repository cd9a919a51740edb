"""``holisticbias evaluate``: score a release with a model, measure, and report."""

from __future__ import annotations

from pathlib import Path

import click

ROLES = ("user", "assistant")


def _use_recipe(context: click.Context, _: click.Parameter, name: str | None) -> None:
    """Take a recipe's values as the defaults of this command."""
    from holisticbias_eval.results.recipes import read_recipe

    if name is not None:
        context.default_map = dict(read_recipe(name).defaults)


@click.command(short_help="Measure a language model against a release.")
@click.option(
    "--recipe",
    metavar="NAME|FILE",
    is_eager=True,
    expose_value=False,
    callback=_use_recipe,
    help="Model, release and measure of a recipe, as in gpt2-large; options given beside it win.",
)
@click.option(
    "--model",
    metavar="ID|FOLDER|FILE",
    help="Language model: a folder, a GGUF file or a Hugging Face Hub repository; by default the embedded model.",
)
@click.option(
    "--release",
    type=click.Path(path_type=Path),
    metavar="FOLDER|VERSION",
    help="Release folder, or a version to compile from the terms; by default the newest published.",
)
@click.option(
    "--measure",
    default="likelihood_bias",
    show_default=True,
    help="Measures, separated by commas; of several each has a run.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the run; by default runs/MODEL-on-VERSION.")
@click.option("--overwrite", is_flag=True, help="Replace a run of another model, release or setting in that folder.")
@click.option(
    "--kind",
    type=click.Choice(["auto", "causal", "masked", "seq2seq"]),
    default="auto",
    show_default=True,
    help="Kind of model; by default what its configuration says.",
)
@click.option(
    "--pll",
    type=click.Choice(["original", "within_word_l2r"]),
    default="original",
    show_default=True,
    help="Masked models: variant of the pseudo-log-likelihood.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Precision; bfloat16 is quicker and up to a nat off, which is measured and said.",
)
@click.option(
    "--context",
    metavar="TEXT",
    help="What the model reads before each sentence, never scored: an encoder-decoder model's encoder reads it, "
    "and for every other model it begins the text.",
)
@click.option(
    "--context-file",
    type=click.Path(path_type=Path),
    help="File of contexts, one a line, of which one is drawn for each sentence.",
)
@click.option("--context-seed", type=int, help="Seed of that draw; by default 0.")
@click.option(
    "--first-token",
    metavar="auto|none|TOKEN",
    default="auto",
    show_default=True,
    help="Causal models: the token before each text, which its first token is conditioned on. auto: what the "
    "tokenizer puts there, or the token between documents in training; none: the first token is not scored.",
)
@click.option(
    "--chat",
    type=click.Choice(ROLES),
    help="Chat models: score each sentence as the beginning of the user's or the assistant's turn in the model's "
    "chat template, which is not scored.",
)
@click.option("--device", default="auto", show_default=True, help="torch device, as in cpu or cuda:1.")
@click.option(
    "--engine",
    type=click.Choice(["local", "api", "ray", "vllm"]),
    default="local",
    show_default=True,
    help="What scores: this process, an OpenAI-compatible server, a Ray cluster, or vLLM.",
)
@click.option(
    "--api-base",
    metavar="URL",
    help="Address of the server, as in http://localhost:8000/v1; its key, if it asks for one, is read from "
    "$HOLISTICBIAS_API_KEY.",
)
@click.option("--api-concurrency", type=click.IntRange(1), default=8, show_default=True, help="Requests at once.")
@click.option("--api-rate", type=click.IntRange(0), default=0, help="Requests a minute at most; 0: no limit.")
@click.option("--api-budget", type=click.IntRange(0), default=0, help="Requests in all at most; 0: no limit.")
@click.option("--ray-address", metavar="ADDRESS", help="Ray cluster to join; by default one is started here.")
@click.option(
    "--replicas",
    type=click.IntRange(0),
    default=0,
    help="Replicas on the Ray cluster; by default one a GPU, else one a CPU but one.",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="Folder that keeps scores between runs; by default $HOLISTICBIAS_CACHE or ~/.cache/holisticbias, and in it "
    "scores.",
)
@click.option("--no-store", is_flag=True, help="Score everything again, and keep nothing.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say how much there is to score and how long it takes, with the local engine; write nothing.",
)
def command(
    model: str | None,
    release: Path | None,
    measure: str,
    out: Path | None,
    overwrite: bool,
    kind: str,
    pll: str,
    dtype: str,
    context: str | None,
    context_file: Path | None,
    context_seed: int | None,
    first_token: str,
    chat: str | None,
    device: str,
    engine: str,
    api_base: str | None,
    api_concurrency: int,
    api_rate: int,
    api_budget: int,
    ray_address: str | None,
    replicas: int,
    store: Path | None,
    no_store: bool,
    dry_run: bool,
) -> None:
    """Measure a language model against a release: scores, figures and a report.

    The model's code is never run; its weights are safetensors or GGUF. A run
    that was cut short goes on where it stopped: finished scores are kept.
    """
    from holisticbias_eval.likelihood.api import ApiOptions
    from holisticbias_eval.likelihood.engines import EngineOptions
    from holisticbias_eval.likelihood.local import ScoringOptions, default_store
    from holisticbias_eval.pipeline import evaluation as evaluate
    from holisticbias_eval.prompts.contexts import read_context
    from holisticbias_eval.report.terminal import print_report

    options = EngineOptions(
        engine=engine,
        scoring=ScoringOptions(kind, dtype, device, pll, first_token, chat),
        api_base=api_base,
        api=ApiOptions(concurrency=api_concurrency, per_minute=api_rate, budget=api_budget),
        ray_address=ray_address,
        replicas=replicas,
    )
    storage = evaluate.Storage(None if no_store else store or default_store())
    drawn = read_context(context, context_file, context_seed)
    runs = evaluate.runs_of([name.strip() for name in measure.split(",")], out)
    if dry_run:
        for plan in evaluate.dry_run(model, release, [measures for measures, _ in runs], options, storage, drawn):
            click.echo(plan)
        return
    for folder, run in evaluate.evaluate(model, release, runs, options, storage, drawn, overwrite=overwrite):
        print_report(run)
        click.echo(f"Report: {folder / 'report.html'}")
