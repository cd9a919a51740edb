"""Runs in which nothing precedes a text: what is not scored is counted and said, and pairs that differ there go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.evaluation.stereotype_score.conftest import invented_pairs

from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.prompts.contexts import differ_first, without_first_word
from invoking import Invoke

NONE = ("--first-token", "none")
TEXTS = {
    "alone": ("Nurses are kind.", "Bankers are kind."),
    "also": ("Nurses say she is kind.", "Bankers say he is kind."),
    "later": ("The nurses are kind.", "The bankers are kind."),
}


def pairs(tmp_path: Path, names: tuple[str, ...]) -> Path:
    row = invented_pairs()[0]
    rows = [
        {**row, "pair_id": f"{name}-{attribute}", "attribute": attribute, "sentence": one, "other_sentence": other}
        for name in names
        for one, other in (TEXTS[name],)
        for attribute in ("ferlic", "mivish")
    ]
    rows = [{**r, "term": "kind", "other_term": "kind"} for r in rows]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "pairs.parquet")
    return tmp_path / "pairs.parquet"


def signature(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "result.json").read_text("utf-8"))["signature"]
    return found


@pytest.mark.parametrize(
    ("texts", "in_first", "alone"),
    [
        (("Nurses are kind.", "Bankers are kind."), True, True),
        (("Nurses are kind.", "Nurses are kind."), False, False),
        (("Black women are kind.", "White women are kind."), True, True),
        (("Black women are kind.", "White men are kind."), True, False),
        (("I love nurses.", "I love bankers."), False, False),
        (("“Nurses” are kind.", "“Bankers” are kind."), True, True),
        (("Nurses", "Bankers", "Pilots"), True, True),
        (("Nurses", "..."), True, True),
        (("", ""), False, False),
    ],
)
def test_texts_that_differ_in_their_first_word(texts: tuple[str, ...], in_first: bool, alone: bool) -> None:
    assert differ_first(texts) == (in_first, alone)


def test_the_first_word_has_the_marks_before_it() -> None:
    assert without_first_word("“Nurses” are kind.") == ("“Nurses", "” are kind.")
    assert without_first_word("") == ("", "")


def test_pairs_that_differ_in_an_unscored_word_alone_are_left_out_and_counted(
    invoke: Invoke, tiny_gpt2: Path, tmp_path: Path
) -> None:
    given = ("evaluate", "--pairs", pairs(tmp_path, ("alone", "also", "later")), "--model", tiny_gpt2)
    out = invoke.printed(*given, "--out", tmp_path / "run", *NONE)
    said = (
        "the first token of 8 of 8 texts, which nothing precedes; 2 pairs that differ in the first word alone, left "
        "out; 2 pairs that differ in the first word and in others, counted"
    )
    found = signature(tmp_path / "run")
    assert found["scoring"]["unscored"] == said
    assert found["scoring"]["pair_score"] == "log-likelihood of the sentence without its first token"
    assert (found["sentences_scored"], found["sentences_available"]) == (4, 6)
    (skipped,) = found["skipped"]
    assert skipped["sentences"] == 2
    assert "first word alone" in skipped["reason"]
    scored = pq.read_table(tmp_path / "run" / "scored_pairs.parquet")
    known = dict(zip(scored["pair_id"].to_pylist(), scored["score_stereotype"].is_valid().to_pylist(), strict=True))
    assert {name.split("-")[0] for name, valid in known.items() if not valid} == {"alone"}
    assert f"Not scored: {said}." in " ".join(out.split())
    assert f"Not scored: {said}." in (tmp_path / "run" / "report.html").read_text("utf-8")
    chart = tmp_path / "chart.svg"
    invoke.printed("report", tmp_path / "run", "--format", "svg", "--out", chart)
    assert "Not scored: the first token of 8 of 8" in chart.read_text("utf-8")


def test_with_a_first_token_every_pair_is_measured(invoke: Invoke, tiny_gpt2: Path, tmp_path: Path) -> None:
    """The margins are those of whole sentences, each read after the token between documents."""
    given = ("evaluate", "--pairs", pairs(tmp_path, ("alone", "later")), "--model", tiny_gpt2)
    out = invoke.printed(*given, "--out", tmp_path / "run")
    assert "Not scored" not in out
    found = signature(tmp_path / "run")
    assert "unscored" not in found["scoring"]
    assert found["scoring"]["pair_score"] == "log-likelihood of the whole sentence"
    assert found["sentences_scored"] == 4
    scores = start_scorer(str(tiny_gpt2), lambda _: None).score(whole(TEXTS["alone"]), lambda _: None)
    row = pq.read_table(tmp_path / "run" / "scored_pairs.parquet").to_pylist()[0]
    assert [row["score_stereotype"], row["score_antistereotype"]] == pytest.approx(-scores.nll, abs=1e-4)
    left_out = start_scorer(str(tiny_gpt2), lambda _: None, ModelSettings(first_token="none"))  # noqa: S106
    other = left_out.score(whole(TEXTS["alone"]), lambda _: None)
    assert np.abs(np.diff(other.nll) - np.diff(scores.nll)) > 1e-3


def test_the_published_formula_keeps_pairs_that_differ_in_the_first_word(
    invoke: Invoke, tiny_gpt2: Path, tmp_path: Path
) -> None:
    given = ("evaluate", "--pairs", pairs(tmp_path, ("alone", "later")), "--model", tiny_gpt2, "--mode", "published")
    invoke.printed(*given, "--out", tmp_path / "run")
    found = signature(tmp_path / "run")
    assert found["sentences_scored"] == 4
    assert "2 pairs that differ in the first word alone, counted as published" in found["scoring"]["unscored"]


@pytest.mark.parametrize("mode", ["published", "choice"])
def test_a_mode_that_says_what_precedes_a_text_takes_no_other(
    mode: str, invoke: Invoke, tiny_gpt2: Path, tmp_path: Path
) -> None:
    given = ("evaluate", "--pairs", pairs(tmp_path, ("later",)), "--model", tiny_gpt2, "--mode", mode)
    error = invoke.refused(*given, "--out", tmp_path / "run", *NONE)
    assert "--first-token is for" in error


@pytest.mark.parametrize("option", ["--pairs", "--test-set"])
def test_texts_of_which_none_is_left_are_refused(option: str, invoke: Invoke, tiny_gpt2: Path, tmp_path: Path) -> None:
    path = pairs(tmp_path, ("alone",)) if option == "--pairs" else write_groups(tmp_path, ("alone",))
    error = invoke.refused("evaluate", option, path, "--model", tiny_gpt2, "--out", tmp_path / "run", *NONE)
    assert "differ in their first word alone" in " ".join(error.split())
    assert "--first-token TOKEN" in " ".join(error.split())


def write_groups(tmp_path: Path, names: tuple[str, ...]) -> Path:
    rows = [
        {"dimension": "one", "sentence_id": f"{name}-{i}", "group": group, "sentence": f"{text} {'Yes. ' * i}"}
        for i in range(3)
        for name in names
        for group, text in zip(("nurse", "banker"), TEXTS[name], strict=True)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "test.parquet")
    return tmp_path / "test.parquet"


def test_sentences_that_differ_in_an_unscored_word_alone_are_left_out_of_a_test_set(
    invoke: Invoke, tiny_gpt2: Path, tmp_path: Path
) -> None:
    given = ("evaluate", "--test-set", write_groups(tmp_path, tuple(TEXTS)), "--model", tiny_gpt2)
    out = invoke.printed(*given, "--out", tmp_path / "run", *NONE)
    said = (
        "the first token of 12 of 12 texts, which nothing precedes; 6 texts that differ between groups in the first "
        "word alone, left out; 6 texts that differ between groups in the first word and in others, counted"
    )
    found = signature(tmp_path / "run")
    assert found["scoring"]["unscored"] == said
    assert (found["sentences_scored"], found["sentences_available"]) == (12, 18)
    assert f"Not scored: {said}." in " ".join(out.split())
    out = invoke.printed(*given, "--out", tmp_path / "all")
    assert "Not scored" not in out
    assert signature(tmp_path / "all")["sentences_scored"] == 18


def test_texts_of_other_runs_are_counted(
    invoke: Invoke, tiny_gpt2: Path, mini_release_folder: Path, tmp_path: Path
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("One line.\n\nAnother line.\n", "utf-8")
    release = ("--release", mini_release_folder)
    for number, given in enumerate((release, ("--retain", lines), (*release, "--context", "Oh."))):
        folder = tmp_path / str(number)
        out = invoke.printed("evaluate", *given, "--model", tiny_gpt2, "--out", folder, *NONE)
        found = signature(folder)
        scored = found["sentences_scored"]
        if "--context" in given:  # the first token of the context is not scored anyway
            assert "unscored" not in found["scoring"]
        else:
            words = f"the first token of {scored} of {scored} texts, which nothing precedes"
            assert found["scoring"]["unscored"] == words
            assert f"Not scored: {words}." in " ".join(out.split())
