"""Open a release from a folder or from the Hugging Face Hub, and check it."""

import warnings
from itertools import chain
from pathlib import Path

from holisticbias.compile.lazy_tables import LazyTables
from holisticbias.errors import ReleaseError, WithdrawnVersionWarning
from holisticbias.inputs import file_stamp, path_of, refuse_unreadable
from holisticbias.release import verify
from holisticbias.release.build import build_release
from holisticbias.release.hub import fetch_release, hub_address
from holisticbias.release.manifest import SHARDED, Manifest, read_manifest
from holisticbias.release.release import Release
from holisticbias.release.stored_table import StoredTable
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import is_version


def open_release(release: Path | str, catalog: Catalog | None = None) -> Release:
    """Open the release in a folder, or ``"organisation/name@1.0.0"`` from the Hugging Face Hub, or compile a version.

    A version such as ``"1.0.0"`` is compiled from ``catalog``, by default the installed terms. Of a folder it checks
    every file against the manifest, but reads a table only when it is used; a download is verified whole. The
    table ``intersections`` is never read whole: see ``Release.shards``. Raises
    ``UnknownVersionError`` for an unknown version; ``ReleaseError`` if the folder is not a release, a file differs
    from the manifest, or the digests of a published version differ from its record in the
    installed package; ``HubError`` if the Hub does not have the version, or cannot
    be reached and the version is not in the cache. Issues ``WithdrawnVersionWarning`` for a
    version that the installed package knows to be withdrawn.
    """
    if is_version(str(release)) and not Path(release).exists():
        terms = load_catalog() if catalog is None else catalog
        built = build_release(terms, str(release))
        if (withdrawal := terms.withdrawal(str(release))) is not None:
            warnings.warn(withdrawal, WithdrawnVersionWarning, stacklevel=2)
        return built
    folder = find_release(release)
    manifest = read_manifest(folder)
    tables = _lazy_tables(folder, manifest)
    damaged = (finding for _, finding in verify.file_findings(folder, manifest))
    for finding in chain(verify.version_findings(folder, manifest), damaged, verify.record_findings(folder, manifest)):
        raise ReleaseError(finding)
    with refuse_unreadable(f"{folder}: a table", ReleaseError):
        for name, entry in manifest.tables.items():
            verify.check_footers(folder, name, entry)
    verify.warn_of_withdrawal(manifest.version)
    sharded = {name: tables.pop(name) for name in SHARDED & tables.keys()}
    return Release(manifest, LazyTables(tables), folder, manifest.source_commit, sharded)


def find_release(release: Path | str) -> Path:
    """The folder of a release; a version on the Hub is downloaded if it is not in the cache."""
    folder, address = path_of("release", release, ReleaseError), hub_address(str(release))
    return folder if address is None else fetch_release(address)


def _lazy_tables(folder: Path, manifest: Manifest) -> dict[str, StoredTable]:
    """The tables of a folder, with the state of their files before they are checked."""
    return {
        name: StoredTable(name, {folder / file: file_stamp(folder / file) for file in entry.files})
        for name, entry in manifest.tables.items()
    }
