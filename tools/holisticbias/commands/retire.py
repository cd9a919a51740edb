"""``holisticbias retire``: take an entry out of the versions to come."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import refuse_unused, write


@click.command()
@click.argument("entry_id", metavar="ID")
@click.option("--replaced-by", help="Id of the entry that replaces a published one, or none.")
@click.option("--reason", help="Why a published entry is retired.")
@options.change
def command(
    entry_id: str,
    replaced_by: str | None,
    reason: str | None,
    yes: bool,
    dry_run: bool,
    version: str,
    source: Path | None,
) -> None:
    """Take an entry out of the versions to come.

    Published versions keep it, and it stays in its file. An entry that is not
    published yet is removed. A term that its community objects to need not be
    retired: record the judgement with holisticbias assess.
    """
    from holisticbias.contribute.authoring import open_terms
    from holisticbias.contribute.changing import find_entry, retire
    from holisticbias.contribute.proposals import similar_terms
    from holisticbias.questions.adding import show_and_write
    from holisticbias.questions.questions import Questions, print_lines

    terms = open_terms(source, version)
    found = find_entry(terms.catalog, entry_id)
    ask = Questions({"replaced_by": replaced_by, "reason": reason}, yes)
    if found.published:
        near = [name for name in similar_terms(terms.catalog, found.entry.text) if name != entry_id]
        if near and replaced_by is None and not yes:
            print_lines(f"Similar: {', '.join(near)}")
        replacement = ask.text("replaced_by", "Which entry replaces it (an id, or none)?", "none")
        reason = ask.text("reason", "Why is it retired?")
    else:
        refuse_unused(("replaced_by", "reason"), "on an entry that is not published")
        replacement, reason = "none", ""
    edits = retire(terms, entry_id, None if replacement == "none" else replacement, reason)
    if show_and_write(terms, edits, published=found.published, yes=yes, dry_run=dry_run):
        replaces = "" if replacement == "none" else f", and {replacement} replaces it"
        retired = f"is retired in version {terms.version}{replaces}"
        write(f"{entry_id} {retired if found.published else 'is removed: it was not published'}.")
