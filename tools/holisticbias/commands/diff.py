"""``holisticbias diff``: compare two states of the terms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands import options
from holisticbias.terminal import write_data

if TYPE_CHECKING:
    from holisticbias.contribute.diff_report import Style


@click.command()
@click.argument("old")
@click.argument("new", required=False)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "md", "json"]),
    default="text",
    show_default=True,
    help="Format of the output.",
)
@click.option(
    "--samples", type=click.IntRange(0, 1000), default=10, show_default=True, help="Number of sentences to show."
)
@options.source
def command(old: str, new: str | None, style: Style, samples: int, source: Path | None) -> None:
    """Print what changed from OLD to NEW, and the version number that follows.

    OLD and NEW are each a version, a git revision or a folder of terms. NEW defaults
    to the current folder of terms. Entries and sentences are matched by id.
    """
    from holisticbias.contribute.diff import compare
    from holisticbias.contribute.diff_report import render_difference
    from holisticbias.contribute.revisions import open_folder, open_revision
    from holisticbias.source.folder import find_source

    after = open_folder(source or find_source()) if new is None else open_revision(new, source)
    difference = compare(open_revision(old, source), after, samples)
    write_data(render_difference(difference, style))
