"""``holisticbias export``: a release in the forms that other tools read."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("release")
@click.option(
    "--format",
    "style",
    type=click.Choice(["csv", "jsonl", "lm-eval", "inspect"]),
    required=True,
    help="A CSV file in the columns of the public HolisticBias, JSON lines, a task folder, or an Inspect dataset.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write; a folder for lm-eval.")
def command(release: str, style: str, out: Path) -> None:
    """Write the sentences of RELEASE in another form.

    RELEASE is a folder, or organisation/name@version on the Hugging Face Hub.
    """
    from holisticbias.release.export import FORMATS
    from holisticbias.release.open import open_release

    rows = FORMATS[style](open_release(release), out)
    click.echo(f"{out}: {rows:,} sentences as {style}")
