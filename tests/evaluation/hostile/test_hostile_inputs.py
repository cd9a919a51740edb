"""Models and runs made by someone who means harm: one file each, refused with one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from holisticbias.cli import main

HERE = Path(__file__).parent
MODELS = sorted((HERE / "models").glob("*.yaml"))
RESULTS = sorted((HERE / "results").glob("*.yaml"))
assert MODELS
assert RESULTS
READERS = [("report",), ("compare",), ("leaderboard", "--contributor", "Ada", "--add")]


def read(path: Path) -> dict[str, Any]:
    case: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return case


def change(file: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(file.read_text("utf-8"))
    edit(content)
    file.write_text(json.dumps(content), "utf-8")


def assert_one_line(capsys: pytest.CaptureFixture[str], expected: str) -> None:
    error = capsys.readouterr().err
    assert expected in error
    assert "Traceback" not in error
    assert "\x1b" not in error
    assert [line for line in error.splitlines() if line.startswith("holisticbias: ")] == error.splitlines()[-1:]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model(
    path: Path, copied_model: Callable[[], Path], mini_release_folder: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    case, model = read(path), copied_model()
    change(model / "config.json", lambda config: config.update(case["config"]))
    capsys.readouterr()
    asked = ["--model", str(model), "--release", str(mini_release_folder), "--out", str(tmp_path / "out")]
    assert main(["evaluate", *asked]) == 2
    assert_one_line(capsys, case["says"])
    assert not (tmp_path / "out").exists()


def test_a_run_is_never_written_into_a_release(
    tiny_gpt2: Path, mini_release_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(mini_release_folder.rglob("*"))
    asked = ["--model", str(tiny_gpt2), "--release", str(mini_release_folder)]
    for place in ("run", "data/deep/run"):
        assert main(["evaluate", *asked, "--out", str(mini_release_folder / place)]) == 2
        assert_one_line(capsys, "is inside the release")
    assert sorted(mini_release_folder.rglob("*")) == before


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader[0])
@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_run(
    path: Path, reader: tuple[str, ...], tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case, run = read(path), Path(shutil.copytree(tiny_run, tmp_path / "run"))

    def edit(result: dict[str, Any]) -> None:
        result["figures"][0].update(case.get("figure", {}))
        result["signature"].update(case.get("signature", {}))

    change(run / "result.json", edit)
    others = [str(tiny_run)] if reader == ("compare",) else []
    assert main([*reader, str(run), *others]) == 2
    assert_one_line(capsys, case["says"])
