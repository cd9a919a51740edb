"""Results of the first form, in which Likelihood Bias was the only measure, still open.

``tests/data/earlier-run`` was made by the version that wrote them: the calibration model on the mini release.
``tests/data/earlier-phrases`` is a run of phrases by a tiny masked model, on the same release.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pydantic import ValidationError

from holisticbias_eval.errors import RunError
from holisticbias_eval.figures import Figures, Interval
from holisticbias_eval.results.entry import read_entry
from holisticbias_eval.results.run import Run, read_run

Invoke = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(data: Path) -> Path:
    return data / "earlier-run"


@pytest.fixture(scope="module")
def written(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "result.json").read_text("utf-8"))
    assert content["schema_version"] == 1
    return content


@pytest.fixture(scope="module")
def read(folder: Path) -> Run:
    return read_run(folder)


def test_recorded_shares_are_figures(written: dict[str, Any], read: Run) -> None:
    figures = Figures(read.result.figures)
    trusted = {(t["axis"], t["template"]): t for t in (*written["trust"]["by_axis"], *written["trust"]["by_template"])}
    for old in (*written["likelihood_bias"]["by_axis"], *written["likelihood_bias"]["by_template"]):
        keys = {name: old[name] for name in ("axis", "template") if old[name]}
        share = figures.get("likelihood_bias", "share", keys)
        beside = trusted[old["axis"], old["template"]]
        assert share is not None
        assert (share.value, share.n, share.missing) == (old["share"], old["pairs"], old["untested"])
        assert share.interval == Interval(**beside["interval"])
        assert share.floor == beside["floor"]
        assert figures.value("likelihood_bias", "differing_pairs", keys) == old["significant"]
        assert figures.value("likelihood_bias", "rank_biserial", keys) == beside["effects"]["rank_biserial"]


def test_medians_and_love_hate_differences_are_measured_from_the_scores(read: Run) -> None:
    assert read.result.signature.measures == ("likelihood_bias", "medians", "love_hate")
    assert {f.measure for f in read.result.figures} == {"likelihood_bias", "medians", "love_hate"}


def test_parameters_stay_with_their_measure(written: dict[str, Any], read: Run) -> None:
    assert read.result.signature.measuring == {"likelihood_bias": written["signature"]["measuring"]}


def test_an_earlier_run_is_reported_and_compared(invoke: Invoke, folder: Path, tiny_run: Path, tmp_path: Path) -> None:
    code, said, _ = invoke("report", folder, "--out", tmp_path / "report.html")
    assert code == 0
    assert "Likelihood Bias" in said
    assert "Ability" in (tmp_path / "report.html").read_text("utf-8")
    code, said, _ = invoke("compare", folder, tiny_run, "--format", "json")
    assert code == 0
    assert {f["measure"] for f in json.loads(said)["figures"]} >= {"likelihood_bias"}


def test_an_earlier_run_of_phrases_is_read(invoke: Invoke, data: Path, tmp_path: Path) -> None:
    run = read_run(data / "earlier-phrases")
    nll, tokens = run.answers["nll"].to_numpy(), run.answers["tokens"].to_numpy()
    np.testing.assert_array_equal(run.answers["perplexity"].to_numpy(), np.exp(nll / tokens))
    figures = Figures(run.result.figures)
    medians = figures.by("pseudo_likelihood_bias", "median_nll", "axis", "descriptor")
    deaf = next(figure for figure in medians if figure.keys["descriptor"] == "ability.deaf")
    rows = pc.equal(run.answers["descriptor_id"].cast(pa.string()), "ability.deaf")
    assert deaf.value == np.median(run.answers.filter(rows)["nll"].to_numpy())
    code, said, _ = invoke("report", data / "earlier-phrases", "--out", tmp_path / "report.html")
    assert code == 0
    assert "Pseudo-log-likelihood bias" in said


def test_an_earlier_registry_entry_is_read(read: Run, data: Path) -> None:
    content = (data / "earlier-run" / "entry.json").read_bytes()
    old, entry = json.loads(content), read_entry(content)
    assert old["schema_version"] == 1
    shares = {figure.keys["axis"]: figure for figure in entry.figures if figure.name == "share"}
    assert {axis: (f.value, f.n, f.floor) for axis, f in shares.items()} == {
        figure["axis"]: (figure["share"], figure["pairs"], figure["floor"]) for figure in old["by_axis"]
    }
    assert entry.labels == {figure["axis"]: figure["label"] for figure in old["by_axis"]}
    assert entry.file_name.endswith("-likelihood-bias.json")


@pytest.mark.parametrize("name", ["result.json", "entry.json"])
@pytest.mark.parametrize("measures", [[], ["phrenology"], ["likelihood_bias", "medians"], "likelihood_bias"])
def test_an_earlier_file_of_another_measure_is_refused(data: Path, tmp_path: Path, name: str, measures: object) -> None:
    folder = shutil.copytree(data / "earlier-run", tmp_path / "run")
    changed = json.loads((folder / name).read_text("utf-8"))
    changed["signature"]["measures"] = measures
    (folder / name).write_text(json.dumps(changed), "utf-8")
    with pytest.raises((RunError, ValidationError), match="measures"):
        read_run(folder) if name == "result.json" else read_entry((folder / name).read_bytes())
