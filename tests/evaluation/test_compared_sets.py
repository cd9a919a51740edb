"""Compare folders that hold several runs, with one model or several, and the folders of mitigated models."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from holisticbias.cli import main
from holisticbias_eval.errors import RunError
from holisticbias_eval.results.gains import Aim
from holisticbias_eval.results.run_sets import find_sets, match_runs
from invoking import Invoke

TEXT = ["I'm an old friend.", "I love young parents.", "I'm deaf.", "I hate old people.", "I'm a blind kid."]


@pytest.fixture(scope="module")
def measured(
    tiny_gpt2: Path, moved_gpt2: Path, mini_release_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of a mitigated model, with two runs before and two after."""
    folder = tmp_path_factory.mktemp("mitigated") / "lmd"
    text = folder.parent / "neutral.txt"
    text.write_text("\n".join(TEXT) + "\n", "utf-8")
    for part, model in (("before", tiny_gpt2), ("after", moved_gpt2)):
        out = folder / "measured" / part
        for name, options in (
            ("retention", ["--retain", text]),
            ("sentences", ["--release", mini_release_folder, "--measures", "likelihood_bias,medians"]),
        ):
            words = ["evaluate", "--model", model, *options, "--out", out / name, "--no-store"]
            assert main([str(word) for word in words]) == 0
    (folder / "mitigation.json").write_text(json.dumps({"method": "lmd", "specification": "dax"}), "utf-8")
    return folder


def test_a_mitigated_model_is_before_and_after(measured: Path, tmp_path: Path) -> None:
    before, after = find_sets([measured])
    assert (before.name, after.name) == ("before", "lmd")
    assert list(before.runs) == list(after.runs) == ["retention", "sentences"]
    assert after.recorded.aims == (Aim(measure="group_perplexity", keys={"dimension": "dax"}),)
    assert find_sets([measured / "measured" / "before", measured])[1] == after
    shutil.copytree(measured / "measured" / "before", tmp_path / "before")
    for name in ("lmd", "ctda"):
        shutil.copytree(measured / "measured" / "after", tmp_path / name / "measured" / "after")
    assert [found.name for found in find_sets([tmp_path])] == ["before", "ctda", "lmd"], "they share what was before"
    for part in ("before", "after"):
        shutil.copytree(measured / "measured" / part / "retention", tmp_path / "one" / "measured" / part)
    assert [found.is_single for found in find_sets([tmp_path / "one"])] == [True, True]


def test_runs_are_matched_by_measure_and_name(invoke: Invoke, measured: Path, tmp_path: Path) -> None:
    before, after = find_sets([measured])
    matched, alone = match_runs(before, after)
    names = [(name, second.name) for name, _, second in matched]
    assert names == [("retention", "retention"), ("sentences", "sentences")]
    assert alone == ()
    # another name with the same text is a counterpart; a run of another measure is not
    shutil.copytree(measured / "measured" / "after" / "retention", tmp_path / "set" / "text")
    matched, alone = match_runs(before, find_sets([before.runs["retention"], tmp_path / "set"])[1])
    assert [(name, second.name) for name, _, second in matched] == [("retention", "text")]
    assert alone == ("sentences (before)",)
    said = invoke.printed("compare", measured / "measured" / "before", tmp_path / "set")
    assert "Runs without a counterpart: sentences" in " ".join(said.split())


def test_a_run_is_left_to_the_run_of_its_prompts(measured: Path, tmp_path: Path) -> None:
    """Though it is the only one with the measure of another run, which comes first."""
    run = measured / "measured" / "before" / "retention"
    for name, digest in (("A/news", "1"), ("A/wiki", "2"), ("B/wiki", "2"), ("C/wiki", "3"), ("D/web", "2")):
        result = shutil.copytree(run, tmp_path / name) / "result.json"
        content = json.loads(result.read_text("utf-8"))
        content["signature"]["release"]["digest"] = digest * 64
        result.write_text(json.dumps(content), "utf-8")
    for other, counterpart in (("B", "wiki"), ("C", "wiki"), ("D", "web")):
        matched, alone = match_runs(*find_sets([tmp_path / "A", tmp_path / other]))
        assert [(name, path.name) for name, _, path in matched] == [("wiki", counterpart)]
        assert alone == ("news (A)",)


def test_models_in_folders_of_one_name_are_told_apart(invoke: Invoke, measured: Path, tmp_path: Path) -> None:
    """Their gains are kept by name: with one name for all, the last would stand for all."""
    folders = [tmp_path / name / "run" for name in ("one", "two", "three")]
    for folder, part in zip(folders, ("before", "after", "before"), strict=True):
        shutil.copytree(measured / "measured" / part / "retention", folder)
    said = invoke.printed("compare", *folders, folders[1], "--format", "csv")
    rows = {row["model"]: row["Perplexity of neutral text"] for row in csv.DictReader(io.StringIO(said))}
    assert list(rows) == ["one/run", "two/run", "three/run", "two/run (2)"]
    assert rows["two/run"] == rows["two/run (2)"] != rows["three/run"] == rows["one/run"]


