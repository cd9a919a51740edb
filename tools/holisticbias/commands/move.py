"""``holisticbias move``: move a term to another axis or bucket."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write, write_changed


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
    from holisticbias.contribute.authoring import apply_edits, open_terms
    from holisticbias.contribute.changing import move

    terms = open_terms(source, version)
    moved = move(terms, entry_id, axis, bucket)
    write_changed(apply_edits(terms.root, terms.whole(moved.edits)))
    if moved.new_id == entry_id:
        write(f"{entry_id} is in the bucket {moved.bucket} from version {terms.version} on.")
    elif not moved.published:
        write(f"{entry_id} is now {moved.new_id}.")
    else:
        write(f"{entry_id} is retired in version {terms.version}, and {moved.new_id} replaces it.")
        write("This removes published sentences, so it makes the next version a major version.")
