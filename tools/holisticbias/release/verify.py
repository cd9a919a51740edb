"""Check a release folder: files against the manifest, rows against digests, digests against the published version."""

import warnings
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import pyarrow as pa
from pydantic import ValidationError

from holisticbias.compile.digest import lazy_digest, texts_digest
from holisticbias.errors import HolisticBiasError, ReleaseError, SourceError, WithdrawnVersionWarning
from holisticbias.inputs import refuse_unreadable, require_file
from holisticbias.release.bounded import read_footer
from holisticbias.release.manifest import (
    CHECKSUMS,
    LARGEST_MANIFEST,
    MANIFEST,
    SHARDED,
    FileEntry,
    Manifest,
    TableEntry,
    checksums,
    file_entry,
    file_names,
    read_manifest,
)
from holisticbias.release.parquet import class_names, read_label, read_parquet
from holisticbias.release.stored_table import check_columns, checked_parts
from holisticbias.source.document import read_document
from holisticbias.source.folder import PACKAGE, find_source
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.version_files import ReleaseFile
from holisticbias.terms.versions import is_number


def verify_release(folder: Path, version: str | None = None) -> tuple[str, ...]:
    """Find errors in a release, one line each; empty if it is intact.

    Checks the manifest, the version (if given), that the folder has exactly the
    files of the manifest, the digest of each table's rows, and, for a published
    version or a part of one, the record of published versions.
    """
    try:
        manifest = read_manifest(folder)
    except ReleaseError as error:
        return (str(error),)
    other = tuple(version_findings(folder, manifest, version))
    if other:
        return other
    damaged = dict(file_findings(folder, manifest))
    whole = {name: entry for name, entry in manifest.tables.items() if damaged.keys().isdisjoint(entry.files)}
    rows = [finding for name, entry in whole.items() for finding in _table_findings(folder, name, entry)]
    findings = (*damaged.values(), *_extra_files(folder, manifest), *rows)
    return findings or (*record_findings(folder, manifest), *part_findings(folder, manifest))


def file_findings(folder: Path, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield each file that is missing or differs from the manifest, with a message."""
    itself = file_entry(folder / MANIFEST)
    try:
        found = require_file(folder / CHECKSUMS, LARGEST_MANIFEST).read_bytes()
    except OSError:
        yield CHECKSUMS, f"{folder / CHECKSUMS} is missing from the release: download or build it again"
    else:
        if found != checksums(manifest, itself).encode():
            itself_listed = f"{itself.sha256}  {MANIFEST}\n".encode() in found
            name, other = (CHECKSUMS, MANIFEST) if itself_listed else (MANIFEST, CHECKSUMS)
            yield name, f"{folder / name} does not match {other}; download or build the release again"
    for name, expected in manifest.files.items():
        yield from ((name, finding) for finding in _file_findings(folder / name, expected))


def _file_findings(path: Path, expected: FileEntry) -> Iterator[str]:
    try:
        size = require_file(path).stat().st_size
        digest = file_entry(path).sha256 if size == expected.bytes else "not computed"
    except FileNotFoundError:
        yield f"{path} is missing from the release: download or build it again"
    except OSError as error:
        yield f"{path} cannot be read: {error.strerror}"
    else:
        if (size, digest) != (expected.bytes, expected.sha256):
            yield (
                f"{path} differs from the manifest: it has {size:,} bytes and SHA-256 "
                f"{digest[:12]}, not {expected.bytes:,} and {expected.sha256[:12]}; download or build it again"
            )


def version_findings(folder: Path, manifest: Manifest, version: str | None = None) -> Iterator[str]:
    """Yield a line if the manifest's version differs from the given version, or from the version of the data."""
    files = [file for table in manifest.tables.values() for file in table.files]
    found = sorted({_version_of(folder / file) for file in files} - {""})
    if version is not None and manifest.version != version:
        yield f"{folder} is a release of version {manifest.version}, not of {version}"
    elif found and manifest.version not in found:
        yield f"{folder / MANIFEST} is of version {manifest.version}, but the data are of {' and '.join(found)}"


def _version_of(path: Path) -> str:
    """The version in the label of a file; empty if it has none or cannot be read."""
    try:
        return read_label(path).get("version", "")
    except (OSError, pa.ArrowException, ValueError, RecursionError):
        return ""


def _extra_files(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Files that are not in the manifest, except hidden ones."""
    known = {*manifest.files, MANIFEST, CHECKSUMS}
    return (
        f"{folder / name} is not part of the release: remove it" for name in file_names(folder) if name not in known
    )


def _table_findings(folder: Path, name: str, entry: TableEntry) -> Iterator[str]:
    """Yield a line if a table cannot be read, or if its rows differ from the manifest."""
    try:
        with refuse_unreadable(f"{folder}: the table {name}", ReleaseError):
            check_footers(folder, name, entry)
            rows, digest = _rows(folder, name, entry)
            _check_rows(folder, name, entry, rows)  # the footer may give another number than the data
    except ReleaseError as error:
        yield str(error)
    else:
        if digest != entry.digest:
            differs = f"their digest is {digest[:12]}, not {entry.digest[:12]}"
            yield f"{folder}: the table {name} has other rows than the manifest: {differs}"


def check_footers(folder: Path, name: str, entry: TableEntry) -> None:
    """Compare the footers of a table's files with the manifest and the columns of the table.

    Checks the number of rows, the columns and their types, and the names of classes.

    Raises ``ReleaseError`` if they differ or a file may not be read, and ``OSError`` or ``pa.ArrowException`` if a
    file cannot be read.
    """
    footers = [read_footer(folder / file) for file in entry.files]
    _check_rows(folder, name, entry, sum(footer.num_rows for footer in footers))
    for footer in footers:
        schema = footer.schema.to_arrow_schema()
        class_names(schema.metadata or {})
        check_columns(f"{folder}: the table {name}", name, schema)


def _check_rows(folder: Path, name: str, entry: TableEntry, rows: int) -> None:
    if rows != entry.rows:
        raise ReleaseError(f"{folder}: the table {name} has {rows:,} rows, not {entry.rows:,} as in the manifest")


def _rows(folder: Path, name: str, entry: TableEntry) -> tuple[int, str]:
    if name in SHARDED:
        return texts_digest(read_parquet(folder / file, ["text"]) for file in entry.files)
    return lazy_digest(lambda: chain.from_iterable(checked_parts(folder / file, name) for file in entry.files))


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
        yield (
            f"{folder} is not the part {manifest.part} of version {manifest.version} as it was published: the rows of "
            f"{_differing(manifest.digests, made.manifest.digests)} differ; download or build it again"
        )


def _differing(found: Mapping[str, str], expected: Mapping[str, str]) -> str:
    """The names of the tables whose digests differ, in words."""
    names = sorted(found.keys() | expected.keys())
    return ", ".join(name for name in names if found.get(name) != expected.get(name)) or "its tables"


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
    if manifest.digest != recorded.digest or (recorded.tables and manifest.digests != recorded.tables):
        tables = _differing(manifest.digests, recorded.tables or manifest.digests)
        yield (
            f"{folder} is not version {manifest.version} as it was published: the rows of {tables} differ from the "
            f"record in releases/{manifest.version}.yaml; download or build it again"
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
