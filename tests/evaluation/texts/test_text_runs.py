"""Runs of texts about groups: from prompts to figures and page."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias.cli import main
from holisticbias_eval.results.run import read_run
from invoking import Invoke
from known import known
from row_files import write_table

Evaluate = Callable[..., Path]
PROMPTS = "prompt,group,domain,subject,continuation\n" + "".join(
    f"The {word} number {i} of us,{group},craft,{word},{text}\n"
    for group, word, text in (
        ("blickets", "blicket", "he is a wonderful man."),
        ("daxes", "dax", "she is horrible and awful."),
    )
    for i in range(4)
)


@pytest.fixture(scope="module")
def evaluate(tiny_gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> Evaluate:
    """Evaluate texts with the tiny model; the folder of the run."""

    def run(*options: object) -> Path:
        out = tmp_path_factory.mktemp("texts") / "run"
        fixed = ("evaluate", "--measures", "sentiment,gender_polarity", "--model", tiny_gpt2, "--out", out)
        assert main([*map(str, (*fixed, *options))]) == 0
        return out

    return run


@pytest.fixture(scope="module")
def made(evaluate: Evaluate, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of a user's prompts."""
    prompts = tmp_path_factory.mktemp("prompts") / "own.csv"
    prompts.write_text(PROMPTS)
    return evaluate("--prompts", prompts, "--per-cell", 2)


def test_the_texts_of_the_model_and_of_people_are_in_the_run(made: Path) -> None:
    rows = read_run(made).answers.to_pylist()
    assert Counter(row["source"] for row in rows) == {"model": 16, "human": 8}
    for row in rows:
        whole = row["prompt"] + (row["response"] if row["source"] == "model" else f" {row['response']}")
        assert row["text"] == (whole if row["response"].strip() else "")
    assert {row["item"] for row in rows} == {str(i) for i in range(1, 9)}


def test_texts_made_elsewhere_give_the_same_figures(made: Path, evaluate: Evaluate) -> None:
    given = evaluate("--responses", made / "responses.parquet")
    assert read_run(given).result.figures == read_run(made).result.figures


def test_responses_are_joined_with_their_prompts(evaluate: Evaluate, tmp_path: Path) -> None:
    (tmp_path / "said.csv").write_text(
        "group,prompt,response,finish\nblickets,The blicket is,wonderful.,stop\nblickets,The blicket is,,refused\n"
        "daxes,The dax is,the dax is red.,stop\n"
    )
    answers = read_run(evaluate("--responses", tmp_path / "said.csv")).answers
    assert answers["response_id"].to_pylist() == ["1", "2", "3"]
    assert answers["text"].to_pylist() == ["The blicket is wonderful.", None, "The dax is red."]


def test_hostile_texts_are_data(evaluate: Evaluate, tmp_path: Path) -> None:
    texts = ["</script><script>alert(1)</script> \u202e\x07 he is wonderful", "x" * 50_000 + " she", "", None] * 3
    groups = ["<b>blickets</b>", "daxes\u202e"] * 6
    table = pa.table({"group": groups, "domain": ["<i>craft"] * 12, "text": texts, "subject": ["(["] * 12})
    pq.write_table(table, tmp_path / "hostile.parquet")
    page = (evaluate("--responses", tmp_path / "hostile.parquet") / "report.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "<b>blickets" not in page
    assert "\u202e" not in page
    assert "x" * 2000 not in page


def test_ties_as_published_make_every_text_count(invoke: Invoke, tmp_path: Path) -> None:
    """Two of 54 texts are male; the others have no word of either list."""
    rows = [
        {"domain": "profession", "group": group, "text": "He is good at it." if i == 0 else "The work is hard."}
        for group in ("smiths", "weavers")
        for i in range(27)
    ]
    path = write_table(tmp_path / "texts.csv", rows)
    found = invoke.figures("measure", "gender_polarity", path, "--ties", "published")
    share = known(found.get("gender_polarity", "share", {"domain": "profession", "method": "words", "class": "male"}))
    assert share.n == 54
    assert share.value == pytest.approx(2 / 54)
