"""Pseudo-log-likelihood bias reports on phrases and their pseudo-log-likelihoods, and compares nats."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from tests.evaluation.made_answers import QUICK, make_answers, sections_of, view_of, words_of

from holisticbias_eval.measures.measure import View

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
