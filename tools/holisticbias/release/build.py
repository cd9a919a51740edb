"""Compile one version of a catalog, or a part of it, into a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import strings
from holisticbias.compile.companion_tables import companion_tables
from holisticbias.compile.digest import release_digest, table_digest
from holisticbias.compile.filters import conditions_text, parse_conditions, select
from holisticbias.compile.history_table import history_table
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
    ``collections``, ``prompts`` and ``specifications``, if it has such entries. Raises
    ``UnknownVersionError`` for an unknown version or subset, and
    ``UnknownTermError`` for a filter that matches nothing.
    """
    version = newest_version(catalog) if version is None else version
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


def newest_version(catalog: Catalog) -> str:
    """Newest published version, else newest version in preparation."""
    return (*catalog.versions, *catalog.published)[-1] if catalog.versions else "0.0.0"


def _whole_tables(catalog: Catalog, version: str, sentences: pa.Table) -> Mapping[str, pa.Table]:
    tables = {subset.subset: _of_descriptors(sentences, subset.descriptors) for subset in catalog.subsets}
    return {**tables, **companion_tables(catalog, version), "history": history_table(catalog, version)}


def _of_descriptors(sentences: pa.Table, descriptors: tuple[str, ...]) -> pa.Table:
    """Sentences with one of the descriptors, and sentences without a descriptor."""
    chosen = pc.is_in(sentences["descriptor_id"], value_set=strings(descriptors), skip_nulls=True)
    return sentences.filter(pc.or_(chosen, pc.is_null(sentences["descriptor_id"])))
