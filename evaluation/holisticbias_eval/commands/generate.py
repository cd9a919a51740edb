"""``holisticbias generate``: let a model answer prompts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.recipe_option import recipe_option
from holisticbias_eval.options import SettingsCommand, given_settings

if TYPE_CHECKING:
    from holisticbias_eval.generating import Generated
    from holisticbias_eval.settings import Uses

_SHOWN = 5


def _uses() -> Uses:
    from holisticbias_eval.generating import USES

    return {"generate": USES}


@click.command(
    cls=SettingsCommand,
    shown=("ReleaseName", "Small", "Chosen", "Seed", "Keeping"),
    uses=_uses,
    short_help="Let a model answer prompts about a release's descriptors.",
)
@recipe_option
@click.option(
    "--model",
    metavar="ID|FOLDER|FILE",
    help="Language model: a folder, a GGUF file or a Hugging Face Hub repository. Default: the embedded responder.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write. Default: responses/MODEL-on-VERSION.")
@click.option("--overwrite", is_flag=True, help="Replace other responses in the folder.")
def command(model: str | None, out: Path | None, overwrite: bool, **_: Any) -> None:
    """Answer prompts with a model, and write the responses as responses.parquet.

    By default the prompts are a release's sentences: every descriptor in every template, each time with a noun and a
    style drawn at random. An interrupted run continues where it stopped: finished responses are kept.
    `holisticbias evaluate --measure generation_bias` measures responses.
    """
    from rich.console import Console

    from holisticbias_eval.generating import generate
    from holisticbias_eval.progress import Display

    values = given_settings()
    release = values.pop("release", None)
    display = Display(Console(stderr=True))
    _print(generate(model, release, values, out, display=display, overwrite=overwrite))


def _print(made: Generated) -> None:
    """Print the counts, some of the responses, and the folder."""
    from holisticbias_eval.report.units import printable
    from holisticbias_eval.tasks.response_tables import counts_in_words

    for row in made.responses.slice(0, _SHOWN).select(["prompt", "response"]).to_pylist():
        write(f"> {printable(row['prompt'])[:200]}\n  {printable(row['response'])[:200]}")
    write(counts_in_words(made.responses))
    write(f"Responses: {made.folder / 'responses.parquet'}")
