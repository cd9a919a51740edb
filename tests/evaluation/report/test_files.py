from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from holisticbias_eval.report.charts import report_charts
from holisticbias_eval.report.contents import report_tables
from holisticbias_eval.report.files import chart_heading, render_csv, render_svg
from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.numbers import title
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.summary import summarise
from holisticbias_eval.results.run import Run

from .conftest import MakeRun

SVG = "{http://www.w3.org/2000/svg}"


def parse(source: str) -> ET.Element:
    return ET.fromstring(source)  # noqa: S314 - what we drew ourselves


Invoke = Callable[..., tuple[int, str, str]]


def test_csv_holds_the_figures_unrounded(made_run: Run) -> None:
    tables = report_tables(summarise(made_run))
    rows = list(csv.DictReader(io.StringIO(render_csv(tables["by-axis-and-template"]))))
    shares = made_run.result.likelihood_bias.by_axis_and_template
    assert {(row["axis"], row["template"], row["likelihood_bias"], row["pairs"]) for row in rows} == {
        (title(s.axis or ""), s.template, "" if s.share is None else repr(s.share), str(s.pairs)) for s in shares
    }
    assert len(rows) == len(shares)


@pytest.mark.parametrize(
    "name", ["by-axis", "by-template", "by-axis-and-template", "extremes", "love-hate", "descriptors"]
)
def test_every_table_is_rectangular(made_run: Run, name: str) -> None:
    table = report_tables(summarise(made_run))[name]
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert len({column.key for column in table.columns}) == len(table.columns)


def test_markdown_tables_hold_their_columns_whatever_the_text(hostile_run: Run, made_run: Run) -> None:
    for run in (hostile_run, made_run):
        for line in render_markdown(summarise(run)).split("\n"):
            if line.startswith("|"):
                assert line.endswith("|")
            assert "<" not in line.replace("\\\\", "").replace("\\<", ""), line
    lines = render_markdown(summarise(hostile_run)).split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("| Axis"))
    widths = {line.replace("\\|", "").count("|") for line in lines[start : start + 4]}
    assert len(widths) == 1


def test_markdown_says_what_the_page_says(made_run: Run) -> None:
    text = render_markdown(summarise(made_run))
    assert "A difference is not a verdict." in text
    assert "| Nonce | none to test | not defined | none to test | 1 | 0 | 0 | 0 |" in text
    page = html.unescape(render_page(summarise(made_run)))
    said = [part for part in text.split("\n\n") if "pairs of descriptors differ" in part or "pooled" in part]
    assert len(said) == 2
    assert all(re.sub(r"[*\\]", "", part) in page for part in said)


def test_every_chart_is_a_drawing_of_its_own(hostile_run: Run, made_run: Run) -> None:
    for run in (made_run, hostile_run):
        for chart in report_charts(summarise(run)).values():
            source = render_svg(chart, chart_heading(run.result.signature, chart.width))
            drawing = parse(source)
            assert drawing.tag == f"{SVG}svg"
            assert {e.tag.removeprefix(SVG) for e in drawing.iter()} <= {
                "svg", "title", "desc", "style", "text", "tspan", "rect", "line", "circle", "path",
            }  # fmt: skip
            assert "var(" not in source


def test_a_chart_that_leaves_the_page_says_whose_it_is(run_maker: MakeRun) -> None:
    run = run_maker(name="some/model", note="A calibration model " * 8)
    source = render_svg(report_charts(summarise(run))["likelihood-bias"], chart_heading(run.result.signature, 340))
    texts = [e.text or "" for e in parse(source).iter(f"{SVG}text")]
    assert "some/model on HolisticBias 1.0.0" in texts
    noted = [text for text in texts if "calibration" in text]
    assert " ".join(noted) == ("A calibration model " * 8).strip()
    assert max(map(len, noted)) <= 61


def test_a_long_title_is_written_in_lines(run_maker: MakeRun) -> None:
    template = "What do you do for a living? I'm {noun_phrase}, and so is everyone in my family."
    run = run_maker(templates=(template,))
    chart = report_charts(summarise(run))["perplexities-1"]
    texts = [e.text or "" for e in parse(render_svg(chart, ())).iter(f"{SVG}text") if e.get("class") == "heading"]
    assert " ".join(texts) == chart.title
    assert max(map(len, texts)) <= 45


@pytest.mark.parametrize("form", ["html", "md", "csv", "svg", "png"])
def test_the_verb_writes_every_format(run_folder: Path, invoke: Invoke, form: str, tmp_path: Path) -> None:
    out = tmp_path / "made" / f"x.{form}"
    code, printed, _ = invoke("report", str(run_folder), "--format", form, "--out", str(out))
    assert (code, printed) == (0, f"Report: {out}\n")
    content = out.read_bytes()
    start = {"html": b"<!doctype", "md": b"# some/model", "csv": b"axis,", "svg": b"<svg", "png": b"\x89PNG"}
    assert content.startswith(start[form])
    assert list(out.parent.iterdir()) == [out]


def test_the_verb_prints_and_writes_into_the_run(run_folder: Path, invoke: Invoke) -> None:
    code, printed, _ = invoke("report", str(run_folder))
    assert code == 0
    assert "Likelihood Bias by axis" in printed
    assert (run_folder / "report.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--format", "csv", "--part", "bias"], "there is no table 'bias'; there are: by-axis, effects"),
        (["--format", "svg", "--part", "by-axis"], "there is no chart 'by-axis'; there are: likelihood-bias"),
        (["--format", "md", "--part", "by-axis"], "--part goes with csv, svg and png"),
        (["--part", "by-axis"], "--part goes with csv, svg and png"),
        (["--format", "pdf"], "pdf"),
        (["--format", "csv", "--out", "."], "is a folder: name a file"),
        (["--format", "csv", "--out", "/proc/x/y.csv"], "cannot write to /proc/x"),
    ],
)
def test_what_cannot_be_made_is_said_in_a_line(
    run_folder: Path, invoke: Invoke, arguments: list[str], says: str
) -> None:
    code, _, said = invoke("report", str(run_folder), *arguments)
    assert code == 2
    assert says in said
    assert not list(run_folder.glob("report*"))
