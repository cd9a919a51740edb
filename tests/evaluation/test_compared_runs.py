"""Compare two runs, also with the command, and read them for it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from altered import altered
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.report.runs import comparison_report
from holisticbias_eval.report.write import render
from holisticbias_eval.results.compare import compare_runs, read_two_runs
from holisticbias_eval.results.run import Run, read_run, write_run
from invoking import Invoke


def test_what_differs_is_named(tiny_run: Path) -> None:
    run = read_run(tiny_run)
    signature = run.result.signature
    assert compare_runs(run, run).differs == ()
    scored = altered(run, scoring={**signature.scoring, "pll": "original"})
    found = compare_runs(run, scored)
    assert (found.differs, found.settings_that_differ) == (("scoring",), ("pll",))
    assert compare_runs(run, altered(run, model={"dtype": "bfloat16"})).settings_that_differ == ("dtype",)
    # another model has another tokenizer, which is not a setting of the scoring
    tokenizer = {**signature.scoring, "tokenizer_sha256": "0" * 64}
    other = altered(run, model={"weights_sha256": "0" * 64}, scoring=tokenizer)
    assert compare_runs(run, other).differs == ("model",)


def test_runs_of_two_measures_are_not_compared(tiny_run: Path) -> None:
    run = read_run(tiny_run)
    with pytest.raises(SelectionError, match="love_hate and pseudo_likelihood_bias: compare runs of one measure"):
        compare_runs(run, altered(run, measures=("pseudo_likelihood_bias",)))


def test_runs_through_the_command(tiny_run: Path, tmp_path: Path, invoke: Invoke) -> None:
    model = {"weights_sha256": "0" * 64, "name": "other"}
    other = written(altered(read_run(tiny_run), model=model), tmp_path / "other")
    out, page = tmp_path / "new" / "comparison.json", tmp_path / "new" / "comparison.html"
    printed = invoke.printed("compare", tiny_run, other, "--out", out)
    assert "84 sentences in both; 0 changed, 0 gone, 0 added." in printed
    assert "What differs: model." in printed
    assert ("Ability" in printed, "ability" in printed) == (True, False)
    invoke.printed("compare", tiny_run, other, "--out", page)
    assert invoke.printed("compare", tiny_run, other, "--format", "html") == page.read_text("utf-8")
    assert json.loads(invoke.printed("compare", tiny_run, other, "--format", "json")) == json.loads(out.read_bytes())
    assert "is not a run: it does not exist" in invoke.refused("compare", tiny_run, tmp_path / "none")


def written(run: Run, folder: Path) -> Path:
    folder.mkdir()
    write_run(run, folder)
    return folder


def shown(first: Run, second: Run) -> tuple[str, bytes]:
    compared = compare_runs(first, second)
    return compared.model_dump_json(), render(comparison_report(compared, second), "html", None)


def test_runs_read_for_comparing_compare_as_whole_runs_do(tiny_run: Path, tmp_path: Path) -> None:
    made = read_run(tiny_run)
    place = made.answers.column_names.index("perplexity")
    reverse = made.answers.set_column(place, "perplexity", pa.array(made.answers["perplexity"].to_numpy()[::-1]))
    for name, answers in (("same", reverse), ("fewer", reverse.slice(5))):
        other = written(replace(made, answers=answers), tmp_path / name)
        assert shown(*read_two_runs(tiny_run, other)) == shown(made, read_run(other))
