"""``holisticbias releases``: list the versions, check them, freeze one, name the next."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands import options
from holisticbias.terminal import write, write_data

if TYPE_CHECKING:
    from holisticbias.terms.catalog import Catalog


@click.command()
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--check", is_flag=True, help="Compile every published version; exit 1 if a digest changed.")
@click.option("--freeze", metavar="VERSION", help="Publish a version: record its digests; it cannot change after that.")
@click.option("--next", "following", metavar="VERSION", help="Create the version in preparation, or rename it.")
@options.source
def command(style: str, check: bool, freeze: str | None, following: str | None, source: Path | None) -> int:
    """List the versions: date, number of entries, digest, summary.

    --freeze also writes the changelog and the citation, creates the next
    version in preparation, and lists the steps that are left.
    """
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import find_source

    if sum((check, freeze is not None, following is not None)) > 1:
        raise click.UsageError("Use one of --check, --freeze and --next at a time.")
    root = source or find_source(to_write=freeze is not None or following is not None)
    catalog = load_catalog(root)
    if freeze is not None:
        _freeze(catalog, freeze, root)
    elif following is not None:
        _name_next(catalog, following, root)
    elif check:
        return _check(catalog)
    else:
        _list(catalog, style)
    return 0


def _freeze(catalog: Catalog, version: str, root: Path) -> None:
    from holisticbias.contribute.freeze import freeze_version
    from holisticbias.contribute.release_files import complete_release, remaining_steps
    from holisticbias.rules.validate import load_catalog

    today = datetime.now(UTC).date().isoformat()
    digest = freeze_version(catalog, version, root, today)
    write(f"{version}: digest {digest}; its record is in releases/")
    for path in complete_release(root, version, today):
        write(f"{'wrote' if path.exists() else 'removed'} {path}")
    write("\nLeft to do:")
    for number, step in enumerate(remaining_steps(root, load_catalog(root), version), 1):
        write(f"{number}. {step}")


def _name_next(catalog: Catalog, version: str, root: Path) -> None:
    from holisticbias.contribute.next_version import set_next_version
    from holisticbias.terms.versions import is_version

    if not is_version(version):
        raise click.BadParameter(f"{version!r} is not a version such as 4.0.0.", param_hint="--next")
    for path in set_next_version(catalog, root, version, datetime.now(UTC).date().isoformat()):
        write(f"wrote {path}")
    write(f"{version} is in preparation.")


def _check(catalog: Catalog) -> int:
    from holisticbias.contribute.freeze import moved_versions

    moved = moved_versions(catalog)
    for version, recorded, found in moved:
        write(f"{version} differs from the published version: digest {found}, recorded {recorded}")
    if not moved:
        write(f"{len(catalog.published)} published versions compile to their digests.")
    return 1 if moved else 0


def _list(catalog: Catalog, style: str) -> None:
    from holisticbias.contribute.freeze import list_versions

    versions = list_versions(catalog)
    if style == "json":
        write_data(json.dumps([asdict(v) for v in versions], indent=2))
        return
    for v in versions:
        state = f"digest {v.digest[:12]}" if v.digest else "in preparation"
        counts = f"{v.descriptors:,} descriptors, {v.nouns:,} nouns, {v.templates:,} templates"
        if v.groups or v.prompts or v.specifications:
            counts += f", {v.groups:,} groups, {v.prompts:,} prompts, {v.specifications:,} specifications"
        write(f"{v.version}  {v.date}  {counts}  {state}\n    {v.summary}")
