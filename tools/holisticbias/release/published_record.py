"""The record of published versions: ``releases/`` of the terms shipped with the package."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from holisticbias.errors import HolisticBiasError, SourceError, WithdrawnVersionWarning
from holisticbias.release.manifest import Manifest
from holisticbias.source.document import read_document
from holisticbias.source.folder import PACKAGE, find_source
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import ReleaseFile
from holisticbias.terms.versions import is_number


def part_findings(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield a line if a part of a published version differs from the same part, compiled from the package's terms.

    Takes as long as building the part. See ``is_comparable`` for the parts that are not compared.
    """
    if not manifest.part or not is_comparable(manifest):
        return
    from holisticbias.release.build import build_release  # not needed to open a release
    from holisticbias.rules.validate import load_catalog

    catalog = load_catalog(find_source(PACKAGE / "data"))
    try:
        made = build_release(catalog, manifest.version, manifest.subset, manifest.where)
    except HolisticBiasError as error:
        yield f"{folder}: version {manifest.version} has no such part ({manifest.part}): {error}"
        return
    if made.digest != manifest.digest:
        names = sorted({*made.manifest.tables, *manifest.tables})
        found, expected = ({n: e.digest for n, e in m.tables.items()} for m in (manifest, made.manifest))
        other = ", ".join(name for name in names if found.get(name) != expected.get(name))
        yield (
            f"{folder} is not the part {manifest.part} of version {manifest.version} as it was published: the rows of "
            f"{other or 'its tables'} differ; download or build it again"
        )


def is_comparable(manifest: Manifest) -> bool:
    """Whether a release or a part can be compared with the record of its version: samples of two descriptors cannot."""
    recorded = recorded_version(manifest.version)
    drawn = manifest.intersections is not None or manifest.sample is not None
    return recorded is not None and recorded.digest is not None and not drawn


def record_findings(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield a line if a whole release differs from the published version with its number.

    Manifest and checksums can be rewritten to match changed rows; the record cannot.
    """
    recorded = recorded_version(manifest.version)
    if recorded is None or recorded.digest is None or manifest.part:
        return
    found = {name: entry.digest for name, entry in manifest.tables.items()}
    names = {*found, *recorded.tables} if recorded.tables else set()
    other = sorted(name for name in names if found.get(name) != recorded.tables.get(name))
    if other or manifest.digest != recorded.digest:
        yield (
            f"{folder} is not version {manifest.version} as it was published: the rows of "
            f"{', '.join(other) or 'its tables'} differ from the record in releases/{manifest.version}.yaml; "
            "download or build it again"
        )


def warn_of_withdrawal(version: str) -> None:
    """Issue ``WithdrawnVersionWarning`` if the package's record says that a version was withdrawn."""
    recorded = recorded_version(version)
    if recorded is None or recorded.withdrawn is None:
        return
    names = (path.stem for path in (find_source(PACKAGE / "data") / "releases").glob("*.yaml"))
    records = filter(None, (recorded_version(name) for name in names if is_number(name)))
    catalog = Catalog(axes=(), genders=(), families=(), releases=tuple(records))
    warnings.warn(str(catalog.withdrawal(version)), WithdrawnVersionWarning, stacklevel=3)


def recorded_version(version: str) -> ReleaseFile | None:
    """The package's record of a version; None if it is missing or unreadable.

    The record is in the terms shipped with the package, or in the checkout around
    an editable install. It does not depend on the current folder.
    """
    try:
        path = find_source(PACKAGE / "data") / "releases" / f"{version}.yaml"
        return ReleaseFile.model_validate(read_document(path, str(path)).data) if path.is_file() else None
    except (SourceError, ValidationError):
        return None
