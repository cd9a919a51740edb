"""Releases made to hang, to take all memory, or to pass for a published version."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias import open_release
from holisticbias.cli import main
from holisticbias.errors import HubError, ReleaseError
from holisticbias.release.hub import Address, fetch_release
from holisticbias.release.manifest import file_entry
from holisticbias.release.verify import verify_release
from loopback_hub import Hub
from signed import sign_digests, sign_rows

Build = Callable[..., Path]
SENTENCES = "data/sentences.parquet"


def write_rows(folder: Path, table: pa.Table, **settings: object) -> None:
    pq.write_table(table, folder / SENTENCES, **settings)
    sign_rows(folder)


def many_rows(folder: Path) -> None:
    """Two million rows in some kilobytes."""
    table = pq.read_table(folder / SENTENCES).slice(0, 1)
    write_rows(folder, table.take(pa.array([0] * 2_000_000)), compression="zstd")


def wide_rows(folder: Path) -> None:
    """A text of 200 MB in some kilobytes."""
    table = pq.read_table(folder / SENTENCES).slice(0, 2)
    texts = pa.array(["a" * 100_000_000, "b" * 100_000_000])
    write_rows(folder, table.set_column(0, "text", texts), compression="zstd", use_dictionary=False)


def one_column(folder: Path) -> None:
    write_rows(folder, pa.table({"x": pa.array([1, 2], pa.int64())}))


def other_type(folder: Path) -> None:
    table = pq.read_table(folder / SENTENCES)
    write_rows(folder, table.set_column(0, "text", pa.array(range(table.num_rows), pa.int64())))


def metadata(content: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        table = pq.read_table(folder / SENTENCES)
        write_rows(folder, table.replace_schema_metadata({b"huggingface": content, b"holisticbias": content}))

    return change


def wrong_class(folder: Path) -> None:
    """An axis by a number that no name has."""
    path = folder / SENTENCES
    table = pq.read_table(path)
    place = table.column_names.index("axis")
    changed = table.set_column(place, "axis", pa.array([10**6] * table.num_rows, pa.int64()))
    features = {"info": {"features": {"axis": {"_type": "ClassLabel", "names": ["ability"]}}}}
    classes = {b"huggingface": json.dumps(features).encode()}
    write_rows(folder, changed.replace_schema_metadata({**pq.read_schema(path).metadata, **classes}))


def replaced(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    """A file of the release replaced by a pipe, or by a device."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return change


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def terabyte(name: str) -> Callable[[Path], None]:
    """A file of a terabyte that takes no room."""
    return lambda folder: os.truncate(folder / name, 1 << 40)


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "rows": (many_rows, "declares 2,000,000 rows"),
    "texts": (wide_rows, "expands from"),
    "one column": (one_column, "the table sentences has no column text"),
    "another type": (other_type, "a column text of the type int64"),
    "metadata that is a list": (metadata(b"[]"), "does not have the form of datasets"),
    "metadata that is not JSON": (metadata(b"{"), "does not have the form of datasets"),
    "metadata nested deeply": (metadata(b"[" * 100_000), "does not have the form of datasets"),
    "classes without names": (
        metadata(b'{"info": {"features": {"axis": {"_type": "ClassLabel", "names": 3}}}}'),
        "classes without names",
    ),
    "a class that does not exist": (wrong_class, "cannot be read"),
    "a pipe for a table": (replaced(SENTENCES, os.mkfifo), "it is not a regular file"),
    "a pipe for the manifest": (replaced("manifest.json", os.mkfifo), "it is not a regular file"),
    "a pipe for the checksums": (replaced("SHA256SUMS", os.mkfifo), "SHA256SUMS is missing"),
    "a device for a table": (replaced(SENTENCES, device), "it is not a regular file"),
    "a device for the manifest": (replaced("manifest.json", device), "it is not a regular file"),
    "a terabyte for a table": (terabyte(SENTENCES), "differs from the manifest"),
    "a terabyte for the manifest": (terabyte("manifest.json"), "more than 64,000,000"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_one_line(build: Build, case: str) -> None:
    """``verify`` finds it and ``open_release`` refuses it, at the latest when rows are read; nothing hangs."""
    change, expected = HOSTILE[case]
    folder = build()
    change(folder)
    findings = verify_release(folder)
    assert any(expected in finding for finding in findings), findings
    with pytest.raises(ReleaseError, match=expected):
        _ = open_release(folder).sentences


def test_a_part_with_other_sentences_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A part that is signed again is consistent with itself, and is not a part of the published version."""
    folder = tmp_path / "part"
    assert main(["build", "--version", "1.0.0", "--where", "axis=nonce", "--out", str(folder)]) == 0
    assert verify_release(folder) == ()
    path = folder / SENTENCES
    table = pq.read_table(path)
    changed = table.set_column(0, "text", pa.array(["other words"] * table.num_rows))
    pq.write_table(changed.replace_schema_metadata(pq.read_schema(path).metadata), path)
    sign_digests(folder)
    capsys.readouterr()
    assert main(["verify", str(folder)]) == 1
    assert "is not the part axis=nonce of version 1.0.0 as it was published" in capsys.readouterr().out


def test_only_listed_files_are_downloaded(hub: Hub, build: Build, tmp_path: Path) -> None:
    """A repository with a large file that its manifest does not list."""
    folder = build()
    (folder / "large.bin").write_bytes(b"x" * 100_000)
    publish_folder(folder)
    fetched = fetch_release(Address("org/terms", "0.2.0"))
    assert verify_release(fetched) == ()
    assert not (fetched / "large.bin").exists()
    assert file_entry(fetched / SENTENCES) == file_entry(folder / SENTENCES)


@pytest.mark.parametrize("name", [SENTENCES, "manifest.json"])
def test_a_larger_file_is_not_downloaded(hub: Hub, build: Build, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub says how large a file is before anything of it is sent."""
    folder = build()
    publish_folder(folder)
    if name == "manifest.json":
        monkeypatch.setattr("holisticbias.release.hub.LARGEST_MANIFEST", 100)
    else:
        files = hub.repositories["org/terms"].commits[hub.repositories["org/terms"].tags["v0.2.0"]]
        files[name] = replace(files[name], content=b"x" * 100_000)
    hub.requests.clear()
    with pytest.raises(ReleaseError, match=f"{name} has .* bytes, (not|more than)"):
        fetch_release(Address("org/terms", "0.2.0"))
    assert not [path for _, path in hub.requests if path.endswith(name) and "/resolve/" in path]


@pytest.mark.parametrize(
    "answer", [b"[" * 200_000, b"[]", b"null", b'{"siblings": 5}', b'{"siblings": [{}]}', b"<html>"]
)
def test_answers_of_another_form(hub: Hub, build: Build, answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of the Hub expects answers of one form."""
    publish_folder(build())
    monkeypatch.setattr("loopback_hub.as_json", lambda body, status=200: (status, {}, answer))
    with pytest.raises(HubError, match=r"the Hub at .* (cannot be used|did not answer with JSON)"):
        fetch_release(Address("org/terms", "0.2.0"))


def publish_folder(folder: Path) -> None:
    import huggingface_hub

    api = huggingface_hub.HfApi()
    api.create_repo("org/terms", repo_type="dataset")
    api.upload_folder(repo_id="org/terms", repo_type="dataset", folder_path=folder)
    api.create_tag("org/terms", repo_type="dataset", tag="v0.2.0")
