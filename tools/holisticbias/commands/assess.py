"""``holisticbias assess``: record judgements of terms and specifications by reviewers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from holisticbias.commands import options
from holisticbias.terminal import write

_JUDGEMENTS = ["accepted", "dispreferred", "polarizing"]


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
@click.option("--date", type=click.DateTime(["%Y-%m-%d"]), help="Day of the judgement; today by default.")
@options.version
@options.source
def command(
    entry_id: str | None,
    batch: Path | None,
    judgement: str | None,
    reviewer: str | None,
    comment: str | None,
    community: str | None,
    locale: str | None,
    date: datetime | None,
    version: str,
    source: Path | None,
) -> None:
    """Record how people with lived experience judge terms or specifications.

    A judgement of an entry in a published version counts from the next
    version on. To correct a judgement, record it again: it replaces one by the
    same reviewer that no published version has; a published one is kept.
    """
    from holisticbias.contribute.authoring import apply_edits, next_version, prepare_version
    from holisticbias.contribute.judging import read_judgements, record, unknown_id
    from holisticbias.errors import SourceError
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import find_source
    from holisticbias.terms.entries import QUORUM, Assessment, has_quorum

    if (entry_id is None) == (batch is None):
        raise click.UsageError("name an entry by its ID, or a file of judgements with --from.")
    of_one = {
        "--judgement": judgement,
        "--comment": comment,
        "--community": community,
        "--locale": locale,
        "--date": date,
    }
    if batch and any(of_one.values()):
        name = next(name for name, value in of_one.items() if value)
        raise click.UsageError(f"{name} is for one entry: the file of --from has its own.")
    root = source or find_source(to_write=True)
    catalog = load_catalog(root)
    version = next_version(catalog, version)
    now = datetime.now(UTC)
    if date is not None and date.date() > now.date():
        raise click.BadParameter(f"{date.date()} is in the future.", param_hint="--date")
    today = (date or now).date().isoformat()
    if batch:
        judged = read_judgements(batch, catalog, reviewer, today)
    else:
        if entry_id not in {entry.id for entry in catalog.judged}:
            raise SourceError(unknown_id(catalog, str(entry_id)))
        values: dict[str, Any] = {
            "judgement": judgement or click.prompt("Judgement", type=click.Choice(_JUDGEMENTS)),
            "community": community,
            "locale": locale or "en-US",
            "reviewer": reviewer or click.prompt("Reviewer"),
            "date": today,
            "comment": comment,
        }
        judged = {str(entry_id): Assessment.model_construct(**values)}  # checked with the file that it is written to
    recorded = record(root, catalog, judged, version)
    for path in apply_edits(root, (*recorded.edits, *prepare_version(catalog, root, version))):
        write(f"wrote {path}")
    for judged_id, earlier in recorded.replaced:
        write(f"{judged_id}: replaces {earlier.judgement!r} of {earlier.date}, which no published version has.")
    after = {entry.id: entry for entry in load_catalog(root).judged}
    waiting = [judged_id for judged_id in judged if not has_quorum(after[judged_id].judgements)]
    if batch:
        write(f"{len(judged)} judgements recorded; {len(waiting)} of these entries wait for a second reviewer.")
    elif waiting:
        write(f"The judgement is recorded. It counts when {QUORUM} reviewers or a publication have judged the entry.")
