"""Open a release from a folder or from the Hugging Face Hub, and check it."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pyarrow as pa

from holisticbias.compile.columns import decoded
from holisticbias.compile.companion_tables import COMPANIONS
from holisticbias.errors import ReleaseError
from holisticbias.release.hub import fetch_release, hub_address
from holisticbias.release.manifest import SHARDED, TABLES, Manifest, read_manifest
from holisticbias.release.parquet import read_parquet
from holisticbias.release.published_record import record_findings
from holisticbias.release.release import Release
from holisticbias.release.verify import file_findings, footer_finding, version_findings


def open_release(release: Path | str) -> Release:
    """Open and check the release in a folder, or ``"organisation/name@1.0.0"`` from the Hugging Face Hub.

    The table ``intersections`` is not read: see ``Release.shards``. Raises
    ``ReleaseError`` if the folder is not a release, a file differs from the
    manifest, or the rows of a published version differ from its record in the
    installed package; ``HubError`` if the Hub does not have the version, or cannot
    be reached and the version is not in the cache.
    """
    folder = find_release(release)
    manifest = read_manifest(folder)
    damaged = (finding for _, finding in file_findings(folder, manifest))
    for finding in chain(version_findings(folder, manifest), damaged, record_findings(folder, manifest)):
        raise ReleaseError(finding)
    return Release(manifest, _read_tables(folder, manifest), folder)


def find_release(release: Path | str) -> Path:
    """The folder of a release; a version on the Hub is downloaded if it is not in the cache."""
    address = hub_address(str(release))
    return Path(release) if address is None else fetch_release(address)


def _read_tables(folder: Path, manifest: Manifest) -> dict[str, pa.Table]:
    try:
        for name, entry in manifest.tables.items():
            finding = footer_finding(folder, name, entry)
            if finding is not None:
                raise ReleaseError(finding)
        return {
            name: _as_compiled(name, read_parquet(folder / entry.files[0]))
            for name, entry in manifest.tables.items()
            if name not in SHARDED
        }
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(f"{folder}: a table cannot be read: {error}") from error


def _as_compiled(name: str, table: pa.Table) -> pa.Table:
    """Restore the column types of compiled tables: plain text for entries, dictionaries for sentences."""
    return decoded(table) if name in (*TABLES, *COMPANIONS, "history") else table
