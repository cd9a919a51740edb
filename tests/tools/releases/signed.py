"""Manifests and checksums that fit what a test made of a release, as an attacker would write them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from holisticbias.compile.digest import table_digest
from holisticbias.release.manifest import CHECKSUMS, MANIFEST, Manifest, TableEntry, digest_of, write_manifest
from holisticbias.release.parquet import read_parquet


def sign(folder: Path, change: Callable[[dict[str, Any]], object] = lambda manifest: None) -> None:
    """Change the manifest, and write its checksums again."""
    content = json.loads((folder / MANIFEST).read_text("utf-8"))
    change(content)
    for name in (MANIFEST, CHECKSUMS):
        (folder / name).unlink(missing_ok=True)
    write_manifest(Manifest.model_validate(content), folder)


def sign_rows(folder: Path) -> None:
    """Sign the numbers of rows of the files as they are."""

    def count(manifest: dict[str, Any]) -> None:
        for entry in manifest["tables"].values():
            entry["rows"] = pq.read_metadata(folder / entry["files"][0]).num_rows

    sign(folder, count)


def sign_digests(folder: Path) -> None:
    """Sign the digests of the tables as they are."""

    def digest(manifest: dict[str, Any]) -> None:
        for entry in manifest["tables"].values():
            entry["digest"] = table_digest(read_parquet(folder / entry["files"][0]))
        entries = {name: TableEntry.model_validate(entry) for name, entry in manifest["tables"].items()}
        manifest["digest"] = digest_of(entries)

    sign(folder, digest)
