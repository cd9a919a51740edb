"""What is on record of a published version, to hold a release against."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from holisticbias.errors import SourceError
from holisticbias.release.manifest import Manifest
from holisticbias.source.document import read_document
from holisticbias.source.folder import find_source
from holisticbias.terms.file_kinds import ReleaseFile


def record_findings(folder: Path, manifest: Manifest) -> Iterator[str]:
    """A line if a whole release is not the version that it says it is, as that was published.

    A manifest can be made anew to fit other rows; what the terms have on record cannot.
    """
    recorded = on_record(manifest.version)
    if recorded is None or recorded.digest is None or manifest.part:
        return
    found = {name: entry.digest for name, entry in manifest.tables.items()}
    names = {*found, *recorded.tables} if recorded.tables else set()
    other = sorted(name for name in names if found.get(name) != recorded.tables.get(name))
    if other or manifest.digest != recorded.digest:
        yield (
            f"{folder} is not version {manifest.version} as it was published: the rows of "
            f"{', '.join(other) or 'its tables'} are not those that releases/{manifest.version}.yaml has on record; "
            "download or build it again"
        )


def on_record(version: str) -> ReleaseFile | None:
    """What ``releases/`` of the terms at hand says of a version, if it says anything that can be read."""
    try:
        path = find_source() / "releases" / f"{version}.yaml"
        return ReleaseFile.model_validate(read_document(path, str(path)).data) if path.is_file() else None
    except (SourceError, ValidationError):
        return None
