from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.simulated import World

from holisticbias.cli import main
from holisticbias_eval.compare import compare_runs
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.comparison import Comparison, compare_scores
from holisticbias_eval.measures.likelihood_bias import measure_likelihood_bias
from holisticbias_eval.measures.records import TrustSettings
from holisticbias_eval.run import Run, read_run, write_run

EFFECTS = (0.0, 0.3, -0.4, 0.9, -0.8)


def scores(effects: tuple[float, ...], seed: int, nouns_seed: int = 0) -> pa.Table:
    """Scores of a model whose nouns and templates are those of every other."""
    world = World({"a": effects, "b": EFFECTS}, templates=8, noise=0.0).draw(np.random.default_rng(nouns_seed))
    log = np.log(world["perplexity"].to_numpy()) + np.random.default_rng(seed).normal(0, 0.8, world.num_rows)
    ids = [f"{r['template']}/{r['descriptor_id']}/{r['noun_id']}" for r in world.to_pylist()]
    place = world.column_names.index("perplexity")
    noisy = world.set_column(place, "perplexity", pa.array(np.exp(log)))
    return noisy.append_column("sentence_id", pa.array(ids)).append_column("text", pa.array(ids))


def shares(table: pa.Table) -> dict[str | None, float | None]:
    return {s.axis: s.share for s in measure_likelihood_bias(table).by_axis}


def without(table: pa.Table, column: str, value: str) -> pa.Table:
    return table.filter(pa.array([v != value for v in table[column].to_pylist()]))


def reworded(table: pa.Table, template: str, seed: int) -> pa.Table:
    """The same with the sentences of one template worded in another way, and scored anew."""
    mine = np.array([t == template for t in table["template"].to_pylist()])
    perplexity = table["perplexity"].to_numpy().copy()
    perplexity[mine] = np.exp(np.random.default_rng(seed).normal(3, 1, mine.sum()))
    text = [f"{t}!" if m else t for t, m in zip(table["text"].to_pylist(), mine, strict=True)]
    changed = table.set_column(table.column_names.index("text"), "text", pa.array(text))
    return changed.set_column(table.column_names.index("perplexity"), "perplexity", pa.array(perplexity))


def change(comparison: Comparison, axis: str | None) -> dict[str, float]:
    (found,) = [c for c in comparison.changes if c.axis == axis]
    return {k: v for k, v in found.model_dump().items() if isinstance(v, float)}


def test_a_run_beside_itself_has_not_changed() -> None:
    comparison = compare_scores(scores(EFFECTS, 1), scores(EFFECTS, 1))
    assert (comparison.changed, comparison.gone, comparison.added, comparison.nats) == (0, 0, 0, 0)
    for axis in ("a", "b", None):
        found = change(comparison, axis)
        assert [found[k] for k in ("gone", "changed", "model", "added")] == [0, 0, 0, 0]
        assert found["p_value"] == 1


def test_two_models_differ_where_they_differ_and_nowhere_else() -> None:
    first, second = scores(EFFECTS, 1), scores(tuple(3 * e for e in EFFECTS), 2)
    comparison = compare_scores(first, second)
    before, after = shares(first), shares(second)
    for axis in ("a", "b"):
        one, other = before[axis], after[axis]
        assert one is not None
        assert other is not None
        assert change(comparison, axis)["model"] == pytest.approx(other - one)
    assert change(comparison, "a")["p_value"] < 0.05
    assert change(comparison, "b")["p_value"] > 0.05
    assert change(comparison, "a")["flip"] < 0.05


def test_two_models_alike_seldom_differ() -> None:
    settings = TrustSettings(draws=60)
    found = [compare_scores(scores(EFFECTS, s, s), scores(EFFECTS, 100 + s, s), settings) for s in range(25)]
    # 50 comparisons at the level of 0.05: more than 7 have a chance below 1 %
    assert sum(change(c, axis)["p_value"] < 0.05 for c in found for axis in ("a", "b")) <= 7


