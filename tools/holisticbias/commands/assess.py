"""``holisticbias assess``: record judgements of terms and specifications by reviewers."""

from datetime import datetime
from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import counted, refuse_unused, write, write_changed

_JUDGEMENTS = ["accepted", "dispreferred", "polarizing"]


def _past_day(_context: click.Context, _option: click.Parameter, date: datetime | None) -> str | None:
    """The day, as in 2026-01-31; raises ``BadParameter`` for one in the future."""
    day = date.date().isoformat() if date else None
    if day and day > options.today():
        raise click.BadParameter(f"{day} is in the future.", param_hint="--date")
    return day


@click.command()
@click.argument("entry_id", metavar="[ID]", required=False)
@click.option(
    "--from",
    "batch",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Record all judgements of a file that the explorer wrote.",
)
@click.option("--judgement", type=click.Choice(_JUDGEMENTS), help="See docs/reviewing.md.")
@click.option("--reviewer", help="The reviewer's pseudonym, for example rv-0042.")
@click.option("--comment", help="What the reviewer says about it; it is public.")
@click.option("--community", help="The reviewer's community, named only with its consent.")
@click.option("--locale", help="Language and region of the judgement; en-US by default.")
@click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    callback=_past_day,
    help="Day of the judgement; today by default.",
)
@options.version
@options.source
def command(
    entry_id: str | None,
    batch: Path | None,
    reviewer: str | None,
    version: str,
    source: Path | None,
    **values: str | None,
) -> None:
    """Record how people with lived experience judge terms or specifications.

    A judgement of an entry in a published version counts from the next
    version on. To correct a judgement, record it again: it replaces one by the
    same reviewer that no published version has; a published one is kept.
    """
    from holisticbias.contribute.authoring import check_edits, open_terms, write_edits
    from holisticbias.contribute.judging import read_judgements, record
    from holisticbias.questions.adding import ask_judgement
    from holisticbias.terms.entries import QUORUM, has_quorum

    if (entry_id is None) == (batch is None):
        raise click.UsageError("name an entry by its ID, or a file of judgements with --from.")
    if batch:
        refuse_unused(values, "with --from")
    terms = open_terms(source, version)
    if batch:
        judged = read_judgements(batch, terms.catalog, reviewer, options.today())
    else:
        judged = ask_judgement(terms.catalog, str(entry_id), {**values, "reviewer": reviewer}, options.today())
    recorded, replaced = record(terms, judged)
    edits = terms.whole(recorded)
    after, _ = check_edits(terms.root, edits)
    write_changed(write_edits(edits))
    for judged_id, earlier in replaced:
        write(f"{judged_id}: replaces {earlier.judgement!r} of {earlier.date}, which no published version has.")
    waiting = [entry for entry in after.judged if entry.id in judged and not has_quorum(entry.judgements)]
    if batch:
        more = f"; a second reviewer is needed for {counted(len(waiting), 'entries')}" if waiting else ""
        write(f"{counted(len(judged), 'judgements')} recorded{more}.")
    elif waiting:
        write(f"The judgement is recorded. It counts when {QUORUM} reviewers or a publication have judged the entry.")