def test_sets_without_a_measure_in_common_say_what_they_have(invoke: Invoke, measured: Path, tmp_path: Path) -> None:
    run = measured / "measured" / "before" / "retention"
    shutil.copytree(measured / "measured" / "before" / "sentences", tmp_path / "set" / "sentences")
    said = invoke.refused("compare", run, tmp_path / "set")
    assert "one of set: retention has retention; set has likelihood_bias, medians\n" in said


@pytest.mark.parametrize("name", ["nothing", "file"])
def test_folders_without_runs(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(RunError, match="is not a run"):
        find_sets([tmp_path / name, tmp_path])
    with pytest.raises(RunError, match="no runs before and after"):
        find_sets([tmp_path])


def test_gains_and_costs_of_a_mitigation(invoke: Invoke, measured: Path, tmp_path: Path) -> None:
    said = invoke.printed("compare", measured, "--out", tmp_path / "page.html")
    assert "Gains and costs" in said
    words = " ".join(said.split())
    assert said.startswith("Before and after lmd\nA: before\nB: after\n")
    assert "in A (before)" in words
    assert "in B (after)" in words
    assert "group_perplexity, dimension dax is aimed at, and has no figure in both runs" in words
    assert "5 lines in both; 0 changed, 0 gone, 0 added." in words
    assert "sentences: The common sentences are less likely in B than in A, by" in words
    page = (tmp_path / "page.html").read_text("utf-8")
    titles = ("Gains and costs</h2>", "Quality and retention", "Likelihood of neutral text")
    places = [page.index(text) for text in titles]
    assert places == sorted(places)
    said = invoke.printed("compare", measured, "--format", "csv", "--aim", "retention")
    rows = {row["figure"]: row for row in csv.DictReader(io.StringIO(said))}
    # random weights that are moved are far off: the text becomes less likely
    row = rows["Perplexity of neutral text"]
    assert row["outcome"] == "cost"
    assert float(row["change"]) == pytest.approx(float(row["after"]) - float(row["before"]))
    assert float(row["interval_low"]) > 0
    (model,) = json.loads(invoke.printed("compare", measured, "--format", "json"))["models"]
    assert {gain["measure"] for gain in model["gains"]} == {"retention", "likelihood_bias"}
    assert [run["name"] for run in model["runs"]] == ["retention", "sentences"]


def test_several_models_in_one_table(invoke: Invoke, measured: Path, tmp_path: Path) -> None:
    before, after = (measured / "measured" / part / "retention" for part in ("before", "after"))
    for name, run in (("first", before), ("lmd", after), ("same", before)):
        shutil.copytree(run, tmp_path / name / "retention")
    models = [tmp_path / name for name in ("first", "lmd", "same")]
    said = invoke.printed("compare", *models, "--aim", "retention", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(said)))
    assert [row["model"] for row in rows] == ["first", "lmd", "same"]
    perplexity = [float(row["Perplexity of neutral text"]) for row in rows]
    assert perplexity[0] == perplexity[2] < perplexity[1]
    for side, run in (("first", before), ("lmd", after)):
        for name in ("one", "two"):
            shutil.copytree(run, tmp_path / "twice" / side / name)
    said = invoke.printed("compare", *(tmp_path / "twice" / side for side in ("first", "lmd")), "--format", "md")
    headings = (line for line in said.splitlines() if line.startswith("### Likelihood"))
    assert {line.rpartition(": ")[2] for line in headings} == {"one", "two"}
    page = invoke.printed("compare", *models, "--format", "html")
    assert '<th scope="col">C</th>' in page
    assert "<title>Models side by side: first, lmd and same</title>" in page
    assert re.search('<th scope="col"[^>]*>This model</th>', page)
    for folders, first in ((models, "in first"), (models[::2], "in A")):
        page = invoke.printed("compare", *folders, "--format", "html")
        assert {*re.findall("Change as a share of the value ([^<]*)<", page)} == {first}


def test_what_does_not_fit_is_one_line(invoke: Invoke, measured: Path, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(measured, tmp_path / "broken"))
    (broken / "mitigation.json").write_text("{", "utf-8")
    assert "mitigation.json is not JSON, or is truncated" in invoke.refused("compare", broken)
    for message, options in {
        "no measure 'nothing'": ["--aim", "nothing"],
        "KEY=VALUE": ["--aim", "retention,dax"],
        "page.txt: its name must end in .html, .md, .csv or .json": ["--out", str(tmp_path / "page.txt")],
        "--format csv": ["--part", "gains-quality"],
        "--out with a .csv file": ["--part", "gains-quality", "--out", str(tmp_path / "page.md")],
    }.items():
        assert message in invoke.refused("compare", measured, *options)
    run = measured / "measured" / "before" / "sentences"
    assert "--aim is for runs of two models" in invoke.refused("compare", run, run, "--aim", "medians")
