"""``holisticbias releases``: list the versions, check them, freeze one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write, write_data


@click.command()
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--check", is_flag=True, help="Compile every published version; exit 1 if a digest changed.")
@click.option("--freeze", metavar="VERSION", help="Record the digests of a version; it cannot change after that.")
@options.source
def command(style: str, check: bool, freeze: str | None, source: Path | None) -> int:
    """List the versions: date, number of entries, digest, summary."""
    from holisticbias.contribute.freeze import freeze_version, list_versions, moved_versions
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import find_source

    root = source or find_source(to_write=freeze is not None)
    catalog = load_catalog(root)
    if freeze is not None:
        write(f"{freeze}: digest {freeze_version(catalog, freeze, root)}; commit its files in releases/")
        return 0
    if check:
        moved = moved_versions(catalog)
        for version, recorded, found in moved:
            write(f"{version} differs from the published version: digest {found}, recorded {recorded}")
        if not moved:
            write(f"{len(catalog.published)} published versions compile to their digests.")
        return 1 if moved else 0
    versions = list_versions(catalog)
    if style == "json":
        write_data(json.dumps([asdict(v) for v in versions], indent=2))
        return 0
    for v in versions:
        state = f"digest {v.digest[:12]}" if v.digest else "in preparation"
        counts = f"{v.descriptors:,} descriptors, {v.nouns:,} nouns, {v.templates:,} templates"
        if v.groups or v.prompts or v.specifications:
            counts += f", {v.groups:,} groups, {v.prompts:,} prompts, {v.specifications:,} specifications"
        write(f"{v.version}  {v.date}  {counts}  {state}\n    {v.summary}")
    return 0
