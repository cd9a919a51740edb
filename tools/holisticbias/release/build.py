"""Compile one version of a catalog, or a part of it, into a release, and write it to a folder."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from holisticbias.compile.filters import Where, conditions_text, filter_texts, parse_conditions, select
from holisticbias.compile.lazy_tables import LazyTables, lazy_table
from holisticbias.compile.tables import compile_tables
from holisticbias.errors import OutputError, ReleaseError, SourceError, UnknownVersionError
from holisticbias.inputs import path_of
from holisticbias.output import new_folder
from holisticbias.release.card import render_card
from holisticbias.release.manifest import Manifest, ReleasePart, read_manifest, write_manifest
from holisticbias.release.parquet import write_parquet
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog


def build_release(
    catalog: Catalog,
    version: str | None = None,
    subset: str | None = None,
    where: Where = (),
    source_commit: str | None = None,
) -> Release:
    """Compile one version of a catalog, the newest by default, or a part of it.

    ``subset`` names a file in ``subsets/``; ``where`` are filters such as
    ``"axis=age,ability"`` or ``{"axis": ["age", "ability"]}``. A whole version also has the tables ``small``
    (the sentences of the subset of that name) and ``history``, and from layout 4 on
    ``collections``, ``prompts`` and ``specifications``, if it has such entries. Sentences
    and digests are made when they are asked for. Raises ``UnknownVersionError`` for an unknown version or
    subset, and ``UnknownTermError`` for a filter that matches nothing.
    """
    if not isinstance(catalog, Catalog):
        raise SourceError(f"catalog: it must be what load_catalog gives, not {type(catalog).__name__}")
    for name, value in {"version": version, "subset": subset}.items():
        if value is not None and not isinstance(value, str):
            raise UnknownVersionError(f"{name}: it must be a text, not {type(value).__name__}")
    version = newest_version(catalog) if version is None else version
    conditions = parse_conditions(filter_texts(where))
    selected = select(catalog, version, conditions, subset)
    tables = compile_tables(selected, version, whole=subset is None and not conditions)
    date, where = catalog.release(version).date, conditions_text(conditions)
    part = ReleasePart(version=version, date=date, subset=subset, where=where)
    return Release(part, LazyTables(tables), source_commit=source_commit)


def newest_version(catalog: Catalog) -> str:
    """Newest published version that is not withdrawn, else newest version."""
    return (*catalog.versions, *catalog.published, *catalog.recommended)[-1] if catalog.versions else "0.0.0"


def write_release(release: Release, folder: Path | str) -> Manifest:
    """Write a release to a folder, whole or not at all, and return its manifest with the files' checksums.

    Replaces a folder that holds the same part of the same version. Raises
    ``OutputError`` for a folder that holds anything else.
    """
    if not isinstance(release, Release):
        raise ReleaseError(
            f"release: it must be what build_release or open_release gives, not {type(release).__name__}"
        )
    with (
        ThreadPoolExecutor(1) as threads,
        new_folder(path_of("folder", folder, OutputError), lambda old: holds_same(old, release.about)) as made,
    ):
        # digests take about as long as files, which need them at the end
        digested = threads.submit(lambda: release.manifest)
        (made / "data").mkdir()
        for name in release.tables:
            parts = lazy_table(release.tables, name).parts()
            write_parquet(parts, made / release.file(name), release.about.label(name))
        manifest = digested.result()
        (made / "README.md").write_text(render_card(manifest, release.tables, made, release.counts), "utf-8")
        return write_manifest(manifest, made)


def holds_same(folder: Path, part: ReleasePart) -> bool:
    """Whether a folder holds that part of that version."""
    try:
        return read_manifest(folder).same_release(part)
    except ReleaseError:
        return False
