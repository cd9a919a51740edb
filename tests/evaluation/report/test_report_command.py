"""``holisticbias report`` on a run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from invoking import Invoke


@pytest.fixture
def run_folder(tiny_run: Path, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(tiny_run, tmp_path / "run"))
    for report in folder.glob("report*"):
        report.unlink()
    return folder


@pytest.mark.parametrize("form", ["html", "csv", "png"])
def test_every_format_is_written(run_folder: Path, invoke: Invoke, form: str, tmp_path: Path) -> None:
    out = tmp_path / "made" / f"x.{form}"
    assert invoke("report", run_folder, "--format", form, "--out", out)[:2] == (0, f"Report: {out}\n")
    start = {"html": b"<!doctype", "csv": b"axis,", "png": b"\x89PNG"}
    assert out.read_bytes().startswith(start[form])
    assert list(out.parent.iterdir()) == [out]


def test_a_report_is_printed_and_written_into_the_run(run_folder: Path, invoke: Invoke) -> None:
    printed = invoke.printed("report", run_folder)
    assert "Likelihood Bias by axis" in printed
    assert (run_folder / "report.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_part_is_written_under_its_name(run_folder: Path, invoke: Invoke) -> None:
    assert invoke("report", run_folder, "--format", "csv", "--part", "by-axis")[0] == 0
    assert (run_folder / "report-by-axis.csv").read_text("utf-8").startswith("axis,")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--format", "csv", "--part", "bias"], "there is no part 'bias'; there are: "),
        (["--format", "svg", "--part", "bias"], "there is no part 'bias'; there are: "),
        (["--format", "md", "--part", "by-axis"], "--part is for csv, svg and png"),
        (["--part", "by-axis"], "--part is for csv, svg and png"),
        (["--format", "pdf"], "pdf"),
        (["--format", "csv", "--out", "."], "is a folder: name a file"),
        (["--format", "csv", "--out", "/proc/x/y.csv"], "cannot write to /proc/x"),
    ],
)
def test_what_cannot_be_made_is_said_in_a_line(
    run_folder: Path, invoke: Invoke, arguments: list[str], says: str
) -> None:
    said = invoke.refused("report", run_folder, *arguments)
    assert says in said
    assert not list(run_folder.glob("report*"))
