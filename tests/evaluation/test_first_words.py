"""Runs in which nothing precedes a text: what is not scored is counted and said, and pairs that differ there go."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.evaluation.stereotype_score.conftest import invented_pairs

from holisticbias_eval.prompts.contexts import differ_first
from holisticbias_eval.results.run import read_signature
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


def groups(tmp_path: Path, names: tuple[str, ...]) -> Path:
    rows = [
        {"dimension": "one", "sentence_id": f"{name}-{i}", "group": group, "sentence": f"{text} {'Yes. ' * i}"}
        for i in range(3)
        for name in names
        for group, text in zip(("nurse", "banker"), TEXTS[name], strict=True)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "test.parquet")
    return tmp_path / "test.parquet"


def test_texts_that_differ_in_their_first_word() -> None:
    """In it, and in it alone."""
    expected: dict[tuple[str, ...], tuple[bool, bool]] = {
        ("Nurses are kind.", "Bankers are kind."): (True, True),
        ("Nurses are kind.", "Nurses are kind."): (False, False),
        ("Black women are kind.", "White women are kind."): (True, True),
        ("Black women are kind.", "White men are kind."): (True, False),
        ("I love nurses.", "I love bankers."): (False, False),
        ("“Nurses” are kind.", "“Bankers” are kind."): (True, True),
        ("Nurses", "Bankers", "Pilots"): (True, True),
        ("Nurses", "..."): (True, True),
        ("", ""): (False, False),
    }
    assert {texts: differ_first(texts) for texts in expected} == expected


@pytest.mark.parametrize(
    ("option", "texts", "what", "differing", "counts"),
    [
        ("--pairs", 8, "pairs that differ", 2, (4, 6)),
        ("--test-set", 12, "texts that differ between groups", 6, (12, 18)),
    ],
)
def test_texts_that_differ_in_an_unscored_word_alone_are_left_out_and_counted(
    invoke: Invoke, tiny_gpt2: Path, tmp_path: Path, option: str, texts: int, what: str, differing: int,
    counts: tuple[int, int],
) -> None:  # fmt: skip
    path = (pairs if option == "--pairs" else groups)(tmp_path, tuple(TEXTS))
    given, run = ("evaluate", option, path, "--model", tiny_gpt2, "--out"), tmp_path / "run"
    out = invoke.printed(*given, run, *NONE)
    said = (
        f"the first token of {texts} of {texts} texts, which nothing precedes; {differing} {what} in the first word "
        f"alone, left out; {differing} {what} in the first word and in others, counted"
    )
    found = read_signature(run)
    assert found.scoring["unscored"] == said
    assert (found.sentences_scored, found.sentences_available) == counts
    invoke.printed("report", run, "--format", "svg", "--out", tmp_path / "chart.svg")
    assert f"Not scored: {said}." in " ".join(out.split())
    assert f"Not scored: {said}." in (run / "report.html").read_text("utf-8")
    assert f"Not scored: the first token of {texts} of" in (tmp_path / "chart.svg").read_text("utf-8")
    assert "Not scored" not in invoke.printed(*given, tmp_path / "all")
    assert "unscored" not in read_signature(tmp_path / "all").scoring
    assert read_signature(tmp_path / "all").sentences_scored == counts[1]


def test_the_published_formula_keeps_pairs_that_differ_in_the_first_word(
    invoke: Invoke, tiny_gpt2: Path, tmp_path: Path
) -> None:
    given = ("evaluate", "--pairs", pairs(tmp_path, ("alone", "later")), "--model", tiny_gpt2, "--mode", "published")
    invoke.printed(*given, "--out", tmp_path / "run")
    found = read_signature(tmp_path / "run")
    assert found.sentences_scored == 4
    assert "2 pairs that differ in the first word alone, counted as published" in found.scoring["unscored"]


@pytest.mark.parametrize("option", ["--pairs", "--test-set"])
def test_texts_of_which_none_is_left_are_refused(option: str, invoke: Invoke, tiny_gpt2: Path, tmp_path: Path) -> None:
    path = (pairs if option == "--pairs" else groups)(tmp_path, ("alone",))
    error = invoke.refused("evaluate", option, path, "--model", tiny_gpt2, "--out", tmp_path / "run", *NONE)
    assert "differ in their first word alone" in " ".join(error.split())
    assert "--first-token TOKEN" in " ".join(error.split())


def test_texts_of_other_runs_are_counted(invoke: Invoke, tiny_options: tuple[str, ...], tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("One line.\n\nAnother line.\n", "utf-8")
    lines_of_model = (*tiny_options[:2], "--retain", lines)
    for number, given in enumerate((tiny_options, lines_of_model, (*tiny_options, "--context", "Oh."))):
        folder = tmp_path / str(number)
        out = invoke.printed("evaluate", *given, "--out", folder, *NONE)
        found = read_signature(folder)
        scored = found.sentences_scored
        if "--context" in given:  # the first token of the context is not scored anyway
            assert "unscored" not in found.scoring
        else:
            words = f"the first token of {scored} of {scored} texts, which nothing precedes"
            assert found.scoring["unscored"] == words
            assert f"Not scored: {words}." in " ".join(out.split())
