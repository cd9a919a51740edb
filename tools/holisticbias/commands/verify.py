"""``holisticbias verify``: check a release against its manifest and the published version."""

from pathlib import Path

import click

from holisticbias.terminal import write

UNCOMPARED = "consistent with itself, and not compared with a published version"


@click.command()
@click.argument("release")
@click.option("--version", help="Version that RELEASE must have.")
def command(release: str, version: str | None) -> int:
    """Check that RELEASE is complete and unchanged.

    RELEASE is a folder, or organisation/name@version on the Hugging Face Hub.

    Exit code 0 if it is, else 1 and one line per error.
    """
    from holisticbias.errors import ReleaseError
    from holisticbias.release.hub import hub_address
    from holisticbias.release.manifest import read_manifest
    from holisticbias.release.open import find_release
    from holisticbias.release.verify import is_comparable, verify_release, warn_of_withdrawal

    if hub_address(release) is None and not Path(release).is_dir():
        raise ReleaseError(f"{release} is neither a folder nor a release on the Hub (organisation/name@version)")
    try:
        folder = find_release(release)
        findings = verify_release(folder, version)
    except ReleaseError as error:
        findings = (str(error),)
    for finding in findings:
        write(" ".join(finding.split()))
    if findings:
        return 1
    manifest = read_manifest(folder)
    warn_of_withdrawal(manifest.version)
    part = f" ({manifest.part})" if manifest.part else ""
    is_whole = "is complete" if not manifest.part or is_comparable(manifest) else f"is {UNCOMPARED}"
    write(f"{release}: HolisticBias {manifest.version}{part} {is_whole}; digest {manifest.digest}")
    return 0
