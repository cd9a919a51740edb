"""Runs of test sets: scores by kind of model, signatures, stored scores, comparison, reports, and bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.evaluation.perplexities.conftest import FRAMES, GROUPS, invented_sentences

from holisticbias_eval.figures import Figures
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.results.run import read_run
from holisticbias_eval.tasks.group_files import TEST_FILE
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


def test_perplexities_are_of_whole_sentences(run: Run, tiny_gpt2: Path) -> None:
    table = pq.read_table(run() / "scores.parquet")
    scorer = start_scorer(str(tiny_gpt2), lambda _: None)
    for row in table.to_pylist()[:6]:
        alone = scorer.score(whole([row["sentence"]]), lambda _: None)
        assert row["tokens"] == alone.tokens[0]
        assert row["nll"] == pytest.approx(alone.nll[0], abs=1e-4)
        assert row["perplexity"] == pytest.approx(math.exp(alone.nll[0] / alone.tokens[0]), rel=1e-4)
    assert table.num_rows == 2 * len(FRAMES) * len(GROUPS)


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
    made = read_run(tmp_path / "run").result
    assert (made.signature.model.name, made.signature.release.prompts) == ("embedded-gossip", "calibration-many")
    figures = Figures(made.figures)
    keys = {"dimension": "gossip.calibration-many", "scale": "log"}
    f, point = (known(figures.value(NAME, name, keys)) for name in ("f", "f_null_95"))
    assert f > point
    apart = [figures.value(NAME, "deviation", {**keys, "group": group}) for group in ("blicket", "fitch")]
    assert (apart[0] or 0) < 0 < (apart[1] or 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--measure", "likelihood_bias", "--test-set", "x.csv"), "--test-set is for group_perplexity"),
        (("--test-set", "no.csv"), "no.csv does not exist"),
        (("--test-set", "."), f"has no {TEST_FILE}"),
    ],
)
def test_options_that_do_not_fit(
    invoke: Invoke, arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in invoke.refused("evaluate", *arguments)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (invented_sentences()[:1], "has one group"),
        ([*invented_sentences(), invented_sentences()[0]], "2 times in group 'blicket'"),
        ([{"group": "blicket", "sentence": None}], "column sentence is missing"),
        ([{"group": "blicket", "text": "a"}], "has no column sentence"),
    ],
)
def test_a_test_set_that_cannot_be_measured_is_refused_before_scoring(
    invoke: Invoke, write_rows: Callable[..., Path], rows: list[dict[str, Any]], said: str, tmp_path: Path
) -> None:
    path = write_rows(rows, "set.parquet")
    error = invoke.refused("evaluate", "--test-set", path, "--out", tmp_path / "run", "--model", "none/such")
    assert said in error
    assert not (tmp_path / "run").exists()


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