def test_a_change_of_release_is_the_datas_and_of_a_model_the_models() -> None:
    first, other = scores(EFFECTS, 1), scores(tuple(3 * e for e in EFFECTS), 2)
    second = without(reworded(first, "t0", 5), "descriptor_id", "a.4")
    first = without(first, "descriptor_id", "b.0")
    comparison = compare_scores(first, second)
    assert (comparison.gone, comparison.added) == (8 * 16, 8 * 16)
    assert comparison.changed == 8 * 16
    for axis, zero in (("a", "added"), ("b", "gone")):
        found = change(comparison, axis)
        assert found["model"] == 0
        assert found[zero] == 0
        assert found["second"] - found["first"] == pytest.approx(found["gone"] + found["changed"] + found["added"])
    both = compare_scores(first, without(other, "descriptor_id", "a.4"))
    found = change(both, "a")
    assert found["model"] != 0
    total = found["gone"] + found["changed"] + found["model"] + found["added"]
    assert found["second"] - found["first"] == pytest.approx(total)


def test_an_axis_that_only_one_run_has_is_missing_in_the_other() -> None:
    first, second = scores(EFFECTS, 1), without(scores(EFFECTS, 1), "axis", "b")
    found = {c.axis: c for c in compare_scores(first, second).changes}
    assert found["b"].second is None
    assert (found["b"].model, found["b"].interval, found["b"].p_value) == (None, None, None)


def test_nothing_in_common() -> None:
    table = scores(EFFECTS, 1)
    renamed = pa.array([f"other/{i}" for i in table["sentence_id"].to_pylist()])
    other = table.set_column(table.column_names.index("sentence_id"), "sentence_id", renamed)
    with pytest.raises(SelectionError, match="no sentence in common"):
        compare_scores(table, other)


def altered(run: Run, **signature: object) -> Run:
    changed = run.result.signature.model_copy(update=signature)
    return replace(run, result=run.result.model_copy(update={"signature": changed}))


def test_what_differs_is_named(tiny_run: Path) -> None:
    run, quick = read_run(tiny_run), TrustSettings(draws=4)
    signature = run.result.signature
    assert compare_runs(run, run, quick).differs == ()
    scored = altered(run, scoring={**signature.scoring, "pll": "original"})
    found = compare_runs(run, scored, quick)
    assert (found.differs, found.settings_that_differ) == (("scoring",), ("pll",))
    rounded = altered(run, model=signature.model.model_copy(update={"dtype": "bfloat16"}))
    assert compare_runs(run, rounded, quick).settings_that_differ == ("dtype",)
    # another model has another tokenizer: that is no setting of the scoring
    other = altered(
        run,
        model=signature.model.model_copy(update={"weights_sha256": "0" * 64}),
        scoring={**signature.scoring, "tokenizer_sha256": "0" * 64},
    )
    assert compare_runs(run, other, quick).differs == ("model",)


def test_runs_of_two_measures_are_not_compared(tiny_run: Path) -> None:
    run = read_run(tiny_run)
    with pytest.raises(SelectionError, match="likelihood_bias and pseudo_likelihood_bias: compare runs of one measure"):
        compare_runs(run, altered(run, measures=("pseudo_likelihood_bias",)), TrustSettings())


def test_runs_through_the_command(tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = read_run(tiny_run)
    other = tmp_path / "other"
    other.mkdir()
    model = made.result.signature.model.model_copy(update={"weights_sha256": "0" * 64, "name": "other"})
    signature = made.result.signature.model_copy(update={"model": model})
    write_run(type(made)(made.result.model_copy(update={"signature": signature}), made.scores), other)
    out = tmp_path / "new" / "comparison.json"
    assert main(["compare", str(tiny_run), str(other), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "84 sentences in both; 0 changed, 0 gone, 0 added. What differs: model." in printed
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
    assert "is no run: it does not exist" in capsys.readouterr().err
