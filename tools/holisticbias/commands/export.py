"""``holisticbias export``: the sentences of a release for other tools."""

from pathlib import Path

import click

from holisticbias.terminal import counted, write


@click.command()
@click.argument("release")
@click.option(
    "--format",
    "style",
    type=click.Choice(["csv", "jsonl", "lm-eval", "inspect"]),
    required=True,
    help="CSV with the columns of the public HolisticBias, JSON lines, an lm-evaluation-harness task, or Inspect.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write; a folder for lm-eval.")
def command(release: str, style: str, out: Path) -> None:
    """Export the sentences of RELEASE for other tools.

    RELEASE is a folder, a version, or organisation/name@version on the Hugging Face Hub.
    """
    from holisticbias.release.export import FORMATS
    from holisticbias.release.open import open_release

    rows = FORMATS[style](open_release(release), out)
    write(f"{out}: {counted(rows, 'sentences')} as {style}")
