"""Parts of a report by name, the files made of them, and ``holisticbias report``."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fonts import needs_font
from holisticbias_eval.errors import ReportError
from holisticbias_eval.figures import DEVIATION
from holisticbias_eval.report import Form
from holisticbias_eval.report.report import Chapter, Report, drawables, tables
from holisticbias_eval.report.write import render, render_csv, write_report
from holisticbias_eval.sections.blocks import Bar, Bars, Section
from holisticbias_eval.sections.tables import Column, Table
from invoking import Invoke

from .invented import INFO, invented_report
from .test_every_block import read_svg


def test_parts_by_name() -> None:
    report = invented_report()
    assert list(dict(tables(report))) == ["terms", "keenness", "pairs", "both", "answers", "map"]
    assert list(dict(drawables(report))) == ["keenness", "pairs", "both", "answers", "map", "terms", "more"]
    assert isinstance(dict(drawables(report))["keenness"], Bars), "a chart comes before a section of its name"
    assert isinstance(dict(drawables(report))["more"], Section)
    bars = Bars("keenness", "Zest", "share", (Bar("x", 1.0),), "")
    other = Chapter(replace(INFO, name="zest"), (Section("own", "Own", (bars,)),))
    both = replace(report, chapters=(*report.chapters, other))
    assert dict(drawables(both))["zest.keenness"] is dict(tables(both))["zest.keenness"] is bars
    assert "keenness" in dict(drawables(both)), "a name of an earlier measure is preceded by the measure's"


def test_csv_holds_unrounded_values_and_leaves_missing_ones_empty() -> None:
    empty = Table("t", "T", (Column("a", "A"), Column("b", "B", "share", interval=True)), (("x", None),))
    report = Report("r", (Chapter(INFO, (Section("s", "S", (empty,)),)),))
    assert render(report, "csv") == b"a,b_low,b_high\nx,,\n"
    columns = (Column("a", "A"), Column("sd", "SD", f"nats{DEVIATION}"), Column("b", "B", f"nats{DEVIATION}", True))
    spread = Table("t", "T", columns, (("x", -0.5, (-0.5, 0.25)), ("y", 0.5, (0.25, 0.75))))
    assert render_csv(spread) == "a,sd,b_low,b_high\nx,none shown,0.0,0.25\ny,0.5,0.25,0.75\n"


@pytest.mark.parametrize("form", ["html", "md", "csv", "svg", pytest.param("png", marks=needs_font)])
def test_every_format_is_written(form: Form, tmp_path: Path) -> None:
    out = tmp_path / "made" / f"x.{form}"
    assert write_report(invented_report(), form, None, out) == out
    start = {"html": b"<!doctype", "md": b"# some/model", "csv": b"term,axis,share,interval_low,interval_high,n,said\n",
             "svg": b"<svg", "png": b"\x89PNG"}  # fmt: skip
    assert out.read_bytes().startswith(start[form])
    assert form != "svg" or "Keenness by axis" in out.read_text("utf-8"), "an image is of the first chart"
    assert list(out.parent.iterdir()) == [out]


def test_what_cannot_be_made_is_said() -> None:
    whole = "--part is for csv, svg and png: {} has the whole report"
    refused: dict[Form, tuple[str, str]] = {
        "csv": ("bias", "there is no part 'bias'; there are: terms, keenness, pairs"),
        "svg": ("bias", "there is no part 'bias'; there are: keenness, pairs, both, answers, map, terms, more"),
        "md": ("terms", whole.format("md")),
        "html": ("terms", whole.format("html")),
    }
    for form, (part, says) in refused.items():
        with pytest.raises(ReportError) as error:
            render(invented_report(), form, part)
        assert says in str(error.value)
    with pytest.raises(ReportError, match="no table and no chart"):
        render(Report("r", (Chapter(INFO, (Section("s", "S", ()),)),)), "svg")


def test_a_file_says_whose_figures_it_shows() -> None:
    note = "A calibration model " * 12
    report = replace(invented_report(), notes=(note,))
    texts = [e.text or "" for e in read_svg(render(report, "svg").decode()).iter() if e.tag.endswith("}text")]
    assert texts[:2] == ["Keenness by axis", "some/model on HolisticBias 2.0.0"]
    noted = [text for text in texts if "calibration" in text]
    assert " ".join(noted) == note.strip()
    assert max(map(len, noted)) <= 130


@pytest.fixture
def run_folder(tiny_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_run, tmp_path / "run", ignore=shutil.ignore_patterns("report*")))


def test_a_report_is_printed_and_written(run_folder: Path, invoke: Invoke, tmp_path: Path) -> None:
    assert "Likelihood Bias by axis" in invoke.printed("report", run_folder)
    assert (run_folder / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert invoke("report", run_folder, "--format", "csv", "--part", "by-axis")[0] == 0
    assert (run_folder / "report-by-axis.csv").read_text("utf-8").startswith("axis,")
    out = tmp_path / "made" / "x.md"
    assert invoke("report", run_folder, "--out", out)[0] == 0
    assert out.read_text("utf-8").startswith("# ")


@needs_font
def test_an_image_is_written(run_folder: Path, invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "made" / "x.png"
    assert invoke("report", run_folder, "--format", "png", "--out", out)[:2] == (0, f"Report: {out}\n")
    assert out.read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_made_is_said_in_a_line(run_folder: Path, invoke: Invoke) -> None:
    assert "pdf" in invoke.refused("report", run_folder, "--format", "pdf")
    scores = run_folder / "scores.parquet"
    for says, given in {
        f"{scores}: its name must end in .html, .md, .csv, .svg or .png": ("--out", str(scores)),
        "x.html: its name must end in .md": ("--format", "md", "--out", "x.html"),
        "--part is for csv, svg and png": ("--part", "by-axis"),
    }.items():
        assert says in invoke.refused("report", run_folder, *given)
    assert invoke("report", run_folder, "--part", "by-axis")[1] == "", "nothing is printed before it is refused"
    assert not list(run_folder.glob("report*"))
