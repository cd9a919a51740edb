"""Results of the registry, of references and of runs, as the pages of models show them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from altered import altered, altered_result
from columns import with_column
from holisticbias_eval.figures import Figure, Figures, Interval
from holisticbias_eval.results.registry import RegistryEntry, make_entries
from holisticbias_eval.results.run import Result, Run
from holisticbias_eval.sections.blocks import Bars, Forest
from holisticbias_eval.sections.tables import Table
from holisticbias_eval.site.models import alone, comparison_files, differences, side_by_side
from holisticbias_eval.site.models_results import ModelResult, Results, collect_results, model_key, term_figures


@pytest.fixture(scope="module")
def entries(run: Run) -> tuple[RegistryEntry, ...]:
    return make_entries(run, "Ada", "2026-11-22", "some/model")


def other(run: Run, name: str, digest: str = "1" * 64) -> Run:
    return altered(run, {"name": name, "weights_sha256": digest})


def collected(
    entries: Sequence[RegistryEntry] = (), references: Sequence[Result] = (), runs: Sequence[Run] = ()
) -> Results:
    return collect_results(entries, references, runs, {"age": "Age"})


def measured(run: Run, measure: str) -> ModelResult:
    """The result of a measure of one run."""
    return next(r for r in collected(runs=[other(run, "a")]).measured if r.measure == measure)


def test_results_of_the_registry_of_references_and_of_runs(entries: tuple[RegistryEntry, ...], run: Run) -> None:
    """A reference has the registry's name, by its weights, and gives way; a run of that model is named apart."""
    results = collected(entries, [run.result], [run])
    measures = ["stance_contrast", "likelihood_bias"]
    assert [(r.model, r.measure, r.source) for r in results.measured if r.measure in measures] == [
        (model, measure, source)
        for measure in measures
        for model, source in (("some/model", "registry"), ("some/model (run 1)", "run"))
    ]
    assert [figures.model for figures in results.runs] == ["some/model", "some/model (run 1)"]
    assert (results.references, collected(entries, runs=[run]).references) == (True, False)


def test_models_of_one_name_are_apart(run: Run) -> None:
    """Each has its own page, though no measure is of both, and figures of terms lead to the page of their model."""
    signed = run.result.signature
    stance = ("stance_contrast",)
    first, second = other(run, "./runs/a"), altered(other(run, "a", "2" * 64), measures=stance)
    third = altered(other(run, "a", "3" * 64), measures=())
    first = altered(first, measures=tuple(name for name in signed.measures if name not in stance))
    results = collected(runs=[first, second, third])
    assert {r.model for r in results.measured if r.measure not in stance} == {"a"}
    assert [(r.model, r.key) for r in results.measured if r.measure in stance] == [
        ("a (run 2)", "a-run-2-stance-contrast-on-0.1.0")
    ]
    assert [one.model for one in results.runs] == ["a", "a (run 2)", "a (run 3)"]
    pages = {(one.model, one.page) for found in term_figures(results).values() for one in found}
    assert pages >= {("a (run 2)", "models/by-name/a-run-2.html"), ("a (run 3)", None)}


def test_models_are_in_alphabetical_order_in_each_group(run: Run) -> None:
    runs = [other(run, name, digit * 64) for name, digit in (("zeta", "1"), ("Alpha", "2"), ("beta", "3"))]
    measured = collected(runs=runs).measured
    assert [r.model for r in measured] == ["Alpha", "beta", "zeta"] * len({r.measure for r in measured})


def test_a_part_of_a_release_is_another_group(run: Run) -> None:
    """Figures on a part do not stand beside those on the whole release."""
    part = other(altered(run, release={"where": ("axis=age",), "digest": "5" * 64}), "part")
    found = {m.model: m for m in collected(runs=[other(run, "whole"), part]).measured}
    assert found["whole"].group == "likelihood-bias-on-0.1.0"
    assert found["part"].group == "likelihood-bias-on-0.1.0-axis-age"
    assert found["part"].title == "Likelihood Bias on HolisticBias 0.1.0, only axis=age"


