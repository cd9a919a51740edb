"""``holisticbias generate``: let a model answer prompts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.engine_options import MODEL_HELP, RELEASE_HELP, engine_options, read_model
from holisticbias_eval.commands.option_groups import GroupedCommand
from holisticbias_eval.commands.option_uses import refuse_unused
from holisticbias_eval.commands.response_options import chat as chat_option
from holisticbias_eval.commands.response_options import (
    read_conversation,
    read_drawing,
    response_options,
    response_store,
)

if TYPE_CHECKING:
    from holisticbias_eval.pipeline.generation import Generated

_SHOWN = 5


@click.command(cls=GroupedCommand, short_help="Let a model answer prompts about a release's descriptors.")
@click.option("--model", metavar="ID|FOLDER|FILE", help=f"{MODEL_HELP} Default: the embedded responder.")
@click.option("--release", metavar="FOLDER|VERSION|ID@VERSION", help=RELEASE_HELP)
@click.option(
    "--prompts",
    metavar="FILE|NAME|FOLDER|ID",
    help="Prompts instead of a release's sentences. A file, .txt with one per line, or .csv, .jsonl or .parquet with a "
    "column prompt, is answered. Prompts to continue, as for evaluate: a collection of the release, the folder of "
    "BOLD's files, or a Hugging Face Hub dataset in BOLD's form. A folder that `holisticbias corpus collect` wrote is "
    "answered as its file.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write. Default: responses/MODEL-on-VERSION.")
@click.option("--overwrite", is_flag=True, help="Replace other responses in the folder.")
@response_options
@chat_option
@engine_options
@response_store
@click.option("--no-store", is_flag=True, help="Make all responses again, and keep none until the end.")
def command(
    model: str | None,
    release: str | None,
    prompts: str | None,
    out: Path | None,
    overwrite: bool,
    chat: str,
    store: Path | None,
    no_store: bool,
    **given: Any,
) -> None:
    """Answer prompts with a model, and write the responses as responses.parquet.

    By default the prompts are a release's sentences: every descriptor in every template, each time with a noun and a
    style drawn at random. An interrupted run continues where it stopped: finished responses are kept.
    `holisticbias evaluate --measure generation_bias` measures responses.
    """
    from rich.console import Console

    from holisticbias_eval.commands.declared_uses import generate_uses
    from holisticbias_eval.models.store.shards import default_folder
    from holisticbias_eval.pipeline.answering import AnsweringOptions
    from holisticbias_eval.pipeline.collection_prompts import SENTENCES
    from holisticbias_eval.pipeline.generation import generate
    from holisticbias_eval.progress import Display
    from holisticbias_eval.prompts.conversations import PER_CELL

    refuse_unused(click.get_current_context(), generate_uses())
    options = AnsweringOptions(
        drawing=read_drawing(given, 1 if prompts and prompts != SENTENCES else PER_CELL),  # type: ignore[arg-type]
        decoding=given["decoding"],
        conversation=read_conversation(given, chat),  # type: ignore[arg-type]
        engine=read_model(given),
        store=None if no_store else store or default_folder("responses"),
    )
    display = Display(Console(stderr=True))
    _print(generate(model, release, prompts, options, out, display=display, overwrite=overwrite))


def _print(made: Generated) -> None:
    """Print the counts, some of the responses, and the folder."""
    from holisticbias_eval.pipeline.answering import counts_in_words
    from holisticbias_eval.report.plain_text import printable

    for row in made.responses.slice(0, _SHOWN).select(["prompt", "response"]).to_pylist():
        write(f"> {printable(row['prompt'])[:200]}\n  {printable(row['response'])[:200]}")
    write(counts_in_words(made.responses))
    write(f"Responses: {made.folder / 'responses.parquet'}")
