"""Compare two runs, also with the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holisticbias.cli import main
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.results.compare import compare_runs
from holisticbias_eval.results.run import Run, read_run, write_run


def altered(run: Run, **signature: object) -> Run:
    changed = run.result.signature.model_copy(update=signature)
    return replace(run, result=run.result.model_copy(update={"signature": changed}))


def test_what_differs_is_named(tiny_run: Path) -> None:
    run = read_run(tiny_run)
    signature = run.result.signature
    assert compare_runs(run, run).differs == ()
    scored = altered(run, scoring={**signature.scoring, "pll": "original"})
    found = compare_runs(run, scored)
    assert (found.differs, found.settings_that_differ) == (("scoring",), ("pll",))
    rounded = altered(run, model=signature.model.model_copy(update={"dtype": "bfloat16"}))
    assert compare_runs(run, rounded).settings_that_differ == ("dtype",)
    # another model has another tokenizer, which is not a setting of the scoring
    other = altered(
        run,
        model=signature.model.model_copy(update={"weights_sha256": "0" * 64}),
        scoring={**signature.scoring, "tokenizer_sha256": "0" * 64},
    )
    assert compare_runs(run, other).differs == ("model",)


def test_runs_of_two_measures_are_not_compared(tiny_run: Path) -> None:
    run = read_run(tiny_run)
    with pytest.raises(SelectionError, match="love_hate and pseudo_likelihood_bias: compare runs of one measure"):
        compare_runs(run, altered(run, measures=("pseudo_likelihood_bias",)))


def test_runs_through_the_command(tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = read_run(tiny_run)
    other = tmp_path / "other"
    other.mkdir()
    model = made.result.signature.model.model_copy(update={"weights_sha256": "0" * 64, "name": "other"})
    signature = made.result.signature.model_copy(update={"model": model})
    write_run(type(made)(made.result.model_copy(update={"signature": signature}), made.answers), other)
    out = tmp_path / "new" / "comparison.json"
    assert main(["compare", str(tiny_run), str(other), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "84 sentences in both; 0 changed, 0 gone, 0 added." in printed
    assert "What differs: model." in printed
    assert "Ability" in printed
    assert "ability" not in printed
    page = tmp_path / "new" / "comparison.html"
    assert main(["compare", str(tiny_run), str(other), "--out", str(page)]) == 0
    capsys.readouterr()
    assert main(["compare", str(tiny_run), str(other), "--format", "html"]) == 0
    assert capsys.readouterr().out == page.read_text("utf-8")
    assert main(["compare", str(tiny_run), str(other), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(out.read_text("utf-8"))
    assert main(["compare", str(tiny_run), str(tmp_path / "none")]) == 2
    assert "is not a run: it does not exist" in capsys.readouterr().err
