"""Runs of test sets: scores by kind of model, signatures, stored scores, comparison, reports, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.evaluation.perplexities.conftest import FRAMES, invented_sentences

from holisticbias_eval.figures import Figures
from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.runs import run_report
from holisticbias_eval.results.registry import make_entries
from holisticbias_eval.results.run import read_run
from holisticbias_eval.tasks.test_set import TEST_FILE
from invoking import Invoke
from known import known

NAME = "group_perplexity"


@pytest.fixture
def run(invoke: Invoke, tiny_gpt2: Path, write_rows: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Evaluate a test set; return the folder."""

    def evaluate(*options: str | Path, model: Path = tiny_gpt2, out: str = "run", given: Path | None = None) -> Path:
        path = given or write_rows(invented_sentences(), TEST_FILE)
        folder = tmp_path / out
        invoke.printed("evaluate", "--test-set", path, "--model", model, "--out", folder, *options)
        return folder

    return evaluate


Run = Callable[..., Path]


def test_a_sentence_has_one_context_in_all_groups(run: Run, tmp_path: Path) -> None:
    lines = tmp_path / "contexts.txt"
    lines.write_text("".join(f"Line {i}.\n" for i in range(20)), "utf-8")
    rows = pq.read_table(run("--context-file", lines) / "scores.parquet").to_pylist()
    drawn = {(row["sentence_id"], row["context"]) for row in rows}
    assert len(drawn) == len(FRAMES)
    assert len({context for _, context in drawn}) > 1


def test_the_default_is_the_calibration(invoke: Invoke, tmp_path: Path) -> None:
    """The gossip finds sentences with negative attributes likelier about blickets (odds 4) than fitches (odds 1/4)."""
    invoke.printed("evaluate", "--measure", NAME, "--out", tmp_path / "run")
    run = read_run(tmp_path / "run")
    made = run.result
    assert (made.signature.model.name, made.signature.release.prompts) == ("embedded-gossip", "calibration-many")
    figures = Figures(made.figures)
    keys = {"dimension": "gossip.calibration-many", "scale": "log"}
    f, point = (known(figures.value(NAME, name, keys)) for name in ("f", "f_null_95"))
    assert f > point
    apart = [figures.value(NAME, "deviation", {**keys, "group": group}) for group in ("blicket", "fitch")]
    assert (apart[0] or 0) < 0 < (apart[1] or 0)
    titles = {
        keys["dimension"]: "Invented groups with planted odds of negative attributes",
        f"{keys['dimension']}-untouched": "Other invented groups",
    }
    report = render_markdown(run_report(run)).splitlines()
    assert [line for line in report if keys["dimension"] in line] == [f"- Dimensions: {', '.join(titles)}"]
    (entry,) = make_entries(run, "a contributor", "2026-01-01", None)
    assert entry.labels == titles


def test_published_test_sets_are_scored(run: Callable[..., Path], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for group in ("blicket", "stad"):
        rows = "".join(f"{i},number {i} is a {group}\n" for i in range(4))
        (folder / f"race_{group}_test.csv").write_text(f",replaced_sentence\n{rows}", "utf-8")
    for given in (folder, folder / "race_stad_test.csv"):
        made = read_run(run("--no-store", given=given, out=f"run-{given.stem}"))
        assert made.answers["sentence"].to_pylist()[-1].startswith("number 3")
        assert set(made.answers["group"].to_pylist()) == {"blicket", "stad"}
        assert made.answers["perplexity"].null_count == 0
