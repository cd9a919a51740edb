"""``holisticbias preview``: preview a contribution as a comment in Markdown."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write_data


@click.command()
@click.argument("old", required=False)
@click.argument("new", required=False)
@options.source
def command(old: str | None, new: str | None, source: Path | None) -> None:
    """Print a preview of the change from OLD to NEW in Markdown.

    Shows findings, missing reviews, changed sentences and the difference.

    OLD and NEW are as in diff: by default, your changes since your branch left
    the default branch.
    """
    from holisticbias.contribute.diff import compare
    from holisticbias.contribute.preview import render_preview
    from holisticbias.contribute.revisions import given_files, open_sides
    from holisticbias.contribute.version_number import preparation_problem
    from holisticbias.rules.validate import validate_files

    before, after = given_files(old, new, source)
    sides = open_sides(before, after)
    difference = compare(sides.old, sides.new)
    findings = validate_files(after.files)[1]
    write_data(render_preview(findings, difference, preparation_problem(sides.new.catalog)))
