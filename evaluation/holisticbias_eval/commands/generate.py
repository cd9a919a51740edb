"""``holisticbias generate``: let a model answer prompts."""

from pathlib import Path
from typing import Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import PATH, recipe_option
from holisticbias_eval.options import given_settings, settings_command

_SHOWN = 5


@settings_command(
    "Let a model answer prompts about a release's descriptors.",
    "ReleaseName Small Chosen Seed Keeping",
    uses="generating:USES",
)
@recipe_option
@click.option(
    "--model",
    metavar="ID|FOLDER|FILE",
    help="Folder, GGUF file or Hugging Face Hub repository. Default: the embedded responder.",
)
@click.option("--out", type=PATH, help="Folder to write. Default: responses/MODEL-on-VERSION.")
@click.option("--overwrite", is_flag=True, help="Replace other responses in the folder.")
def command(model: str | None, out: Path | None, overwrite: bool, **_: Any) -> None:
    """Answer prompts with a model, and write the responses as responses.parquet.

    By default the prompts are a release's sentences: every descriptor in every template, each time with a noun and a
    style drawn at random. An interrupted run continues where it stopped: finished responses are kept.
    `holisticbias evaluate --measures generation_bias` measures responses.
    """
    from holisticbias_eval.generating import generate
    from holisticbias_eval.progress import Display
    from holisticbias_eval.tasks.response_files import counts_in_words
    from holisticbias_eval.units import printable

    values = given_settings()
    release = values.pop("release", None)
    folder, responses = generate(model, release, values, out, display=Display(), overwrite=overwrite)
    for row in responses.slice(0, _SHOWN).select(["prompt", "response"]).to_pylist():
        write(f"> {printable(row['prompt'])[:200]}\n  {printable(row['response'])[:200]}")
    write(counts_in_words(responses))
    write(f"Responses: {folder / 'responses.parquet'}")