def test_releases_with_one_title_are_groups_apart(run: Run) -> None:
    """Sentences with two descriptors of other axes are of the same version, and so is a draft that changed."""
    ages, faiths = (altered(other(run, "a"), release={"digest": digit * 64}) for digit in "56")
    found = [r for r in collected(runs=[ages, faiths]).measured if r.measure == "likelihood_bias"]
    assert [r.model for r in found] == ["a", "a"]
    assert [r.title for r in found] == [f"Likelihood Bias on HolisticBias 0.1.0 ({digit * 12})" for digit in "56"]
    assert [r.group for r in found] == [f"likelihood-bias-on-0.1.0-{digit * 12}" for digit in "56"]


def test_a_chart_names_its_figure_and_unit(run: Run) -> None:
    """The title of a measure of many figures does not say which is drawn."""
    result = measured(run, "likelihood_bias")
    repeats = Figure(
        measure="response_wording", name="parroting_exact", keys={"axis": "age"}, value=0.1, unit="x 1000", n=3
    )
    made = replace(result, measure="response_wording", figures=Figures([repeats]))
    forest, beside = side_by_side((made,))
    bars, table = alone(made)
    assert isinstance(beside, Table)
    assert isinstance(forest, Forest)
    assert isinstance(bars, Bars)
    assert isinstance(table, Table)
    assert forest.scale == bars.scale == "Repeats the prompt  ·  x 1000"
    assert [column.heading for column in table.columns] == ["Axis", "Repeats the prompt", "Items"]
    assert beside.caption == made.title  # nothing stands in brackets


def test_a_table_says_that_the_items_of_a_disparity_are_groups(run: Run) -> None:
    result = measured(run, "likelihood_bias")
    keys = {"domain": "age", "class": "positive"}
    figure = Figure(measure="sentiment", name="disparity", keys=keys, value=0.1, unit="share difference", n=3)
    _, table = alone(replace(result, measure="sentiment", figures=Figures([figure])))
    assert isinstance(table, Table)
    assert [column.heading for column in table.columns][-1] == "Groups"


def test_scores_are_drawn_beside_one_half(run: Run) -> None:
    """The charts of a measure whose neutral value is one half mark it, and not 0."""
    score = Figure(
        measure="stereotype_score",
        name="stereotype_score",
        keys={"specification": "own.x"},
        value=0.6,
        unit="share",
        n=3,
    )
    result = measured(run, "likelihood_bias")
    made = replace(result, measure="stereotype_score", figures=Figures([score]))
    forest, _ = side_by_side((made,))
    bars, _ = alone(made)
    assert isinstance(forest, Forest)
    assert isinstance(bars, Bars)
    assert (forest.reference, bars.references) == (0.5, (0.5,))
    assert forest.marks == bars.marks == ("50%: no difference",)
    files = dict(comparison_files([made, result]))
    assert [json.loads(files[f"results/{one.key}.json"])["neutral"] for one in (made, result)] == [0.5, 0.0]


def test_models_side_by_side(run: Run) -> None:
    """The chart has an estimate for each axis and model, the table a row for each axis; what is missing says so."""
    measured = collected(runs=[other(run, "a"), other(run, "b", "2" * 64)]).measured
    first, second = (result for result in measured if result.measure == "likelihood_bias")
    fewer = replace(second, figures=Figures(second.shown()[:1]))
    chart, table = side_by_side((first, fewer))
    assert isinstance(chart, Forest)
    assert isinstance(table, Table)
    assert [(e.group, e.label) for e in chart.estimates[:3]] == [("Age", "a"), ("Age", "b"), ("Ability", "a")]
    assert len(chart.estimates) == len(first.shown()) + 1
    assert [row[-1] for row in table.rows[1:]] == ["not measured"] * (len(first.shown()) - 1)


