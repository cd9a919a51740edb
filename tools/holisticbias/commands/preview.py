"""``holisticbias preview``: preview a contribution as a comment in Markdown."""

import json
from dataclasses import replace
from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write_data


@click.command()
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option("--merge", is_flag=True, help="Preview the merge of the commit NEW into the commit OLD.")
@click.option(
    "--suggestions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write the lines to that the layout changes, as JSON for a review on GitHub.",
)
@options.source
def command(old: str | None, new: str | None, merge: bool, suggestions: Path | None, source: Path | None) -> None:
    """Print a preview of the change from OLD to NEW in Markdown.

    Begins with one verdict over all that CI checks of the terms: findings,
    layout, generated files and the version number. Shows what there is to
    review, missing reviews, changed sentences and the difference.

    OLD and NEW are as in diff: by default, your changes since your branch left
    the default branch.
    """
    from holisticbias.contribute.preview import preview, render_preview
    from holisticbias.contribute.revisions import given_files, merge_commits, named_files, start_of
    from holisticbias.output import write_file
    from holisticbias.source.folder import find_source

    conflicts: tuple[str, ...] = ()
    if merge:
        if old is None or new is None:
            raise click.UsageError("--merge needs two commits, OLD and NEW.")
        root = source or find_source()
        tree, conflicts = merge_commits(old, new, root)
        before, head = named_files(old, root), named_files(new, root)
        if conflicts:  # what the other side did since would look like a change back
            before, after = start_of(new, old, root), head
        else:
            after = replace(named_files(tree, root), name=f"{head.name}, merged")
    else:
        before, after = given_files(old, new, source)
        head = after
    shown = preview(before, after, head, conflicts)
    if suggestions is not None:
        reviews = json.dumps([s.review for s in shown.suggested], ensure_ascii=False)
        write_file(suggestions, reviews.encode())
    write_data(render_preview(shown))
