"""``holisticbias report`` on a run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from invoking import Invoke


@pytest.fixture
def run_folder(tiny_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_run, tmp_path / "run", ignore=shutil.ignore_patterns("report*")))


def test_a_report_is_printed_and_written(run_folder: Path, invoke: Invoke, tmp_path: Path) -> None:
    assert "Likelihood Bias by axis" in invoke.printed("report", run_folder)
    assert (run_folder / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert invoke("report", run_folder, "--format", "csv", "--part", "by-axis")[0] == 0
    assert (run_folder / "report-by-axis.csv").read_text("utf-8").startswith("axis,")
    out = tmp_path / "made" / "x.png"
    assert invoke("report", run_folder, "--format", "png", "--out", out)[:2] == (0, f"Report: {out}\n")
    assert out.read_bytes().startswith(b"\x89PNG")
    assert invoke("report", run_folder, "--out", out.with_suffix(".md"))[0] == 0
    assert out.with_suffix(".md").read_text("utf-8").startswith("# ")


def test_what_cannot_be_made_is_said_in_a_line(run_folder: Path, invoke: Invoke) -> None:
    for says, options in {
        "there is no part 'bias'; there are: ": ("--part", "bias"),
        "pdf": ("--format", "pdf"),
    }.items():
        assert says in invoke.refused("report", run_folder, "--format", "csv", *options)
    scores = run_folder / "scores.parquet"
    for says, given in {
        f"{scores}: its name must end in .html, .md, .csv, .svg or .png": ("--out", str(scores)),
        "x.html: its name must end in .md": ("--format", "md", "--out", "x.html"),
        "--part is for csv, svg and png": ("--part", "by-axis"),
    }.items():
        assert says in invoke.refused("report", run_folder, *given)
    assert invoke("report", run_folder, "--part", "by-axis")[1] == "", "nothing is printed before it is refused"
    assert not list(run_folder.glob("report*"))
