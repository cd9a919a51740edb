"""Results of the registry, of references and of runs, as the pages of models show them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.evaluation.conftest import mini_catalog

from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.results.entry import Entry, make_entries
from holisticbias_eval.results.run import Result, Run, read_run
from holisticbias_eval.sections import Forest, Table
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.models_charts import side_by_side
from holisticbias_eval.site.models_compare import Difference, differences, index_json
from holisticbias_eval.site.models_results import Results, collect_results, model_key
from holisticbias_eval.site.models_terms import term_figures


@pytest.fixture(scope="module")
def run(tiny_run: Path) -> Run:
    return read_run(tiny_run)


@pytest.fixture(scope="module")
def entries(run: Run) -> tuple[Entry, ...]:
    return make_entries(run, "Ada", "2026-11-22", "some/model")


def as_model(result: Result, name: str, digest: str) -> Result:
    model = result.signature.model.model_copy(update={"name": name, "weights_sha256": digest})
    return result.model_copy(update={"signature": result.signature.model_copy(update={"model": model})})


def other(run: Run, name: str, digest: str = "1" * 64) -> Run:
    return replace(run, result=as_model(run.result, name, digest))


def collected(entries: Sequence[Entry] = (), references: Sequence[Result] = (), runs: Sequence[Run] = ()) -> Results:
    return collect_results(entries, references, runs, {"age": "Age"})


def described(results: Results) -> list[tuple[str, str, str]]:
    return [(m.model, m.measure, m.source) for m in results.measured]


def test_a_contributed_result_comes_before_a_reference_of_the_same_model(entries: tuple[Entry, ...], run: Run) -> None:
    """The reference has the registry's name, by its weights, and its figures of terms remain."""
    found = collected(entries, [run.result])
    measures = ["stance_contrast", "likelihood_bias"]
    assert [m for m in described(found) if m[1] in measures] == [("some/model", m, "registry") for m in measures]
    assert [e.model for e in found.evaluated] == ["some/model"]


def test_a_run_of_a_model_in_the_registry_is_named_apart(entries: tuple[Entry, ...], run: Run) -> None:
    models = {(model, source) for model, _, source in described(collected(entries, (), [run]))}
    assert models == {("some/model", "registry"), ("some/model (run 1)", "run")}


def test_models_are_in_alphabetical_order_in_each_group(run: Run) -> None:
    runs = [other(run, name, digit * 64) for name, digit in (("zeta", "1"), ("Alpha", "2"), ("beta", "3"))]
    found = collected((), (), runs)
    for measure in {m.measure for m in found.measured}:
        assert [m.model for m in found.measured if m.measure == measure] == ["Alpha", "beta", "zeta"]


def test_a_part_of_a_release_is_another_group(run: Run) -> None:
    """Figures on a part do not stand beside those on the whole release."""
    release = run.result.signature.release.model_copy(update={"where": ("axis=age",), "digest": "5" * 64})
    signature = run.result.signature.model_copy(update={"release": release})
    part = other(replace(run, result=run.result.model_copy(update={"signature": signature})), "part")
    found = {m.model: m for m in collected((), (), [other(run, "whole"), part]).measured}
    assert found["whole"].group == "likelihood-bias-on-0.1.0"
    assert found["part"].group == "likelihood-bias-on-0.1.0-axis-age"
    assert found["part"].title == "Likelihood Bias on HolisticBias 0.1.0, only axis=age"


def test_models_side_by_side(run: Run) -> None:
    """The chart has an estimate for each axis and model, the table a row for each axis; what is missing says so."""
    two = [
        m
        for m in collected((), (), [other(run, "a"), other(run, "b", "2" * 64)]).measured
        if m.measure == "likelihood_bias"
    ]
    fewer = replace(two[1], figures=type(two[1].figures)(two[1].shown()[:1]))
    chart, table = side_by_side((two[0], fewer))
    assert isinstance(chart, Forest)
    assert isinstance(table, Table)
    axes = [figure.keys["axis"] for figure in two[0].shown()]
    assert [(e.group, e.label) for e in chart.estimates[:3]] == [("Age", "a"), ("Age", "b"), ("Ability", "a")]
    assert len(chart.estimates) == len(axes) + 1
    assert [row[-1] for row in table.rows[1:]] == ["not measured"] * (len(axes) - 1)


def test_the_differences_of_two_runs_are_given_in_both_directions(run: Run) -> None:
    pair = collected((), (), [other(run, "a"), other(run, "b", "2" * 64)]).measured
    found = {(d.first, d.second): d for d in differences(pair)}
    groups = {m.group for m in pair}
    assert set(found) == {(f"{a}-{g}", f"{b}-{g}") for g in groups for a, b in (("a", "b"), ("b", "a"))}
    index = json.loads(index_json(pair, tuple(found.values())))
    assert sorted(index["models"]) == ["a", "b"]
    assert len(index["differences"]) == 2 * len(groups)


def test_a_registry_has_no_answers_to_compare(entries: tuple[Entry, ...]) -> None:
    assert list(differences(collected(entries).measured)) == []


def test_a_reversed_difference_has_the_opposite_sign() -> None:
    figure = Figure(
        measure="m", name="change", value=0.25, unit="share difference", interval=Interval(low=-0.5, high=1.0), n=3
    )
    turned = Difference("a", "b", {"Age": figure}).reversed()
    assert (turned.first, turned.second) == ("b", "a")
    assert turned.rows["Age"].value == -0.25
    assert turned.rows["Age"].interval == Interval(low=-1.0, high=0.5)


def test_the_figures_of_terms(run: Run) -> None:
    """Each descriptor that a run has figures of: the value with its unit, its interval, and the page of the model."""
    figures = (
        Figure(
            measure="stance_contrast", name="contrast", keys={"axis": "age", "descriptor": "age.old"}, value=0.5,
            unit="nats per sentence", interval=Interval(low=-1.0, high=2.0), n=9,
        ),
        Figure(
            measure="stance_contrast", name="contrast_adjusted_p", keys={"axis": "age", "descriptor": "age.old"},
            value=0.25, unit="p_value", n=9, of="contrast",
        ),
        Figure(
            measure="stance_contrast", name="pair_contrast",
            keys={"axis": "age", "descriptor": "age.old", "pair": "x"}, value=0.1, unit="nats per sentence", n=3,
        ),
    )  # fmt: skip
    result = run.result.model_copy(update={"figures": figures})
    found = term_figures(Explored(mini_catalog(), (), references=(as_model(result, "some/model", "3" * 64),)))
    assert list(found) == ["age.old"]
    (one,) = found["age.old"]
    assert (one.model, one.release, one.measure, one.name) == ("some/model", "0.1.0", "Stance contrast", "Contrast")
    assert one.value == "0.50 nats per sentence, p 0.250"
    assert one.interval == "-1.00 to 2.00"
    assert one.page is None
    assert "0 is their mean" in one.meaning


@pytest.mark.parametrize(
    ("name", "key"),
    [("Org/Name, Q4", "org-name-q4"), ("compare", "compare"), ("模型", "c98e118e0a43"), ("../x", "x")],
)
def test_the_name_of_a_model_in_an_address(name: str, key: str) -> None:
    assert model_key(name) == key
