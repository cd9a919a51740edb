"""A release: the tables of one version, written to a folder and opened from it, verified."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path, PurePosixPath
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError

from holisticbias.card import render_card
from holisticbias.catalog import Catalog
from holisticbias.compile import TABLES, compile_tables
from holisticbias.digest import release_digest, table_digest
from holisticbias.errors import ReleaseError
from holisticbias.features import schema_metadata
from holisticbias.output import new_folder
from holisticbias.variants import sample_sentences

MANIFEST = "manifest.json"
SCHEMA_VERSION = 1
_UNIQUE = ("text", "sentence_id")
_ROWS_IN_GROUP = 1 << 17


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TableEntry(_Part):
    """What the manifest says of a table; the digest is of its rows, see ``holisticbias.digest``."""

    file: str
    rows: int
    digest: str


class FileEntry(_Part):
    """What the manifest says of a file."""

    bytes: int
    sha256: str


class Manifest(_Part):
    """``manifest.json``: what a release is, and how to tell that it is whole."""

    name: Literal["holisticbias"] = "holisticbias"
    version: str
    subset: str | None
    schema_version: int
    digest: str
    tables: dict[str, TableEntry]
    files: dict[str, FileEntry] = {}
    written_with: dict[str, str]


@dataclass(frozen=True, slots=True)
class Release:
    """One version's tables: ``sentences``, ``descriptors``, ``nouns`` and ``templates``."""

    manifest: Manifest
    tables: Mapping[str, pa.Table]

    @property
    def version(self) -> str:
        """The version, as in ``1.0.0``."""
        return self.manifest.version

    @property
    def digest(self) -> str:
        """SHA-256 of the rows of all tables, as 64 hexadecimal digits."""
        return self.manifest.digest

    @property
    def sentences(self) -> pa.Table:
        """Every sentence, one a row."""
        return self.tables["sentences"]

    def sample(self, n: int, seed: int, *, stylistic_variants: bool = False) -> pa.Table:
        """``n`` sentences drawn without replacement; see ``holisticbias.variants``."""
        return sample_sentences(self.sentences, n, seed, stylistic_variants=stylistic_variants)


def build_release(catalog: Catalog, version: str | None = None, subset: str | None = None) -> Release:
    """Compile one version, the newest by default, of a catalog or of one of its subsets.

    Raises ``UnknownVersionError`` for a version or a subset that is not there.
    """
    if version is None:
        version = catalog.versions[-1] if catalog.versions else "0.0.0"
    tables = compile_tables(catalog, version, subset)
    digests = {name: table_digest(table) for name, table in tables.items()}
    manifest = Manifest(
        version=version,
        subset=subset,
        schema_version=SCHEMA_VERSION,
        digest=release_digest(digests),
        tables={
            name: TableEntry(file=f"data/{name}.parquet", rows=table.num_rows, digest=digests[name])
            for name, table in tables.items()
        },
        written_with={"holisticbias": installed_version("holisticbias"), "pyarrow": pa.__version__},
    )
    return Release(manifest, tables)


def write_release(release: Release, folder: Path) -> Manifest:
    """Write a release to a folder, whole or not at all, and return its manifest with the files' checksums.

    A folder that holds the same version and subset is replaced; one that holds
    anything else is left alone, with ``OutputError``.
    """
    axes = release.tables["descriptors"]["axis"].unique().to_pylist()
    with new_folder(folder, lambda old: _same_release(old, release.manifest)) as made:
        (made / "data").mkdir()
        for name, table in release.tables.items():
            _write_parquet(table, made / release.manifest.tables[name].file, axes)
        (made / "README.md").write_text(render_card(release.manifest.version, release.tables, made, axes), "utf-8")
        names = sorted(p.relative_to(made).as_posix() for p in made.rglob("*") if p.is_file())
        manifest = release.manifest.model_copy(update={"files": {n: _file_entry(made / n) for n in names}})
        (made / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", "utf-8")
    return manifest


def open_release(folder: Path | str) -> Release:
    """Open the release in a folder; ``ReleaseError`` if it is none, or any file differs from its manifest."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    _check_names(folder / MANIFEST, manifest)
    for name, expected in manifest.files.items():
        _check_file(folder / name, expected)
    try:
        tables = {name: _read_parquet(folder / entry.file) for name, entry in manifest.tables.items()}
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(f"{folder}: a table cannot be read: {error}") from error
    for name, entry in manifest.tables.items():
        if tables[name].num_rows != entry.rows:
            raise ReleaseError(f"{folder / entry.file} has {tables[name].num_rows:,} rows, not {entry.rows:,}")
    return Release(manifest, tables)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the release in a folder; ``ReleaseError`` if there is none."""
    try:
        content = (folder / MANIFEST).read_text("utf-8")
    except FileNotFoundError as error:
        what = "has no manifest.json" if folder.is_dir() else "does not exist"
        raise ReleaseError(f"{folder} is no release: it {what}; make one with holisticbias build") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"{folder / MANIFEST} cannot be read: {error}") from error
    try:
        return Manifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise ReleaseError(f"{folder / MANIFEST} is no manifest of a release: {where}: {first['msg']}") from error


def _same_release(folder: Path, manifest: Manifest) -> bool:
    try:
        old = read_manifest(folder)
    except ReleaseError:
        return False
    return (old.version, old.subset) == (manifest.version, manifest.subset)


def _write_parquet(table: pa.Table, path: Path, axes: list[str]) -> None:
    metadata = schema_metadata(table.schema, axes)
    pq.write_table(
        table.replace_schema_metadata(metadata),
        path,
        compression="zstd",
        compression_level=3,
        use_dictionary=[name for name in table.column_names if name not in _UNIQUE],
        row_group_size=_ROWS_IN_GROUP,
        store_schema=False,
    )


def _read_parquet(path: Path) -> pa.Table:
    names = [field.name for field in pq.read_schema(path) if field.name not in _UNIQUE and field.type == pa.string()]
    return pq.read_table(path, read_dictionary=names).replace_schema_metadata(None)


def _file_entry(path: Path) -> FileEntry:
    with path.open("rb") as file:
        return FileEntry(bytes=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest())


def _check_names(path: Path, manifest: Manifest) -> None:
    """Refuse a manifest that leads out of its folder, or whose tables are not the four with a checksum each."""
    for name in manifest.files:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or "\\" in name or "\0" in name:
            raise ReleaseError(f"{path} names {name!r}, which is no file of a release")
    if set(manifest.tables) != set(TABLES):
        raise ReleaseError(f"{path} does not list the tables {', '.join(TABLES)}")
    for entry in manifest.tables.values():
        if entry.file not in manifest.files:
            raise ReleaseError(f"{path} gives no checksum for {entry.file}")


def _check_file(path: Path, expected: FileEntry) -> None:
    if not path.is_file():
        raise ReleaseError(f"{path} is missing from the release: download or build it again")
    found = _file_entry(path)
    if found != expected:
        raise ReleaseError(
            f"{path} is not the file that the manifest names: it has {found.bytes:,} bytes and SHA-256 "
            f"{found.sha256[:12]}, not {expected.bytes:,} and {expected.sha256[:12]}; download or build it again"
        )
