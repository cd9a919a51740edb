"""Two runs side by side, as a page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import StringIO

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

from holisticbias_eval.report.changes import change_headline, change_table, print_comparison
from holisticbias_eval.report.comparison import render_comparison
from holisticbias_eval.report.numbers import show, title
from holisticbias_eval.results.compare import ComparedRuns, compare_runs
from holisticbias_eval.results.run import Run

from .conftest import HOSTILE, MakeRun
from .test_page import Page, check_structure


def other_model(run: Run, name: str = "other/model") -> Run:
    """The same sentences, drawn anew."""
    model = run.result.signature.model.model_copy(update={"name": name, "weights_sha256": "0" * 64})
    signature = run.result.signature.model_copy(update={"model": model})
    nll = run.scores["nll"].to_numpy() + np.random.default_rng(1).normal(2, 5, run.scores.num_rows)
    place = run.scores.column_names.index("nll")
    scores = run.scores.set_column(place, "nll", pa.array(nll))
    perplexity = pa.array(np.exp(nll / run.scores["tokens"].to_numpy()))
    scores = scores.set_column(scores.column_names.index("perplexity"), "perplexity", perplexity)
    return replace(run, result=run.result.model_copy(update={"signature": signature}), scores=scores)


@pytest.fixture(scope="module")
def two_models(made_run: Run) -> ComparedRuns:
    return compare_runs(made_run, other_model(made_run))


def test_structure_and_figures(two_models: ComparedRuns) -> None:
    source = render_comparison(two_models, title)
    page = Page(source)
    check_structure(page, scripts=0)
    assert not re.search(r"url\(|@import|<link|<iframe|<img|script-src", source)
    rows = [words for _, words in page.all("tr")]
    for change in two_models.comparison.changes:
        name = title(change.axis) if change.axis else "All axes"
        row = next(r for r in rows if r.startswith(name))
        assert show(change.first, "share") in row
        assert show(change.model, "points") in row
    assert "What differs: model." in page.all("body")[0][1]
    differing = {w.split(" differs")[0] for attrs, w in page.all("tr") if attrs.get("class") == "differs"}
    assert differing == {"Model", "Weights, SHA-256"}


def with_p_values(compared: ComparedRuns, p_value: float | None) -> ComparedRuns:
    changes = tuple(c.model_copy(update={"p_value": p_value}) for c in compared.comparison.changes)
    return compared.model_copy(update={"comparison": compared.comparison.model_copy(update={"changes": changes})})


@pytest.mark.parametrize(
    ("p_value", "shown"), [(2e-9, "< 0.001"), (0.00099, "< 0.001"), (0.0011, "0.001"), (0.5, "0.500")]
)
def test_a_p_value_below_the_resolution(two_models: ComparedRuns, p_value: float, shown: str) -> None:
    compared = with_p_values(two_models, p_value)
    body = Page(render_comparison(compared, title)).all("td")
    assert [words for _, words in body].count(shown) == len(compared.comparison.changes)
    printed = StringIO()
    print_comparison(compared, title, Console(file=printed, width=120, highlight=False))
    assert printed.getvalue().count(f" {shown} ") == len(compared.comparison.changes)
    figures = json.loads(compared.model_dump_json())["comparison"]
    assert (figures["changes"][0]["p_value"], figures["p_resolution"]) == (p_value, 0.001)


def test_too_few_templates_for_intervals_is_said(two_models: ComparedRuns) -> None:
    assert any("they need two templates" in words for words in change_headline(with_p_values(two_models, None), title))
    assert not any("they need two templates" in words for words in change_headline(two_models, title))


def test_hostile_names_are_only_text(made_run: Run, hostile_run: Run) -> None:
    for first, second in ((made_run, other_model(made_run, HOSTILE)), (hostile_run, other_model(hostile_run))):
        page = Page(render_comparison(compare_runs(first, second), title))
        check_structure(page, scripts=0)
        assert HOSTILE in "".join("".join(inner) for tag, _, inner in page.elements if tag == "body")


def test_releases_of_one_model_have_no_test_of_it(made_run: Run, run_maker: MakeRun) -> None:
    fewer = run_maker(axes={"ability": ("Deaf", "blind"), "nonce": ("blicket",)})
    release = fewer.result.signature.release.model_copy(update={"digest": "f00d" * 16, "version": "1.1.0"})
    signature = fewer.result.signature.model_copy(update={"release": release})
    later = replace(fewer, result=fewer.result.model_copy(update={"signature": signature}))
    compared = compare_runs(made_run, later)
    assert compared.differs == ("release",)
    assert [c.key for c in change_table(compared, title).columns] == [
        "axis", "first", "second", "gone", "changed", "added", "model",
    ]  # fmt: skip
    assert len(change_headline(compared, title)) == 2
    words = Page(render_comparison(compared, title)).all("body")[0][1]
    assert "Gone, changed, added" in words
    assert "95% interval" not in words


def test_the_note_of_a_measuring_weight_comes_first_and_once(run_maker: MakeRun) -> None:
    run = run_maker(note="A calibration model.")
    page = Page(render_comparison(compare_runs(run, other_model(run)), title))
    noted = [words for attrs, words in page.all("p") if attrs.get("role") == "note"]
    assert noted == ["Read this first, of A and B. A calibration model."]
