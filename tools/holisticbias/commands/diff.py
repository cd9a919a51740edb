"""``holisticbias diff``: what changed between two states of the terms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands import options

if TYPE_CHECKING:
    from holisticbias.diff_report import Style


@click.command()
@click.argument("old")
@click.argument("new", default=".")
@click.option("--format", "style", type=click.Choice(["text", "md", "json"]), default="text", show_default=True)
@click.option("--samples", type=click.IntRange(0, 1000), default=10, show_default=True, help="Sentences to show.")
@options.source
def command(old: str, new: str, style: Style, samples: int, source: Path | None) -> None:
    """Print what changed from OLD to NEW, and which version follows.

    Each is a version, a git revision or a folder of terms; NEW is by default the current
    folder. Entries are matched by their ids, sentences by theirs.
    """
    from holisticbias.diff import compare
    from holisticbias.diff_report import render_difference
    from holisticbias.revisions import open_revision

    difference = compare(open_revision(old, source), open_revision(new, source), samples)
    click.echo(render_difference(difference, style))
