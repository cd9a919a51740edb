"""Compile one version of a catalog, or a part of it, into a release."""

from __future__ import annotations

from collections.abc import Sequence

from holisticbias.compile.companion_tables import companion_tables
from holisticbias.compile.digest import lazy_digest, release_digest
from holisticbias.compile.filters import conditions_text, parse_conditions, select
from holisticbias.compile.history_table import history_table
from holisticbias.compile.lazy_tables import InMemory, LazyTables
from holisticbias.compile.tables import compile_tables
from holisticbias.release.manifest import DIGESTED, Manifest, TableEntry, written_with
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog


def build_release(
    catalog: Catalog,
    version: str | None = None,
    subset: str | None = None,
    where: Sequence[str] = (),
    source_commit: str | None = None,
) -> Release:
    """Compile one version of a catalog, the newest by default, or a part of it.

    ``subset`` names a file in ``subsets/``; ``where`` are filters, see
    ``holisticbias.compile.filters``. A whole version also has the tables ``small``
    (the sentences of the subset of that name) and ``history``, and from layout 4 on
    ``collections``, ``prompts`` and ``specifications``, if it has such entries. Sentences
    are made when they are asked for. Raises ``UnknownVersionError`` for an unknown version or
    subset, and ``UnknownTermError`` for a filter that matches nothing.
    """
    version = newest_version(catalog) if version is None else version
    conditions = parse_conditions(where)
    selected = select(catalog, version, conditions) if conditions else catalog
    whole = subset is None and not conditions
    tables = dict(compile_tables(selected, version, subset, catalog.subsets if whole else ()))
    if whole:
        more = {**companion_tables(catalog, version), "history": history_table(catalog, version)}
        tables |= {name: InMemory(table) for name, table in more.items()}
    counted = {name: lazy_digest(table.parts) for name, table in tables.items()}
    manifest = Manifest(
        version=version,
        date=catalog.release(version).date,
        subset=subset,
        where=conditions_text(conditions),
        digest=release_digest({name: digest for name, (_, digest) in counted.items() if name in DIGESTED}),
        tables={
            name: TableEntry(files=(f"data/{name}.parquet",), rows=rows, digest=digest)
            for name, (rows, digest) in counted.items()
        },
        source_commit=source_commit,
        written_with=written_with(),
    )
    return Release(manifest, LazyTables(tables))


def newest_version(catalog: Catalog) -> str:
    """Newest published version that is not withdrawn, else newest version."""
    return (*catalog.versions, *catalog.published, *catalog.recommended)[-1] if catalog.versions else "0.0.0"
