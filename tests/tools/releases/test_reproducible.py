"""Builds have the same bytes everywhere; full disks and read-only folders leave nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tools.releases.conftest import Build

from folders import contents
from full_disk import full_disk
from holisticbias import build_release, open_release, write_release
from holisticbias.errors import OutputError
from holisticbias.release.export import FORMATS
from holisticbias.release.intersections import Request, write_intersections
from holisticbias.terms.catalog import Catalog
from invoking import Invoke

SURROUNDINGS = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    {"PYTHONHASHSEED": "77", "TZ": "America/Los_Angeles", "LC_ALL": "C", "PYTHONUTF8": "0", "COLUMNS": "20"},
]


def test_builds_in_different_surroundings_have_the_same_bytes(
    terms: Path, tmp_path: Path, run: Callable[..., Any]
) -> None:
    built = []
    for name, surroundings in zip(("one", "a second, elsewhere"), SURROUNDINGS, strict=True):
        (tmp_path / name).mkdir()
        done = run("build", "--source", terms, "--out", "r", cwd=tmp_path / name, environment=surroundings)
        assert done.returncode == 0, done.stderr
        built.append(contents(tmp_path / name / "r"))
    assert built[0] == built[1]
    assert {"manifest.json", "SHA256SUMS", "README.md", "data/sentences.parquet"} <= set(built[0])


def test_the_card_says_what_a_version_changed_and_a_release_is_shown_in_one_line(
    catalog: Catalog, tmp_path: Path
) -> None:
    for version, subset, expected in (
        ("0.1.0", None, "This is the first version."),
        ("0.2.0", "small", "See the whole release."),
        ("0.2.0", None, "| descriptors | 1 | 1 | 0 |\n| nouns | 0 | 0 | 0 |\n| templates | 1 | 0 | 0 |\n"),
    ):
        release, folder = build_release(catalog, version, subset), tmp_path / f"{version}{subset}"
        write_release(release, folder)
        assert expected in (folder / "README.md").read_text("utf-8")
        shown = f"{version}{' (small)' if subset else ''}: {release.sentences.num_rows} sentences"
        assert repr(release) == f"<HolisticBias {shown}, digest {release.digest[:12]}>" == repr(open_release(folder))


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
