"""``holisticbias assess``: record a reviewer's judgement of a term or a specification."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write


@click.command()
@click.argument("entry_id", metavar="ID")
@click.option(
    "--judgement",
    type=click.Choice(["accepted", "dispreferred", "polarizing"]),
    prompt=True,
    help="See docs/reviewing.md.",
)
@click.option("--reviewer", prompt=True, help="The reviewer's pseudonym, for example rv-0042.")
@click.option("--community", help="The reviewer's community, named only with its consent.")
@click.option("--locale", default="en-US", show_default=True, help="Language and region of the judgement.")
@click.option("--date", type=click.DateTime(["%Y-%m-%d"]), help="Day of the judgement; today by default.")
@options.version
@options.source
def command(
    entry_id: str,
    judgement: str,
    reviewer: str,
    community: str | None,
    locale: str,
    date: datetime | None,
    version: str,
    source: Path | None,
) -> None:
    """Record how a person with lived experience judges a term or a specification.

    All judgements are kept, even if they disagree. A judgement of an entry in
    a published version counts from the next version on.
    """
    from holisticbias.contribute.authoring import add_assessment, apply_edits, next_version, prepare_version
    from holisticbias.contribute.proposals import similar_terms
    from holisticbias.errors import SourceError
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import find_source
    from holisticbias.terms.entries import QUORUM, has_quorum
    from holisticbias.terms.versions import version_key

    root = source or find_source(to_write=True)
    catalog = load_catalog(root)
    version = next_version(catalog, version)
    now = datetime.now(UTC)
    if date is not None and date.date() > now.date():
        raise click.BadParameter(f"{date.date()} is in the future.", param_hint="--date")
    today = (date or now).date().isoformat()
    since = {entry.id: entry.since for entry in catalog.judged}.get(entry_id)
    if since is None:
        near = similar_terms(catalog, entry_id)
        hint = f"; terms with a text like it: {', '.join(near)}" if near else ""
        raise SourceError(f"no descriptor or specification has the id {entry_id!r}{hint}")
    assessment = {
        "judgement": judgement,
        **({"community": community} if community else {}),
        "locale": locale,
        "reviewer": reviewer,
        "date": today,
        **({"since": version} if version_key(since) < version_key(version) else {}),
    }
    edits = [add_assessment(root, entry_id, assessment), *prepare_version(catalog, root, version)]
    for path in apply_edits(root, edits):
        write(f"wrote {path}")
    judgements = next(entry.judgements for entry in load_catalog(root).judged if entry.id == entry_id)
    if not has_quorum(judgements):
        write(f"The judgement is recorded. It counts when {QUORUM} reviewers or a publication have judged the entry.")
