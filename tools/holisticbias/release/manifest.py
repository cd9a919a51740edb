"""``manifest.json`` and ``SHA256SUMS``: the contents of a release and the checksums of its files."""

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError

from holisticbias.compile.digest import release_digest
from holisticbias.errors import ReleaseError
from holisticbias.inputs import file_sha256, require_file
from holisticbias.source.schema_messages import first_fault
from holisticbias.terms.entries import Record
from holisticbias.terms.file_kinds import COMPANIONS, TERMS
from holisticbias.terms.version_files import Sha256
from holisticbias.terms.versions import Version

MANIFEST = "manifest.json"
CHECKSUMS = "SHA256SUMS"
LARGEST_MANIFEST = 64_000_000  # bytes
SCHEMA_VERSION: Literal[1] = 1

# The release's digest covers the rows of DIGESTED tables; others are made from them, or grow with each version.
SENTENCES = {"sentences", "intersections"}  # a release has one of the two
SHARDED = {"intersections"}  # several files; the digest covers the texts only
DIGESTED = {*SENTENCES, *TERMS, *COMPANIONS}


def _inside(name: str) -> str:
    path = PurePosixPath(name)
    odd = {"..", "."} & set(path.parts) or {"\\", "\0"} & set(name) or path.as_posix() != name
    if odd or path.is_absolute() or not path.parts:
        raise ValueError(f"{name!r} is not a plain path inside the release")
    return name


FileName = Annotated[str, AfterValidator(_inside)]


class TableEntry(Record):
    """A table: files, number of rows, and digest of the rows (for ``intersections``, of the texts)."""

    files: tuple[FileName, ...] = Field(min_length=1)
    rows: int = Field(ge=0)
    digest: Sha256

    @classmethod
    def of(cls, name: str, rows: int, digest: str) -> "TableEntry":
        """The entry of a table in one file, which has the table's name."""
        return cls(files=(table_file(name),), rows=rows, digest=digest)


def table_file(name: str) -> str:
    """The file of a table that is in one file."""
    return f"data/{name}.parquet"


class FileEntry(Record):
    """A file: size and SHA-256."""

    bytes: int = Field(ge=0)
    sha256: Sha256


class ReleasePart(Record):
    """A version, or a part of one.

    ``subset``, ``where``, ``intersections`` and ``sample`` say which part; all are
    empty for a whole release.
    """

    name: Literal["holisticbias"] = "holisticbias"
    version: Version
    date: str | None = None
    subset: str | None = None
    where: tuple[str, ...] = ()
    intersections: str | None = None
    sample: str | None = None
    schema_version: Literal[1] = SCHEMA_VERSION

    @property
    def part(self) -> str:
        """Description of the part; empty for a whole release."""
        named = [
            self.subset,
            *self.where,
            f"intersections {self.intersections}" if self.intersections else None,
            f"sample {self.sample}" if self.sample else None,
        ]
        return ", ".join(name for name in named if name)

    def label(self, table: str) -> dict[str, str]:
        """Metadata of each Parquet file of a table: version, part and table."""
        return {"version": self.version, "part": self.part, "table": table}

    def same_release(self, other: "ReleasePart") -> bool:
        """Whether the other is the same part of the same version."""
        return (self.version, self.part) == (other.version, other.part)


class Manifest(ReleasePart):
    """The tables and files of a release.

    ``source_commit`` is the commit of the terms, null if they had uncommitted changes or were not in a git repository.
    """

    digest: Sha256
    tables: dict[str, TableEntry]
    files: dict[FileName, FileEntry] = Field({})
    source_commit: str | None = None
    written_with: dict[str, str]

    @classmethod
    def of(cls, part: ReleasePart, tables: Mapping[str, TableEntry], source_commit: str | None) -> "Manifest":
        """The manifest of a part that has these tables, and no files yet."""
        return cls(
            **part.model_dump(),
            digest=digest_of(tables),
            tables=dict(tables),
            source_commit=source_commit,
            written_with=written_with(),
        )

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each table."""
        return {name: entry.digest for name, entry in self.tables.items()}


def digest_of(tables: Mapping[str, TableEntry]) -> str:
    """The digest of a release with these tables."""
    return release_digest({name: entry.digest for name, entry in tables.items() if name in DIGESTED})


def written_with() -> dict[str, str]:
    """Versions of the packages that determine the bytes of a release."""
    return {name: version(name) for name in ("holisticbias", "pyarrow")}


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of the release in a folder; ``ReleaseError`` if it is missing or invalid."""
    try:
        content = require_file(folder / MANIFEST, LARGEST_MANIFEST).read_text("utf-8")
    except FileNotFoundError as error:
        what = "has no manifest.json" if folder.is_dir() else "does not exist"
        fix = "make one with holisticbias build, or name one on the Hub: organisation/name@version"
        raise ReleaseError(f"{folder} is not a release: it {what}; {fix}") from error
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ReleaseError(f"{folder / MANIFEST} cannot be read: {reason}") from error
    try:
        manifest = Manifest.model_validate_json(content)
    except ValidationError as error:
        raise ReleaseError(
            f"{folder / MANIFEST} is not a manifest of a release: {first_fault(error)}; download or build it again"
        ) from error
    _check_tables(folder / MANIFEST, manifest)
    return manifest


def _check_tables(path: Path, manifest: Manifest) -> None:
    missing = [name for name in TERMS if name not in manifest.tables]
    if missing or not SENTENCES & set(manifest.tables):
        raise ReleaseError(f"{path} does not list the tables sentences, {', '.join(TERMS)}")
    for name in (file for entry in manifest.tables.values() for file in entry.files):
        if name not in manifest.files:
            raise ReleaseError(f"{path} gives no checksum for {name}")
    if digest_of(manifest.tables) != manifest.digest:
        raise ReleaseError(f"{path}: the release's digest does not match its tables; download or build it again")


def write_manifest(manifest: Manifest, folder: Path) -> Manifest:
    """Write the manifest, with checksums of all other files in the folder, and ``SHA256SUMS``."""
    named = (name for name in file_names(folder) if name not in {MANIFEST, CHECKSUMS})  # of a build that was stopped
    files = {name: file_entry(folder / name) for name in named}
    manifest = manifest.model_copy(update={"files": files})
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", "utf-8")
    (folder / CHECKSUMS).write_text(checksums(manifest, file_entry(folder / MANIFEST)), "utf-8")
    return manifest


def file_names(folder: Path) -> Iterator[str]:
    """The paths of the files in a folder of a release, sorted; hidden files and folders are left out."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not path.is_dir() and not any(part.startswith(".") for part in name.parts):
            yield name.as_posix()


def checksums(manifest: Manifest, itself: FileEntry) -> str:
    """Content of ``SHA256SUMS``, in the format of ``sha256sum --check``."""
    files: Mapping[str, FileEntry] = {**manifest.files, MANIFEST: itself}
    return "".join(f"{files[name].sha256}  {name}\n" for name in sorted(files))


def file_entry(path: Path) -> FileEntry:
    """Size and SHA-256 of a file."""
    return FileEntry(sha256=file_sha256(path), bytes=path.stat().st_size)
