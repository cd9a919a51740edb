"""The record ``Release``: one version, or a part of it, as tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.counts import Count, count_texts
from holisticbias.compile.digest import lazy_digest
from holisticbias.compile.lazy_tables import lazy_table
from holisticbias.compile.variants import sample_sentences
from holisticbias.errors import ReleaseError
from holisticbias.release.manifest import SENTENCES, Manifest, ReleasePart, TableEntry, table_file
from holisticbias.release.parquet import read_parquet
from holisticbias.release.stored_table import StoredTable


@dataclass(frozen=True, repr=False)
class Release:
    """The tables of one version: ``sentences``, ``descriptors``, ``nouns``, ``templates`` and tables made from them.

    From layout 4 on it also has ``collections``, ``prompts`` and ``specifications``, if the version has such entries.
    A table is made or read when it is first used, and kept.

    ``about`` names the version and the part; it is the manifest of a release that was opened from a folder.
    ``folder`` is that folder, null if the release was built. ``source_commit`` is the commit of the terms. ``sharded``
    has the tables of the folder that are too large to read whole.
    """

    about: ReleasePart
    tables: Mapping[str, pa.Table]
    folder: Path | None = None
    source_commit: str | None = None
    sharded: Mapping[str, StoredTable] = field(default_factory=dict)

    def __repr__(self) -> str:
        """One line: version, part, number of sentences, start of the digest."""
        part = f" ({self.about.part})" if self.about.part else ""
        rows = next(entry.rows for name, entry in self.manifest.tables.items() if name in SENTENCES)
        return f"<HolisticBias {self.version}{part}: {rows:,} sentences, digest {self.digest[:12]}>"

    @property
    def version(self) -> str:
        """The version, as in ``1.0.0``."""
        return self.about.version

    @cached_property
    def manifest(self) -> Manifest:
        """Tables, digests and files; the digests of a release that was built are computed now."""
        if isinstance(self.about, Manifest):
            return self.about
        entries = {name: TableEntry.of(name, *lazy_digest(lazy_table(self.tables, name).parts)) for name in self.tables}
        return Manifest.of(self.about, entries, self.source_commit)

    def file(self, name: str) -> str:
        """The file of a table in the folder of the release; the first, if it has several."""
        return self.about.tables[name].files[0] if isinstance(self.about, Manifest) else table_file(name)

    @property
    def digest(self) -> str:
        """SHA-256 of the rows of the tables with entries and sentences, as 64 hexadecimal digits."""
        return self.manifest.digest

    @property
    def sentences(self) -> pa.Table:
        """Every sentence, one per row; ``ReleaseError`` for a release of intersections.

        A release that was opened reads them now: ``ReleaseError`` also if the file has changed or cannot be read.
        """
        if "sentences" not in self.tables:
            raise ReleaseError(f"this part of version {self.version} ({self.manifest.part}) has no table sentences")
        return self.tables["sentences"]

    @cached_property
    def counts(self) -> tuple[Count, ...]:
        """Number of rows and of different texts of each kind; empty for a release without ``noun_phrases``."""
        return count_texts(self.tables) if "noun_phrases" in self.tables else ()

    def shards(self, name: str) -> Iterator[pa.Table]:
        """The parts of a table one by one, for a table that is too large to hold at once.

        A part of ``intersections`` is one file. A part of another table has at most 131,072 rows, unless the table is
        in memory: then it is the only part. Raises ``ReleaseError`` if there is no such table.
        """
        if name in self.tables:
            yield from lazy_table(self.tables, name).parts()
            return
        if name not in self.sharded:
            known = ", ".join([*self.tables, *self.sharded])
            raise ReleaseError(f"version {self.version} has no table {name!r}; it has {known}")
        yield from map(read_parquet, self.sharded[name].unchanged())

    def small(self) -> "Release":
        """The part with the descriptors of ``subsets/small.yaml`` alone, as ``holisticbias build --small`` makes it.

        Raises ``ReleaseError`` if the release has no table ``small``: only a whole release has one.
        """
        if "small" not in self.tables:
            raise ReleaseError("this release has no small part: name a whole release")
        sentences, descriptors = self.tables["small"], self.tables["descriptors"]
        kept = pc.is_in(descriptors["descriptor_id"], pc.unique(sentences["descriptor_id"]).cast(pa.string()))
        tables = {
            "sentences": sentences,
            "descriptors": descriptors.filter(kept),
            **{name: self.tables[name] for name in ("nouns", "templates")},
        }
        named = self.about.model_dump(include={*ReleasePart.model_fields}) | {"subset": "small"}
        return Release(ReleasePart(**named), tables, source_commit=self.source_commit)

    def sample(self, n: int, seed: int, *, stylistic_variants: bool = False) -> pa.Table:
        """``n`` sentences drawn without replacement; see ``holisticbias.compile.variants``."""
        return sample_sentences(self.sentences, n, seed, stylistic_variants=stylistic_variants)
