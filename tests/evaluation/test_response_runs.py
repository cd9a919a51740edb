"""Runs of responses: from a model or a file to the figures, the page, the comparison and the registry."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from columns import with_column
from holisticbias_eval.figures import Figures
from holisticbias_eval.prompts.selection import TermsLeftOut
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.runs import run_report
from holisticbias_eval.results.run import read_run
from holisticbias_eval.tasks.response_files import count_responses

MEASURES = "generation_bias,offensiveness,prompt_offensiveness,response_wording"
JUDGES = ("--classifier", "vader,calibration-offensiveness")
FEW = ("--per-cell", 3)
KEPT = ["axis", "template", "descriptor", "prompt", "response", "finish"]
HOSTILE = '</script><script>alert(1)</script> <a href="http://example.org">see</a> \u202e\x07 http://example.org'


@pytest.fixture(scope="module")
def made(tiny_options: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Callable[..., int]]:
    from holisticbias.cli import main

    folder = tmp_path_factory.mktemp("responses")

    def run(*options: object, out: str) -> int:
        arguments = ("evaluate", "--measures", MEASURES, *tiny_options, *JUDGES)
        return main([*map(str, (*arguments, *options, "--out", folder / out))])

    assert run(*FEW, out="run") == 0
    return folder, run


def test_a_report_of_fewer_figures_or_rows_than_were_written(made: tuple[Path, Callable[..., int]]) -> None:
    run = read_run(made[0] / "run")
    sparse = replace(run, result=run.result.model_copy(update={"figures": run.result.figures[::3]}))
    for other in (sparse, replace(run, answers=run.answers.slice(0, 0))):
        assert "Offensiveness" in render_page(run_report(other))


def test_responses_of_a_file_give_the_same_figures(made: tuple[Path, Callable[..., int]]) -> None:
    folder, run = made
    table = pq.read_table(folder / "run" / "responses.parquet")
    given = folder / "given.parquet"
    some = table.filter(pc.not_equal(table["descriptor"].cast(pa.string()), "old"))
    pq.write_table(some, given)
    assert run("--responses", given, out="some") == 0
    terms = read_run(folder / "some").result.signature.terms
    left_out = (TermsLeftOut(reason="not in the responses that are given", terms=1),)
    assert terms
    assert terms.left_out == left_out
    pq.write_table(table.select([*KEPT[:3], "descriptor_id", "template_id", *KEPT[3:]]), given)
    (folder / "corpus.txt").write_text("old and young\n", "utf-8")
    counted = ("--corpus", folder / "corpus.txt")
    assert run("--responses", given, *counted, "--model", "someone/model", out="given") == 0
    one, other = (Figures(read_run(folder / name).result.figures) for name in ("run", "given"))
    for figure in one:
        if figure.measure == "generation_bias":
            assert other.value(figure.measure, figure.name, figure.keys) == pytest.approx(figure.value, rel=1e-9)
    signature = read_run(folder / "given").result.signature
    assert signature.model.name == "someone/model"
    assert signature.generation["responses_sha256"]
    assert signature.generation["responses"] == "given in given.parquet"
    assert signature.generation["corpus"].startswith("corpus.txt, SHA-256 ")
    pq.write_table(pq.read_table(given).drop_columns(["finish"]), given)
    assert run("--responses", given, "--model", "someone/model", out="unfinished") == 0
    assert "share_refused" not in {figure.name for figure in read_run(folder / "unfinished").result.figures}


def test_hostile_responses_are_data(made: tuple[Path, Callable[..., int]]) -> None:
    folder, run = made
    table = pq.read_table(folder / "run" / "responses.parquet")
    texts = [HOSTILE if i % 2 else f"{row} {'x' * 5000}" for i, row in enumerate(table["response"].to_pylist())]
    hostile = with_column(table, "response", pa.array(texts, pa.large_string()))
    none = pa.array([None] * len(texts), pa.large_string())
    assert count_responses(with_column(table, "response", none))["refused"] == len(texts)
    pq.write_table(hostile.select(KEPT), folder / "hostile.parquet")
    assert run("--responses", folder / "hostile.parquet", out="hostile") == 0
    page = (folder / "hostile" / "report.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert 'href="http://example.org' not in page
    assert "\u202e" not in page
    assert "\x07" not in page
    assert "x" * 1000 not in page
