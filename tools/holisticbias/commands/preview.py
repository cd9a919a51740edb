"""``holisticbias preview``: preview a contribution as a comment in Markdown."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write_data

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option(
    "--findings", type=_FILE, help="Read the findings of validate --format json from a file instead of checking NEW."
)
@click.option(
    "--diff",
    "difference",
    type=_FILE,
    help="Read the output of diff --format json from a file instead of comparing OLD and NEW.",
)
@options.source
def command(
    old: str | None, new: str | None, findings: Path | None, difference: Path | None, source: Path | None
) -> None:
    """Print a preview of the change from OLD to NEW in Markdown.

    Shows findings, missing reviews, changed sentences and the difference.

    OLD and NEW are as in diff; OLD is by default the newest published version.
    """
    from holisticbias.contribute.diff import compare
    from holisticbias.contribute.preview import read_difference, read_findings, render_preview
    from holisticbias.contribute.revisions import newest_published, open_folder, open_revision
    from holisticbias.rules.validate import validate_paths
    from holisticbias.source.folder import find_source

    if difference is not None:
        changed = read_difference(difference)
    else:
        after = open_folder(source or find_source()) if new is None else open_revision(new, source)
        changed = compare(open_revision(old or newest_published(source), source), after)
    folder = Path(new) if new is not None and Path(new).is_dir() else source or find_source()
    found = read_findings(findings) if findings is not None else validate_paths([folder])
    write_data(render_preview(found, changed))
