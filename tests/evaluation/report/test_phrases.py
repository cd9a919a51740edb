"""The report of a run of a masked model speaks of phrases and their pseudo-log-likelihoods."""

from __future__ import annotations

import csv
import io
import itertools
import re
import statistics

from holisticbias_eval.report.charts import report_charts
from holisticbias_eval.report.contents import report_tables
from holisticbias_eval.report.files import render_csv
from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.summary import summarise
from holisticbias_eval.results.run import Run

from .test_page import Page, check_structure


def test_no_word_of_what_was_not_measured(phrase_run: Run) -> None:
    summary = summarise(phrase_run)
    page = Page(render_page(summary))
    check_structure(page)
    words = page.all("body")[0][1]
    for text in (words, render_markdown(summary)):
        assert not re.search("perplexit|[Ll]ove|[Hh]ate|Likelihood Bias by", text)
        assert "Pseudo-log-likelihood bias by axis" in text
    assert "section B.1" in words
    assert "nats a phrase" in words


def test_values_are_in_nats(phrase_run: Run) -> None:
    summary = summarise(phrase_run)
    table = csv.DictReader(io.StringIO(render_csv(report_tables(summary)["descriptors"])))
    rows = {row["descriptor"]: row for row in table}
    logs = [row["nll"] / row["tokens"] for row in phrase_run.scores.to_pylist() if row["descriptor"] == "tall"]
    # the drawn runs have the mean of a token as the logarithm of their perplexity
    assert abs(float(rows["tall"]["median_nats"]) - statistics.median(logs)) < 1e-9
    assert "love_hate_difference" not in rows["tall"]
    assert summary.template == "{noun_phrase} is a person."
    charts = report_charts(summary)
    assert "love-hate" not in charts
    ticks = [float(tick.label) for tick in charts["perplexities-1"].ticks]
    steps = {round(b - a, 9) for a, b in itertools.pairwise(ticks)}
    assert len(steps) == 1, "one step from mark to mark"
