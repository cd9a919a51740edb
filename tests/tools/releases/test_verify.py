import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from holisticbias import open_release
from holisticbias.cli import main
from holisticbias.errors import ReleaseError
from holisticbias.release.manifest import FileEntry, checksums, file_entry, read_manifest, write_manifest
from holisticbias.release.verify import verify_release

Build = Callable[..., Path]


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def rewrite_rows(folder: Path) -> None:
    """Change rows, and rewrite the manifest and checksums to match."""
    path = folder / "data" / "nouns.parquet"
    table = pq.read_table(path)
    pq.write_table(table.slice(0, table.num_rows - 1), path)
    manifest = read_manifest(folder)
    for name in ("manifest.json", "SHA256SUMS"):
        (folder / name).unlink()
    write_manifest(manifest, folder)


def add_to_manifest(folder: Path, **values: object) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8")) | values
    path.write_text(json.dumps(manifest), "utf-8")
    (folder / "SHA256SUMS").write_text(checksums(read_manifest(folder), file_entry(path)), "utf-8")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "flipped byte in a table": (
        lambda f: flip(f / "data/sentences.parquet", 200),
        "sentences.parquet differs from the manifest",
    ),
    "flipped byte in the card": (lambda f: flip(f / "README.md", 30), "README.md differs from the manifest"),
    "flipped byte in the checksums": (lambda f: flip(f / "SHA256SUMS", 3), "SHA256SUMS does not match manifest.json"),
    "flipped byte in the manifest's version of pyarrow": (
        lambda f: flip(f / "manifest.json", (f / "manifest.json").read_bytes().rindex(b"pyarrow") + 12),
        "manifest.json does not match SHA256SUMS",
    ),
    "missing table": (lambda f: (f / "data/nouns.parquet").unlink(), "nouns.parquet is missing"),
    "missing checksums": (lambda f: (f / "SHA256SUMS").unlink(), "SHA256SUMS is missing"),
    "missing manifest": (lambda f: (f / "manifest.json").unlink(), "has no manifest.json"),
    "extra file": (lambda f: (f / "data/more.parquet").write_bytes(b"x"), "more.parquet is not part of the release"),
    "truncated Parquet": (
        lambda f: (f / "data/sentences.parquet").write_bytes((f / "data/sentences.parquet").read_bytes()[:-9]),
        "sentences.parquet differs from the manifest",
    ),
    "other rows, checksums made to fit": (rewrite_rows, "the table nouns has 1 rows, not 2"),
    "a digest that is not the tables'": (lambda f: add_to_manifest(f, digest="0" * 64), "digest does not match"),
    "a manifest that leads outside": (
        lambda f: add_to_manifest_raw(f, '"README.md":', '"../README.md":'),
        "not a plain path inside the release",
    ),
    "a manifest that is not JSON": (lambda f: (f / "manifest.json").write_text("{"), "is not a manifest of a release"),
    "a later manifest format": (
        lambda f: add_to_manifest_raw(f, '"schema_version": 1', '"schema_version": 2'),
        "schema_version",
    ),
}


def add_to_manifest_raw(folder: Path, old: str, new: str) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_release_gives_one_line_and_exit_code_1(build: Build, damage: str) -> None:
    folder = build()
    assert verify_release(folder) == ()
    spoil, expected = DAMAGES[damage]
    spoil(folder)
    findings = verify_release(folder)
    assert len(findings) == 1
    assert expected in findings[0]
    assert main(["verify", str(folder)]) == 1


@pytest.mark.parametrize("damage", [name for name in DAMAGES if "digest" not in name and "extra" not in name])
def test_a_damaged_release_does_not_open(build: Build, damage: str) -> None:
    if damage == "other rows, checksums made to fit":
        pytest.skip("opening checks the files; verify checks the rows too")
    folder = build()
    DAMAGES[damage][0](folder)
    with pytest.raises(ReleaseError):
        open_release(folder)


def test_a_manifest_of_another_version_gives_one_line(build: Build) -> None:
    folder, other = build("one", "0.2.0"), build("two", "0.1.0")
    for name in ("manifest.json", "SHA256SUMS"):
        shutil.copy(other / name, folder / name)
    (finding,) = verify_release(folder)
    assert "manifest.json is of version 0.1.0, but the data are of 0.2.0" in finding


def test_a_table_of_another_version_gives_one_line(build: Build) -> None:
    folder, other = build("one", "0.2.0"), build("two", "0.1.0")
    shutil.copy(other / "data/sentences.parquet", folder / "data/sentences.parquet")
    (finding,) = verify_release(folder)
    assert "sentences.parquet differs from the manifest" in finding


def test_a_release_of_another_version_than_asked_for_gives_one_line(build: Build) -> None:
    folder = build("one", "0.1.0")
    (finding,) = verify_release(folder, "0.2.0")
    assert "of version 0.1.0, not of 0.2.0" in finding


def test_verify_says_what_is_whole_and_cannot_run_on_nothing(build: Build, tmp_path: Path) -> None:
    folder = build()
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("a repository's own files are not part of the release", "utf-8")
    assert main(["verify", str(folder), "--version", "0.2.0"]) == 0
    assert main(["verify", str(tmp_path / "nothing")]) == 2


def test_checksums_are_those_of_sha256sum(build: Build) -> None:
    folder = build()
    lines = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines())
    assert {name: FileEntry(bytes=(folder / name).stat().st_size, sha256=s) for name, s in lines.items()} == {
        name: file_entry(folder / name) for name in lines
    }
    assert set(lines) == {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - {"SHA256SUMS"}
