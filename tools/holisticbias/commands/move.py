"""``holisticbias move``: move a term to another axis or bucket."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write


@click.command()
@click.argument("entry_id", metavar="ID")
@click.argument("axis")
@click.option("--bucket", help="Group within the axis; by default the one of the same name.")
@options.version
@options.source
def command(entry_id: str, axis: str, bucket: str | None, version: str, source: Path | None) -> None:
    """Move a term to another AXIS, or to another bucket of its axis.

    A published term is retired from the version in preparation on, and a new
    entry on the other axis replaces it; published versions keep it where it
    was. A term that is not published yet moves as it is.
    """
    from holisticbias.contribute.authoring import apply_edits, prepare_version
    from holisticbias.contribute.changing import move_edits, plan_move

    root, catalog, version = options.open_terms(source, version)
    move = plan_move(catalog, entry_id, axis, bucket, version)
    for path in apply_edits(root, [*move_edits(root, move), *prepare_version(catalog, root, version)]):
        write(f"wrote {path}")
    if move.target is move.axis:
        write(f"{entry_id} is in the bucket {move.bucket} from version {version} on.")
    elif not move.published:
        write(f"{entry_id} is now {move.new_id}.")
    else:
        write(f"{entry_id} is retired in version {version}, and {move.new_id} replaces it.")
        write("This removes published sentences, so it makes the next version a major version.")
