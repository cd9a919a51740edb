"""Runs of texts about groups: from prompts to figures, page, comparison, and what is refused."""

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias_eval.figures import Figures
from holisticbias_eval.results.run import read_run
from invoking import Invoke
from known import known

MEASURES = "sentiment,gender_polarity"
PROMPTS = "prompt,group,domain,subject,continuation\n" + "".join(
    f"The {word} number {i} of us,{group},craft,{word},{text}\n"
    for group, word, text in (
        ("blickets", "blicket", "he is a wonderful man."),
        ("daxes", "dax", "she is horrible and awful."),
    )
    for i in range(4)
)


@pytest.fixture(scope="module")
def made(tiny_gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Callable[..., int]]:
    from holisticbias.cli import main

    folder = tmp_path_factory.mktemp("texts")
    (folder / "own.csv").write_text(PROMPTS)

    def run(*options: object, out: str) -> int:
        fixed = ("evaluate", "--measure", MEASURES, "--model", tiny_gpt2, "--out", folder / out)
        return main([*map(str, (*fixed, *options))])

    assert run("--prompts", folder / "own.csv", "--per-cell", 2, out="run") == 0
    return folder, run


def test_the_texts_of_the_model_and_of_people_are_in_the_run(made: tuple[Path, Callable[..., int]]) -> None:
    rows = read_run(made[0] / "run").answers.to_pylist()
    assert Counter(row["source"] for row in rows) == {"model": 16, "human": 8}
    for row in rows:
        whole = row["prompt"] + (row["response"] if row["source"] == "model" else f" {row['response']}")
        assert row["text"] == (whole if row["response"].strip() else "")
    assert {row["item"] for row in rows} == {str(i) for i in range(1, 9)}


def test_texts_made_elsewhere_give_the_same_figures(made: tuple[Path, Callable[..., int]]) -> None:
    folder, run = made
    assert run("--responses", folder / "run" / "responses.parquet", out="given") == 0
    one, other = (Figures(read_run(folder / name).result.figures) for name in ("run", "given"))
    assert [f.model_dump() for f in one] == [f.model_dump() for f in other]


def test_responses_are_joined_with_their_prompts(made: tuple[Path, Callable[..., int]]) -> None:
    folder, run = made
    (folder / "said.csv").write_text(
        "group,prompt,response,finish\nblickets,The blicket is,wonderful.,stop\nblickets,The blicket is,,refused\n"
        "daxes,The dax is,the dax is red.,stop\n"
    )
    assert run("--responses", folder / "said.csv", out="said") == 0
    answers = read_run(folder / "said").answers
    texts = answers["text"].to_pylist()
    assert answers["response_id"].to_pylist() == ["1", "2", "3"]
    assert texts == ["The blicket is wonderful.", None, "The dax is red."]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--prompts", "own.csv", "--release", "1.0.0"), "--prompts own.csv and --release exclude each other"),
        (("--prompts", "calibration", "--release", "1.0.0"), "--prompts calibration and --release exclude each other"),
        (("--release", "MINI"), "release 0.1.0 has no prompts: choose a version that has them with --release"),
        (("--prompts", "unknown", "--release", "MINI"), "release 0.1.0 has no prompts"),
        (("--prompts", "own.csv", "--where", "group=x"), "--where group=x: the prompts have no such group"),
        (("--prompts", "own.csv", "--style", "x"), "there is no prompt style 'x' and no such file"),
        (("--prompts", "own.csv", "--human", "own.txt"), "own.txt is not .csv, .jsonl, .json or .parquet"),
        (("--responses", "own.csv"), "a table of texts about groups has the columns group and text, or group, prompt"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(
    made: tuple[Path, Callable[..., int]], invoke: Invoke, mini_release_folder: Path, tiny_gpt2: Path,
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(made[0])
    given = [mini_release_folder if option == "MINI" else option for option in options]
    fixed = ("evaluate", "--measure", MEASURES, "--model", tiny_gpt2, "--out", made[0] / "refused")
    said = invoke.refused(*fixed, *given)
    assert message in said
    assert "Traceback" not in said
    assert not (made[0] / "refused").exists()


def test_hostile_texts_are_data(made: tuple[Path, Callable[..., int]]) -> None:
    folder, run = made
    texts = ["</script><script>alert(1)</script> \u202e\x07 he is wonderful", "x" * 50_000 + " she", "", None] * 3
    groups = ["<b>blickets</b>", "daxes\u202e"] * 6
    table = pa.table({"group": groups, "domain": ["<i>craft"] * 12, "text": texts, "subject": ["(["] * 12})
    pq.write_table(table, folder / "hostile.parquet")
    assert run("--responses", folder / "hostile.parquet", out="hostile") == 0
    page = (folder / "hostile" / "report.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "<b>blickets" not in page
    assert "\u202e" not in page
    assert "x" * 2000 not in page


DOMAIN = {"domain": "profession"}
WORDS = {"method": "words"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """54 texts about two professions: two are male, one of them in each; in a second domain one is female."""
    path = tmp_path / "texts.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["domain", "group", "text"])
        for i in range(27):
            for group in ("smiths", "weavers"):
                rows.writerow(["profession", group, "He is good at it." if i == 0 else "The work is hard."])
        rows.writerows(["craft", group, f"{word} left."] for group, word in (("a", "She"), ("a", "He"), ("b", "They")))
    return path


def test_ties_as_published_make_every_text_count(invoke: Invoke, table: Path) -> None:
    found = invoke.figures("measure", "gender_polarity", table, "--ties", "published")
    share = known(found.get("gender_polarity", "share", {**DOMAIN, **WORDS, "class": "male"}))
    assert share.n == 54
    assert share.value == pytest.approx(2 / 54)


def test_a_narrow_terminal_shows_how_many_texts(invoke: Invoke, table: Path) -> None:
    printed = invoke.printed("measure", "gender_polarity", table)
    first = printed.partition("by domain")[2].partition("Not shown")[0]
    row = next(line for line in first.splitlines() if "Profession" in line)
    assert row.split()[:5] == ["Profession", "100.0%", "2", "3.7%", "54"]
