"""A release: the tables of one version, written to a folder and opened from it, verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import decoded, strings
from holisticbias.compile.digest import release_digest, table_digest
from holisticbias.compile.filters import conditions_text, parse_conditions, select
from holisticbias.compile.history_table import history_table
from holisticbias.compile.tables import compile_tables
from holisticbias.compile.variants import sample_sentences
from holisticbias.errors import ReleaseError
from holisticbias.output import new_folder
from holisticbias.release.card import render_card
from holisticbias.release.croissant import CROISSANT, render_croissant
from holisticbias.release.hub import fetch_release, hub_address
from holisticbias.release.manifest import (
    DIGESTED,
    SENTENCES,
    SHARDED,
    TABLES,
    Manifest,
    TableEntry,
    read_manifest,
    write_manifest,
    written_with,
)
from holisticbias.release.parquet import read_parquet, write_parquet
from holisticbias.release.published_record import record_findings
from holisticbias.release.verify import file_findings, version_findings
from holisticbias.terms.catalog import Catalog


@dataclass(frozen=True, slots=True, repr=False)
class Release:
    """One version's tables: ``sentences``, ``descriptors``, ``nouns``, ``templates`` and what follows from them."""

    manifest: Manifest
    tables: Mapping[str, pa.Table]
    folder: Path | None = None

    def __repr__(self) -> str:
        """One line: the version, which part of it, how many sentences, and how the digest begins."""
        part = f" ({self.manifest.part})" if self.manifest.part else ""
        rows = next(entry.rows for name, entry in self.manifest.tables.items() if name in SENTENCES)
        return f"<HolisticBias {self.version}{part}: {rows:,} sentences, digest {self.digest[:12]}>"

    @property
    def version(self) -> str:
        """The version, as in ``1.0.0``."""
        return self.manifest.version

    @property
    def digest(self) -> str:
        """SHA-256 of the rows of the four tables, as 64 hexadecimal digits."""
        return self.manifest.digest

    @property
    def sentences(self) -> pa.Table:
        """Every sentence, one a row; ``ReleaseError`` for a release of intersections."""
        if "sentences" not in self.tables:
            raise ReleaseError(f"this release is a part of version {self.version} without the table sentences")
        return self.tables["sentences"]

    def shards(self, name: str) -> Iterator[pa.Table]:
        """The parts of a table, one after the other, for one that is too large to hold at once."""
        if name in self.tables:
            yield self.tables[name]
            return
        for file in self.manifest.tables[name].files:
            yield read_parquet((self.folder or Path()) / file)

    def sample(self, n: int, seed: int, *, stylistic_variants: bool = False) -> pa.Table:
        """``n`` sentences drawn without replacement; see ``holisticbias.compile.variants``."""
        return sample_sentences(self.sentences, n, seed, stylistic_variants=stylistic_variants)


def build_release(
    catalog: Catalog,
    version: str | None = None,
    subset: str | None = None,
    where: Sequence[str] = (),
    source_commit: str | None = None,
) -> Release:
    """Compile one version, the newest by default, of a catalog or of one of its subsets.

    ``where`` are filters, see ``holisticbias.compile.filters``. The whole of a version has
    the tables ``small`` (the sentences of the subset of that name) and
    ``history`` too. Raises ``UnknownVersionError`` for a version or a subset
    that is not there, and ``UnknownTermError`` for a filter that nothing meets.
    """
    version = newest(catalog) if version is None else version
    conditions = parse_conditions(where)
    tables = dict(compile_tables(select(catalog, version, conditions) if conditions else catalog, version, subset))
    if subset is None and not conditions:
        tables |= _whole_tables(catalog, version, tables["sentences"])
    digests = {name: table_digest(table) for name, table in tables.items()}
    manifest = Manifest(
        version=version,
        date=catalog.release(version).date,
        subset=subset,
        where=conditions_text(conditions),
        digest=release_digest({name: digest for name, digest in digests.items() if name in DIGESTED}),
        tables={
            name: TableEntry(files=(f"data/{name}.parquet",), rows=table.num_rows, digest=digests[name])
            for name, table in tables.items()
        },
        source_commit=source_commit,
        written_with=written_with(),
    )
    return Release(manifest, tables)


