"""Costs of levels, the baseline of made-up words, and runs that are not comparable, through the command."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.simulated import World

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures, Interval, make_figure
from holisticbias_eval.measures.measure import NONCE
from holisticbias_eval.measures.shares.changes import share_changes
from holisticbias_eval.measures.shares.shares import measure_shares
from holisticbias_eval.report.gain_words import Labels
from holisticbias_eval.report.gains import gains_chapter
from holisticbias_eval.results.compare import compare_runs
from holisticbias_eval.results.gains import find_gains
from holisticbias_eval.results.run import Run, read_run, write_run
from invoking import Invoke

NAME = "stereotype_score"
NEGATIVE, NEUTRAL = "Everyone hated this horrible liar.", "They live in the town."


@pytest.fixture
def texts(tmp_path: Path, invoke: Invoke) -> Callable[[str, float], Path]:
    """The run of a model whose texts are negative to some share, equally often in both groups."""

    def measure(name: str, share: float) -> Path:
        path = tmp_path / f"{name}.csv"
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["domain", "group", "item", "text"])
            for group in ("alphas", "betas"):
                for i in range(500):
                    rows.writerow(["people", group, f"{group}{i}", NEGATIVE if 7 * i % 500 < 500 * share else NEUTRAL])
        out = tmp_path / "runs" / name
        options = ("--measure", "sentiment", "--model", name, "--responses", path, "--out", out)
        invoke.printed("evaluate", *options)
        return out

    return measure


def test_texts_that_are_more_negative_in_every_group_are_a_cost(
    texts: Callable[[str, float], Path], invoke: Invoke
) -> None:
    runs = [texts(name, share) for name, share in (("one", 0.04), ("two", 0.1), ("three", 0.04))]
    printed = invoke.printed("compare", runs[0], runs[1], "--format", "md")
    assert "Costs: Negative texts, people 4.0% in A, 10.0% in B" in printed
    assert "No cost shown" not in printed
    assert " before" not in printed  # two models, not one before and after
    printed = invoke.printed("compare", *runs, "--format", "md")
    assert "two: Costs: Negative texts, people 4.0% in one, 10.0% in two" in printed
    assert "three: No cost shown" in printed
    table = printed.partition("How much there is, whatever the groups")[2]
    assert "| Negative texts, people |" in table


def with_nonce(seed: int, noise: float) -> pa.Table:
    world = World({"religion": (0.0, 0.5, -0.5), NONCE: (0.0, 0.9, -0.9)}, templates=6, noise=0.0)
    table = world.draw(np.random.default_rng(0))
    axes = np.array(table["axis"].to_pylist())
    log = np.log(table["perplexity"].to_numpy())
    log = log + (axes == NONCE) * np.random.default_rng(seed).normal(0, noise, len(log))
    ids = [f"{r['template']}/{r['descriptor_id']}/{r['noun_id']}" for r in table.to_pylist()]
    table = table.set_column(table.column_names.index("perplexity"), "perplexity", pa.array(np.exp(log)))
    return table.append_column("sentence_id", pa.array(ids)).append_column("text", pa.array(ids))


def test_made_up_words_are_in_no_share_over_all_axes() -> None:
    first, second = with_nonce(1, 0.0), with_nonce(2, 3.0)
    changes = Figures(share_changes("likelihood_bias", first, second))
    religion = {s.axis: s.share for s in measure_shares(first).by_axis}["religion"]
    for name, keys in (("first", {}), ("second", {}), ("first", {"axis": "religion"})):
        assert changes.value("likelihood_bias", name, keys) == pytest.approx(religion)
    change = changes.get("likelihood_bias", "change", {"axis": NONCE})
    assert change is not None
    assert change.value
    gains = {g.keys.get("axis"): g for g in find_gains(changes, ())}
    assert gains[NONCE].outcome == "baseline"
    assert (gains[NONCE].main, gains[None].main) == (False, True)


@pytest.mark.parametrize("key", ["axis", "domain"])
def test_a_baseline_never_stands_for_its_measure(key: str) -> None:
    measure = "stance_contrast" if key == "axis" else "sentiment"
    of, further = ("shared_contrast", {}) if key == "axis" else ("disparity", {"class": "negative"})
    found = [
        make_figure(measure, name, {key: NONCE, **further}, value, "share", 9, p_value=1e-9, of=of)
        for name, value in (("first", 0.1), ("second", 0.9), ("change", 0.8))
    ]
    (gain,) = find_gains(Figures(found), ())
    assert (gain.outcome, gain.main) == ("baseline", False)


def test_an_interval_without_width_shows_nothing() -> None:
    interval = Interval(low=1.0, high=1.0)
    found = [
        make_figure("retention", name, {}, value, "perplexity", 2, interval=interval, of="perplexity")
        for name, value in (("first", 1.0), ("second", 2.0), ("change", 1.0))
    ]
    (gain,) = find_gains(Figures(found), ())
    assert gain.outcome == "not tested"


COUNTED = "counted, given the token '<|endoftext|>', which marks the start of documents in training"
REFUSED: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "first token": (
        {"first_token": COUNTED},
        {"first_token": "not counted: left out with --first-token"},
        "the first token of a text is counted in A alone",
    ),
    "other token": (
        {"first_token": COUNTED},
        {"first_token": "counted, given the token '<s>', chosen with --first-token"},
        "the first token of a text stands after different tokens",
    ),
    "context": ({}, {"context": "They said:"}, "the contexts differ"),
    "chat": (
        {},
        {"first_token": COUNTED, "chat": "the text begins the user's turn, after 'x' (SHA-256 0)"},
        "texts are scored as plain texts in A and as the beginning of a turn (user) in B",
    ),
    "pll": ({"pll": "original"}, {"pll": "within_word_l2r"}, "pseudo-log-likelihoods are computed in different ways"),
}


def altered(run: Run, **signature: Any) -> Run:
    changed = run.result.signature.model_copy(update=signature)
    return replace(run, result=run.result.model_copy(update={"signature": changed}))


@pytest.mark.parametrize("name", REFUSED)
def test_scores_under_other_conditions_are_refused(name: str, tiny_run: Path) -> None:
    first, second, reason = REFUSED[name]
    run = read_run(tiny_run)
    known = run.result.signature.scoring
    with pytest.raises(SelectionError, match="the runs cannot be compared") as error:
        compare_runs(altered(run, scoring={**known, **first}), altered(run, scoring={**known, **second}))
    assert reason in str(error.value)


def test_another_model_has_another_first_token(tiny_run: Path) -> None:
    run = read_run(tiny_run)
    model = run.result.signature.model.model_copy(update={"weights_sha256": "0" * 64})
    scoring = {**run.result.signature.scoring, "first_token": REFUSED["other token"][1]["first_token"]}
    assert compare_runs(run, altered(run, model=model, scoring=scoring)).left_out == ()


def test_the_command_says_what_is_not_compared(
    texts: Callable[[str, float], Path], tmp_path: Path, invoke: Invoke
) -> None:
    one, two, three = texts("one", 0.04), texts("two", 0.1), texts("three", 0.04)
    run = read_run(two)
    measuring = {"sentiment": {**run.result.signature.measuring["sentiment"], "negative": "-0.2"}}
    (tmp_path / "other").mkdir()
    write_run(altered(run, measuring=measuring), tmp_path / "other")
    said = invoke.refused("compare", one, tmp_path / "other")
    reason = "Sentiment of texts about groups is not compared: the measure's parameters differ (negative)"
    assert reason in said
    assert len(said.strip().splitlines()) == 1
    printed = invoke.printed("compare", one, tmp_path / "other", three, "--format", "md")
    assert reason in printed
    assert "three: No cost shown" in printed


def test_a_score_around_one_half_is_no_relative_change() -> None:
    found = [
        make_figure(NAME, name, {}, value, "share", 9, interval=Interval(low=0.05, high=0.15), of=NAME)
        for name, value in (("first", 0.5), ("second", 0.6), ("change", 0.1))
    ]
    (gain,) = find_gains(Figures(found), ())
    assert (gain.outcome, gain.relative) == ("cost", None)
    chapter = gains_chapter({"B": (gain,)}, Labels())
    assert not [section for section in chapter.sections if section.name == "gains-chart"]
