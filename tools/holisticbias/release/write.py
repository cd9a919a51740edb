"""Write a release to a folder: tables, dataset card, manifest and checksums."""

from __future__ import annotations

from pathlib import Path

from holisticbias.compile.lazy_tables import lazy_table
from holisticbias.errors import ReleaseError
from holisticbias.output import new_folder
from holisticbias.release.card import render_card
from holisticbias.release.manifest import Manifest, read_manifest, write_manifest
from holisticbias.release.parquet import write_parquet
from holisticbias.release.release import Release


def write_release(release: Release, folder: Path) -> Manifest:
    """Write a release to a folder, whole or not at all, and return its manifest with the files' checksums.

    Replaces a folder that holds the same part of the same version. Raises
    ``OutputError`` for a folder that holds anything else.
    """
    manifest = release.manifest
    with new_folder(folder, lambda old: holds_same(old, manifest)) as made:
        (made / "data").mkdir()
        for name in release.tables:
            parts = lazy_table(release.tables, name).parts()
            write_parquet(parts, made / manifest.tables[name].files[0], manifest.label(name))
        (made / "README.md").write_text(render_card(manifest, release.tables, made), "utf-8")
        return write_manifest(manifest, made)


def holds_same(folder: Path, manifest: Manifest) -> bool:
    """Whether a folder holds that part of that version."""
    try:
        return read_manifest(folder).same_release(manifest)
    except ReleaseError:
        return False
