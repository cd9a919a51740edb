"""``holisticbias verify``: check a release against its manifest."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("release")
@click.option("--version", help="Version that it must be.")
def command(release: str, version: str | None) -> int:
    """Check that RELEASE, a folder, is whole and exact.

    Exit code 0 when it is, 1 with a line for each thing that is wrong.
    """
    from holisticbias.errors import ReleaseError
    from holisticbias.manifest import read_manifest
    from holisticbias.verify import verify_release

    folder = Path(release)
    if not folder.is_dir():
        raise ReleaseError(f"{folder} does not exist or is no folder: name a release")
    findings = verify_release(folder, version)
    for finding in findings:
        click.echo(" ".join(finding.split()))
    if findings:
        return 1
    manifest = read_manifest(folder)
    part = f" ({manifest.part})" if manifest.part else ""
    click.echo(f"{release}: HolisticBias {manifest.version}{part} is whole; digest {manifest.digest}")
    return 0
