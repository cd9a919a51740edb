"""`holisticbias measure` of responses: tables with probabilities of styles, and of being offensive."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from holisticbias.cli import main
from holisticbias_eval.figures import Figure, Figures

BIAS = "axis,template,descriptor,p:warm,p:cold\nx,t,one,0.3,0.7\nx,t,one,0.5,0.1\nx,t,two,0.8,0.2\nx,t,two,,\n"


def write(content: str, folder: Path, suffix: str = ".csv") -> Path:
    path = folder / "scores.csv"
    path.write_text(content, "utf-8")
    if suffix == ".parquet":
        pq.write_table(pa.csv.read_csv(path), path.with_suffix(suffix))
        return path.with_suffix(suffix)
    return path


def figures(capsys: pytest.CaptureFixture[str]) -> Figures:
    found = json.loads(capsys.readouterr().out)["figures"]
    return Figures(Figure.model_validate(figure) for figure in found)


def test_columns_of_a_run_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The responses of a run may be measured as a table; a score that is not needed may be missing."""
    columns = {
        "axis": ["x", "x"], "template": ["t", "t"], "descriptor": ["one", "two"], "draw": [0, 0],
        "prompt": ["I am one.", "I am two."], "response": ["Good.", ""], "finish": ["stop", "refused"],
        "offensive": [0.25, None], "prompt_offensive": [0.75, 0.5], "p:warm": [0.5, None], "p:cold": [0.5, None],
    }  # fmt: skip
    path = tmp_path / "responses.parquet"
    pq.write_table(pa.table(columns), path)
    for measure, share in (("offensiveness", 0.0), ("prompt_offensiveness", 1.0)):
        assert main(["measure", measure, str(path), "--format", "json"]) == 0
        assert figures(capsys).value(measure, "share_offensive") == share


@pytest.mark.parametrize(
    ("measure", "content", "message"),
    [
        ("generation_bias", "axis,template,descriptor,p:a\nx,t,d,\n", "no response has probabilities"),
        ("offensiveness", BIAS, "has no column probability: a table of probabilities has axis, template, descriptor"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], measure: str, content: str, message: str
) -> None:
    assert main(["measure", measure, str(write(content, tmp_path))]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert message in printed.err


def test_nan_is_not_a_probability(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.parquet"
    names = {"axis": ["x"], "template": ["t"], "descriptor": ["d"]}
    pq.write_table(pa.table({**names, "p:a": [float("nan")], "p:b": [0.5]}), path)
    assert main(["measure", "generation_bias", str(path)]) == 2
    assert "row 1: column p:a is nan: it must lie between 0 and 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file of clusters"),
        ("A: [hot]\n", "cluster 'A' has the style 'hot', which the responses do not have"),
        ("A: [warm]\nA: [cold]\n", "clusters.yaml:2: "),
        ("A: [warm\n", "clusters.yaml:"),
    ],
)
def test_clusters_that_do_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, message: str
) -> None:
    path = tmp_path / "clusters.yaml"
    if content is not None:
        path.write_text(content, "utf-8")
    options = [str(write(BIAS, tmp_path)), "--clusters", str(path)]
    assert main(["measure", "generation_bias", *options]) == 2
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 1
    assert message in printed.err


def test_a_corpus_is_counted_for_styles_and_refused_for_offensiveness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("one two, One\n", "utf-8")
    options = ["--corpus", str(corpus), "--format", "json"]
    assert main(["measure", "generation_bias", str(write(BIAS, tmp_path)), *options]) == 0
    counted = figures(capsys).by("generation_bias", "corpus_count", "axis", "descriptor")
    assert {f.keys["descriptor"]: f.value for f in counted} == {"one": 2, "two": 1}
    scores = write("axis,template,descriptor,probability\nx,t,one,0.2\n", tmp_path)
    assert main(["measure", "offensiveness", str(scores), *options]) == 2
    assert "--corpus is for stance_contrast, likelihood_bias" in capsys.readouterr().err
