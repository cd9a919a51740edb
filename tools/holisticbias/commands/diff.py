"""``holisticbias diff``: compare two states of the terms."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import refuse_unused, write, write_data


@click.command()
@click.argument("old", required=False)
@click.argument("new", required=False)
@options.output_format("text", "md", "json")
@click.option(
    "--samples", type=click.IntRange(0, 1000), default=10, show_default=True, help="Number of sentences to show."
)
@options.source
def command(old: str | None, new: str | None, style: str, samples: int, source: Path | None) -> int:
    """Print what changed from OLD to NEW, and the version number that follows.

    OLD and NEW are each a version, a git revision or a folder of terms. OLD
    defaults to where your branch left the default branch, and NEW to the
    current folder of terms. Entries and sentences are matched by id.

    A file that cannot be read is not compared: it is named, and the exit code
    is 1.
    """
    from holisticbias.contribute.diff import compare
    from holisticbias.contribute.diff_report import render_difference
    from holisticbias.contribute.release_files import preparation_problem
    from holisticbias.contribute.revisions import given_files, open_sides
    from holisticbias.source.findings import render_findings

    if style == "md":
        refuse_unused(["samples"], "with --format md")
    sides = open_sides(*given_files(old, new, source))
    write_data(render_difference(compare(sides.old, sides.new, samples, sides.not_compared), style))
    problem = preparation_problem(sides.new.catalog)
    if problem is not None:
        write(problem, err=True)
    if sides.unread:
        write(f"not compared: {render_findings(sides.unread, 'text')}", err=True)
    return 1 if sides.unread else 0
