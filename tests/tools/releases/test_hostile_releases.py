"""Releases made to hang, to take all memory, or to pass for a published version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias.cli import main
from holisticbias.errors import HubError, ReleaseError
from holisticbias.release.hub import Address, fetch_release
from holisticbias.release.manifest import file_entry
from holisticbias.release.verify import verify_release
from loopback_hub import Hub
from signed import sign_digests

Build = Callable[..., Path]
SENTENCES = "data/sentences.parquet"


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