def newest(catalog: Catalog) -> str:
    """The newest version of a catalog that is on record; where none is, the newest in preparation."""
    return (*catalog.versions, *catalog.published)[-1] if catalog.versions else "0.0.0"


def _whole_tables(catalog: Catalog, version: str, sentences: pa.Table) -> Mapping[str, pa.Table]:
    tables = {subset.subset: _of_descriptors(sentences, subset.descriptors) for subset in catalog.subsets}
    return {**tables, "history": history_table(catalog, version)}


def _of_descriptors(sentences: pa.Table, descriptors: tuple[str, ...]) -> pa.Table:
    """The sentences with one of the descriptors, and those with none."""
    chosen = pc.is_in(sentences["descriptor_id"], value_set=strings(descriptors), skip_nulls=True)
    return sentences.filter(pc.or_(chosen, pc.is_null(sentences["descriptor_id"])))


def write_release(release: Release, folder: Path) -> Manifest:
    """Write a release to a folder, whole or not at all, and return its manifest with the files' checksums.

    A folder that holds the same version and the same part of it is replaced;
    one that holds anything else is left alone, with ``OutputError``.
    """
    manifest = release.manifest
    axes = release.tables["descriptors"]["axis"].unique().to_pylist()
    with new_folder(folder, lambda old: holds_same(old, manifest)) as made:
        (made / "data").mkdir()
        for name, table in release.tables.items():
            label = {"version": manifest.version, "part": manifest.part, "table": name}
            write_parquet(table, made / manifest.tables[name].files[0], axes, label)
        (made / "README.md").write_text(render_card(manifest, release.tables, made), "utf-8")
        (made / CROISSANT).write_text(render_croissant(manifest, made), "utf-8")
        return write_manifest(manifest, made)


def holds_same(folder: Path, manifest: Manifest) -> bool:
    """Whether a folder holds that version and that part of it."""
    try:
        return read_manifest(folder).same_release(manifest)
    except ReleaseError:
        return False


def open_release(release: Path | str) -> Release:
    """Open a release, checked: the one in a folder, or ``"organisation/name@1.0.0"`` from the Hugging Face Hub.

    The table ``intersections`` is not read: see ``Release.shards``. Raises
    ``ReleaseError`` if there is none, it is not of the version asked for, any
    file differs from its manifest or its digests from those on record, and ``HubError`` if the Hub does not
    have it or cannot be reached while the version is not in the cache.
    """
    folder = find_release(release)
    manifest = read_manifest(folder)
    damaged = (finding for _, finding in file_findings(folder, manifest))
    for finding in chain(version_findings(folder, manifest), damaged, record_findings(folder, manifest)):
        raise ReleaseError(finding)
    try:
        tables = {
            name: _typed(name, read_parquet(folder / entry.files[0]))
            for name, entry in manifest.tables.items()
            if name not in SHARDED
        }
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(f"{folder}: a table cannot be read: {error}") from error
    for name, table in tables.items():
        if table.num_rows != manifest.tables[name].rows:
            rows = f"{table.num_rows:,} rows, not {manifest.tables[name].rows:,}"
            raise ReleaseError(f"{folder}: the table {name} has {rows}")
    return Release(manifest, tables, folder)


def _typed(name: str, table: pa.Table) -> pa.Table:
    """The table with the column types that compiling gives it: of entries plain text, of sentences dictionaries."""
    return decoded(table) if name in (*TABLES, "history") else table


def find_release(release: Path | str) -> Path:
    """The folder of a release: the one named, or that of a version on the Hub, fetched if need be."""
    address = hub_address(str(release))
    return Path(release) if address is None else fetch_release(address)
