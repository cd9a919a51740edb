"""``holisticbias build``: compile a version into a release folder."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias.commands import options


@click.command(short_help="Compile a version into a release.")
@click.option("--version", help="Version to build; by default the newest.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write the release to.")
@click.option("--small", is_flag=True, help="Only the 100 descriptors of subsets/small.yaml.")
@options.source
def command(version: str | None, out: Path, small: bool, source: Path | None) -> None:
    """Compile a version of the terms into a release that Hugging Face datasets loads."""
    from holisticbias.origin import source_commit
    from holisticbias.release import build_release, write_release
    from holisticbias.source import find_source
    from holisticbias.validate import load_catalog

    root = source or find_source()
    release = build_release(load_catalog(root), version, "small" if small else None, source_commit(root))
    manifest = write_release(release, out)
    rows = ", ".join(f"{table.rows:,} {name}" for name, table in manifest.tables.items())
    click.echo(f"{out}: HolisticBias {manifest.version}{' (small)' if small else ''}, {rows}; digest {manifest.digest}")
