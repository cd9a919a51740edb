"""Pseudo-log-likelihood bias reports on phrases and their pseudo-log-likelihoods, and compares nats."""

from __future__ import annotations

import re
import statistics

import pyarrow as pa
import pytest
from tests.evaluation.made_answers import QUICK, charts_of, make_answers, sections_of, tables_of, view_of, words_of

from holisticbias_eval.measures.measure import View
from holisticbias_eval.sections import DotPlot

MEASURE = ("pseudo_likelihood_bias",)
TEMPLATES = ("This is {noun_phrase}.", "{noun_phrase} is a person.", "{plural_noun_phrase} are people.")


@pytest.fixture(scope="module")
def answers() -> pa.Table:
    return make_answers(templates=TEMPLATES)


@pytest.fixture(scope="module")
def view(answers: pa.Table) -> View:
    return view_of(answers, QUICK, MEASURE)


def test_no_word_of_what_was_not_measured(view: View) -> None:
    words = words_of(sections_of(view, MEASURE))
    assert not re.search("perplexit|[Ll]ove|[Hh]ate|Likelihood Bias by", words)
    assert "Pseudo-log-likelihood bias by axis" in words
    assert "nats per phrase" in words


def test_differences_are_per_phrase(view: View) -> None:
    assert {figure.unit for figure in view.figures.by(MEASURE[0], "nats", "axis")} == {"nats per phrase"}


def test_values_are_nats_of_the_phrase(answers: pa.Table, view: View) -> None:
    sections = sections_of(view, MEASURE)
    table = tables_of(sections)["descriptors"]
    keys = [column.key for column in table.columns]
    rows = {row[0]: dict(zip(keys, row, strict=True)) for row in table.rows}
    nats = [row["nll"] for row in answers.to_pylist() if row["descriptor"] == "tall"]
    assert rows["tall"]["median_nll"] == pytest.approx(statistics.median(nats))
    assert "love_hate" not in rows["tall"]
    assert rows["tall"]["compared_nll"] == pytest.approx(
        statistics.median(
            row["nll"]
            for row in answers.to_pylist()
            if row["descriptor"] == "tall" and row["template"] == "{noun_phrase} is a person."
        )
    )
    charts = charts_of(sections)
    assert "love-hate" not in charts
    assert isinstance(charts["perplexities-1"], DotPlot)
    assert not charts["perplexities-1"].log
    assert charts["perplexities-1"].unit == "nats per phrase"
