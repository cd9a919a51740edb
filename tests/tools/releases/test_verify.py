import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.tools.releases.conftest import Build
from tests.tools.releases.signed import sign

from holisticbias import open_release
from holisticbias.cli import main
from holisticbias.errors import ReleaseError
from holisticbias.release.manifest import CHECKSUMS, MANIFEST, FileEntry, checksums, file_entry, read_manifest
from holisticbias.release.verify import verify_release

Damage = Callable[[Path], object]


def flip(name: str, at: int | bytes) -> Damage:
    def change(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        content[at if isinstance(at, int) else content.rindex(at) + 12] ^= 1
        (folder / name).write_bytes(content)

    return change


def remove(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def write(name: str, content: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes(content)


def cut(folder: Path) -> None:
    path = folder / "data/sentences.parquet"
    path.write_bytes(path.read_bytes()[:-9])


def rewrite_rows(folder: Path) -> None:
    """Change rows, and rewrite the manifest and checksums to match."""
    path = folder / "data/nouns.parquet"
    table = pq.read_table(path)
    pq.write_table(table.slice(0, table.num_rows - 1), path)
    sign(folder)


def entry(*keys: str, value: object) -> Damage:
    """Another value in the manifest, and checksums that match it if it can be read; ``outside.txt`` exists."""

    def change(folder: Path) -> None:
        (folder.parent / "outside.txt").write_text("x")
        manifest = inner = json.loads((folder / MANIFEST).read_text("utf-8"))
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
        with suppress(ReleaseError):
            (folder / CHECKSUMS).write_text(checksums(read_manifest(folder), file_entry(folder / MANIFEST)), "utf-8")

    return change


def table(key: str, value: object) -> Damage:
    return entry("tables", "nouns", key, value=value)


def empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def become_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("release")


def terabyte(name: str) -> Damage:
    """A file of a terabyte that takes no room."""
    return lambda folder: os.truncate(folder / name, 1 << 40)


def special(name: str, make: Callable[[Path], object]) -> Damage:
    """A file of the release replaced by a folder, a pipe or a device."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return change


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


FILE = {"bytes": 1, "sha256": "0"}
VERBS = {"files": ["README.md"], "rows": 1, "digest": "0" * 64}
# what is damaged, how, the finding; no other files are looked for to open a release
ONLY_VERIFIED = ("extra file",)
DAMAGES: dict[str, tuple[Damage, str]] = {
    "table": (flip("data/sentences.parquet", 200), r"sentences.parquet differs .* it has .* build it again"),
    "card": (flip("README.md", 30), "README.md differs from the manifest"),
    "checksums": (flip(CHECKSUMS, 3), "SHA256SUMS does not match manifest.json"),
    "manifest": (flip(MANIFEST, b"pyarrow"), "manifest.json does not match SHA256SUMS"),
    "missing table": (remove("data/nouns.parquet"), "nouns.parquet is missing from the release: download or build"),
    "missing checksums": (remove(CHECKSUMS), "SHA256SUMS is missing"),
    "missing manifest": (remove(MANIFEST), "is not a release: it has no manifest.json; make one with holisticbias"),
    "extra file": (write("data/more.parquet", b"x"), "more.parquet is not part of the release"),
    "cut table": (cut, "sentences.parquet differs from the manifest"),
    "card is a folder": (special("README.md", Path.mkdir), "README.md cannot be read: it is not a regular file"),
    "other rows": (rewrite_rows, "the table nouns has 1 rows, not 2"),
    "other digest": (lambda f: sign(f, lambda m: m.update(digest="0" * 64)), "digest does not match"),
    "a path outside": (entry("files", "../outside.txt", value=FILE), r"'../outside.txt' is not a plain path inside"),
    "a path that goes back": (entry("files", "data/../../outside.txt", value=FILE), "is not a plain path inside"),
    "a path from the root": (entry("files", "/etc/passwd", value=FILE), "is not a plain path inside the release"),
    "a path of Windows": (entry("files", "data\\..\\x", value=FILE), "is not a plain path inside the release"),
    "a table outside": (table("files", ["../outside.parquet"]), "is not a plain path inside the release"),
    "a table without checksum": (table("files", ["data/nouns2.parquet"]), "no checksum for data/nouns2.parquet"),
    "a table that is the card": (table("files", ["README.md"]), "(a|the) table.* cannot be read"),
    "more rows": (table("rows", 7), "the table nouns has 2 rows, not 7"),
    "an unknown table": (entry("tables", "verbs", value=VERBS), "(a|the) table.* cannot be read"),
    "no tables": (entry("tables", value={}), "does not list the tables sentences, "),
    "another name": (entry("name", value="bold"), "is not a manifest of a release: name"),
    "another licence": (entry("licence", value="none"), "is not a manifest of a release: licence"),
    "not JSON": (write(MANIFEST, b"{"), "manifest.json is not a manifest of a release"),
    "not UTF-8": (write(MANIFEST, b"\xff\xfe"), "manifest.json cannot be read"),
    "manifest is a folder": (special(MANIFEST, Path.mkdir), "manifest.json cannot be read"),
    "a later format": (entry("schema_version", value=2), "schema_version"),
    "an empty folder": (empty, "is not a release: it has no manifest.json; make one with holisticbias build"),
    "a file": (become_a_file, "cannot be read"),
    "a pipe for a table": (special("data/sentences.parquet", os.mkfifo), "it is not a regular file"),
    "a pipe for the manifest": (special(MANIFEST, os.mkfifo), "it is not a regular file"),
    "a pipe for the checksums": (special(CHECKSUMS, os.mkfifo), "SHA256SUMS is missing"),
    "a device for a table": (special("data/sentences.parquet", device), "it is not a regular file"),
    "a device for the manifest": (special(MANIFEST, device), "it is not a regular file"),
    "a terabyte for a table": (terabyte("data/sentences.parquet"), "differs from the manifest"),
    "a terabyte for the manifest": (terabyte(MANIFEST), "more than 64,000,000"),
    "nothing": (shutil.rmtree, "is not a release: it does not exist"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_release_gives_one_line_and_does_not_open(build: Build, damage: str) -> None:
    folder = build()
    spoil, expected = DAMAGES[damage]
    spoil(folder)
    (finding,) = verify_release(folder)
    assert re.search(expected, finding)
    assert main(["verify", str(folder)]) == (1 if folder.is_dir() else 2)
    if damage not in ONLY_VERIFIED:
        with pytest.raises(ReleaseError, match=expected):
            open_release(folder)


def test_files_of_another_version_give_one_line(build: Build) -> None:
    folder, other = build("one", "0.2.0"), build("two", "0.1.0")
    (finding,) = verify_release(other, "0.2.0")
    assert "of version 0.1.0, not of 0.2.0" in finding
    shutil.copy(other / "data/sentences.parquet", folder / "data/sentences.parquet")
    (finding,) = verify_release(folder)
    assert "sentences.parquet differs from the manifest" in finding
    folder = build("one", "0.2.0")
    for name in (MANIFEST, CHECKSUMS):
        shutil.copy(other / name, folder / name)
    (finding,) = verify_release(folder)
    assert "manifest.json is of version 0.1.0, but the data are of 0.2.0" in finding


def test_an_intact_release(build: Build) -> None:
    folder = build()
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("a repository's own files are not part of the release", "utf-8")
    (folder / "data" / ".DS_Store").write_bytes(b"nor are those of a file manager")
    assert main(["verify", str(folder), "--version", "0.2.0"]) == 0
    lines = dict(line.split("  ")[::-1] for line in (folder / CHECKSUMS).read_text("utf-8").splitlines())
    assert {name: FileEntry(bytes=(folder / name).stat().st_size, sha256=s) for name, s in lines.items()} == {
        name: file_entry(folder / name) for name in lines
    }
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert set(lines) == there - {CHECKSUMS, ".git/config", "data/.DS_Store"}
    manifest = read_manifest(folder)
    assert set(manifest.files) == set(lines) - {MANIFEST}
    assert {n: t.rows for n, t in manifest.tables.items()} == {
        n: table.num_rows for n, table in open_release(folder).tables.items()
    }
