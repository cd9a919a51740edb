"""``holisticbias move``: move a term to another axis or bucket."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import refuse_unused, write


@click.command()
@click.argument("entry_id", metavar="ID")
@click.argument("axis")
@click.option("--bucket", help="Group within the axis; by default the one of the same name.")
@click.option("--reason", help="Why a published term moves.")
@options.change
def command(
    entry_id: str,
    axis: str,
    bucket: str | None,
    reason: str | None,
    yes: bool,
    dry_run: bool,
    version: str,
    source: Path | None,
) -> None:
    """Move a term to another AXIS, or to another bucket of its axis.

    A published term is retired from the version in preparation on, and a new
    entry on the other axis replaces it; published versions keep it where it
    was. A term that is not published yet moves as it is.
    """
    from holisticbias.contribute.authoring import open_terms
    from holisticbias.contribute.changing import find_entry, move, new_bucket
    from holisticbias.questions.adding import show_and_write
    from holisticbias.questions.questions import Questions

    terms = open_terms(source, version)
    found = find_entry(terms.catalog, entry_id)
    bucket = new_bucket(terms.catalog, found, axis, bucket)
    if not found.published:
        refuse_unused(["reason"], "on an entry that is not published")
    why = Questions({"reason": reason}, yes).text("reason", "Why does it move?") if found.published else ""
    moved, edits = move(terms, entry_id, axis, bucket, why)
    if show_and_write(terms, edits, published=found.published, yes=yes, dry_run=dry_run):
        write(f"{entry_id} is {moved}.")
