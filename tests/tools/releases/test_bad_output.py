"""Full disks, read-only folders, and two builds at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from full_disk import full_disk
from holisticbias.errors import OutputError
from holisticbias.release.export import FORMATS
from holisticbias.release.intersections import Request, write_intersections
from holisticbias.terms.catalog import Catalog
from invoking import Invoke

Build = Callable[..., Path]


@pytest.mark.parametrize("more", [(), ("--intersections", "all")])
def test_a_disk_that_fills_up_gives_one_line_and_leaves_no_release(
    terms: Path, tmp_path: Path, invoke: Invoke, more: tuple[str, ...]
) -> None:
    with full_disk(3_000):
        error = invoke.refused("build", "--source", terms, "--out", tmp_path / "r", *more)
    assert error.count("\n") == 1
    assert "cannot write" in error
    assert not (tmp_path / "r").exists()
    assert not [*tmp_path.rglob("*.unfinished")]  # frees space on the full disk


@pytest.mark.parametrize("style", FORMATS)
def test_an_export_that_finds_no_room_names_what_was_asked_for(
    build: Build, tmp_path: Path, invoke: Invoke, style: str
) -> None:
    folder, out = build("r"), tmp_path / "out"
    with full_disk(3_000):
        error = invoke.refused("export", folder, "--format", style, "--out", out)
    assert error == f"holisticbias: cannot write {out}: File too large\n"
    assert [p.name for p in tmp_path.iterdir()] == ["r"]


def test_intersections_where_nothing_can_be_written_say_that_nothing_is_kept(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", "utf-8")
    with pytest.raises(OutputError, match=r"cannot write to .*file: it is not a folder$"):
        write_intersections(catalog, Request("0.2.0", "all"), tmp_path / "file" / "r")


def test_a_read_only_folder_is_refused_before_anything_is_read(
    tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holisticbias.output.os.access", lambda *_: False)
    error = invoke.refused("site", "--release", "missing", "--out", tmp_path / "new" / "site")
    assert error == f"holisticbias: cannot write to {tmp_path}: it is read-only\n"
