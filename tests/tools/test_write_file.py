"""Files are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from holisticbias.errors import OutputError
from holisticbias.output import write_file, write_files


def test_a_file_is_written_over_an_old_one_with_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "new" / "x.txt"
    for content in (b"one", b"two"):
        write_file(target, content)
        assert target.read_bytes() == content
    assert list(target.parent.iterdir()) == [target]
    assert target.stat().st_mode & 0o444


@pytest.mark.parametrize(("name", "says"), [(".", "is a folder: name a file"), ("file/x.txt", "cannot write to")])
def test_what_cannot_be_written_is_said(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(OutputError, match=says):
        write_file(tmp_path / name, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "x.txt"
    write_file(target, b"old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(target, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["x.txt"]
    assert target.read_bytes() == b"old"


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old", "utf-8")
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(OutputError, match="cannot write"):
        write_files({tmp_path / "a": "new", tmp_path / "file" / "b": "new"})
    assert (tmp_path / "a").read_text("utf-8") == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"a", "file"}
    write_files({tmp_path / "a": "new", tmp_path / "folder" / "b": "new"})
    assert (tmp_path / "folder" / "b").read_text("utf-8") == "new"