def test_the_differences_of_two_runs_are_given_in_both_directions(run: Run) -> None:
    turned = with_column(run.answers, "perplexity", run.answers["perplexity"].to_numpy()[::-1])
    second = replace(other(run, "b", "2" * 64), answers=turned)
    pair = collected(runs=[other(run, "a"), second]).measured
    found = dict(differences(pair))
    groups = {m.group for m in pair}
    assert set(found) == {f"{a}-{g}--{b}-{g}.json" for g in groups for a, b in (("a", "b"), ("b", "a"))}
    changes = [found[f"{a}-likelihood-bias-on-0.1.0--{b}-likelihood-bias-on-0.1.0.json"] for a, b in ("ab", "ba")]
    there, back = ([(f.value, f.interval) for f in rows.values()] for rows in changes)
    assert any(value for value, _ in there)
    assert back == [(value and -value, ends and Interval(low=-ends.high, high=-ends.low)) for value, ends in there]
    files = dict(comparison_files(pair))
    index = json.loads(files["results.json"])
    assert sorted(index["models"]) == ["a", "b"]
    assert index["differences"] == sorted(found)
    assert {f"differences/{name}" for name in index["differences"]} < {*files}


def figure(name: str, keys: dict[str, str], value: float, unit: str, **more: Any) -> Figure:
    return Figure(measure="stance_contrast", name=name, keys=keys, value=value, unit=unit, n=3, **more)


def test_a_contrast_below_0_is_drawn_at_0(run: Run) -> None:
    """The page that compares models draws what its table says."""
    result = measured(run, "stance_contrast")
    unit, interval = "nats per sentence, standard deviation", Interval(low=-1.0, high=0.5)
    below = Figures([figure("shared_contrast", {"axis": "age"}, -0.3, unit, interval=interval)])
    files = dict(comparison_files([replace(result, figures=below)]))
    shown = json.loads(files[f"results/{result.key}.json"])
    (row,) = shown["rows"]
    assert (shown["model"], shown["group"]) == (result.model, result.group)
    assert {name: row[name] for name in ("value", "low", "high", "shown", "interval")} == {
        "value": 0.0, "low": 0.0, "high": 0.5, "shown": "none shown", "interval": "0.00 to 0.50",
    }  # fmt: skip


def test_the_figures_of_terms(run: Run) -> None:
    """Each descriptor that a run has figures of: the value with its unit, its interval, and the page of the model."""
    keys, nats = {"axis": "age", "descriptor": "age.old"}, "nats per sentence"
    figures = (
        figure("contrast", keys, 0.5, nats, interval=Interval(low=-1.0, high=2.0)),
        figure("contrast_adjusted_p", keys, 0.25, "p_value", of="contrast"),
        figure("pair_contrast", {**keys, "pair": "x"}, 0.1, nats),
    )
    model = {"name": "some/model", "weights_sha256": "3" * 64}
    result = altered_result(run.result.model_copy(update={"figures": figures}), model)
    found = term_figures(collected(references=[result]))
    assert list(found) == ["age.old"]
    (contrast,) = found["age.old"]
    assert (contrast.model, contrast.release, contrast.measure) == ("some/model", "0.1.0", "Stance contrast")
    assert (contrast.name, contrast.value) == ("Contrast", "0.50 nats per sentence, p 0.250")
    assert (contrast.interval, contrast.page) == ("-1.00 to 2.00", None)
    assert "0 is their mean" in contrast.meaning


def test_the_name_of_a_model_in_an_address() -> None:
    expected = {"Org/Name, Q4": "org-name-q4", "compare": "compare", "模型": "c98e118e0a43", "../x": "x"}
    assert {name: model_key(name) for name in expected} == expected
    assert len({model_key(name) for name in ("модель-1", "сеть-1", "1")}) == 3
