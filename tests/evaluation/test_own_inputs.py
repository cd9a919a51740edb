"""No command replaces a file that it reads."""

import shutil
from pathlib import Path

import pytest

from invoking import Invoke
from row_files import write_table

TEXTS = "text,group,response\nGood.,women,Good.\nBad.,men,Bad.\n"
SENTENCES = "specification,attribute,term,sentence\nstereotypes.mathematics-or-arts,math,he,He likes math.\n"
RECORDS = ("measurement", "generation", "pairs", "split", "sentences", "collection")


@pytest.fixture
def folder(
    tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> Path:  # after ``invoke``, in another folder
    """The current folder, with ``made``: a folder that every command may replace, and tables in it."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "made"
    made.mkdir()
    for name in RECORDS:
        (made / f"{name}.json").write_text("{}")
    (made / "prompts.txt").write_text("Hello.\n")
    (made / "texts.csv").write_text(TEXTS)
    (made / "sentences.csv").write_text(SENTENCES)
    (made / "dump.xml").write_text("<mediawiki></mediawiki>")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "lost"),
    [
        ("classify --responses made/texts.csv --classifier vader --out made/texts.csv", "made/texts.csv is read"),
        ("classify --responses made/texts.csv --classifier vader --out made/../made/texts.csv", "texts.csv is read"),
        ("measure sentiment made/texts.csv --out made", "made/texts.csv would be lost with"),
        ("generate --prompts made/prompts.txt --out made --overwrite", "made/prompts.txt would be lost with"),
        ("generate --limit 2 --out new --store new/store", "new/store would be lost with"),
        ("stereotypes pairs --sentences made/sentences.csv --out made", "made/sentences.csv would be lost with"),
        (
            "stereotypes sentences --import made/sentences.csv --out made --overwrite",
            "sentences.csv would be lost with",
        ),
        ("corpus split made/texts.csv --specification religion1 --out made", "made/texts.csv would be lost with"),
        ("corpus collect --dump made/dump.xml --out made", "made/dump.xml would be lost with"),
    ],
)
def test_a_file_that_is_read_is_not_replaced(words: str, lost: str, folder: Path, invoke: Invoke) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    said = invoke.refused(*words.split())
    assert lost in said
    assert said.rstrip().splitlines()[-1].startswith("holisticbias: ")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_store_inside_a_run(folder: Path, tiny_options: tuple[str, ...], invoke: Invoke) -> None:
    said = invoke.refused("evaluate", *tiny_options, "--out", "run", "--store", "run/store")
    assert "run/store would be lost with" in said
    assert not (folder / "run").exists()


def test_a_comparison_does_not_replace_the_result_of_a_run(folder: Path, tiny_run: Path, invoke: Invoke) -> None:
    first, second = (Path(shutil.copytree(tiny_run, folder / name)) for name in ("first", "second"))
    before = (second / "result.json").read_bytes()
    said = invoke.refused("compare", first, second, "--out", second / "result.json")
    assert "result.json is read, and would be lost" in said
    assert (second / "result.json").read_bytes() == before


@pytest.mark.parametrize("name", ["key.json", "ann.json"])
def test_an_analysis_does_not_replace_the_key_or_answers(folder: Path, invoke: Invoke, name: str) -> None:
    rows = [{"prompt": f"Hello {i}.", "response": f"Hi {i}."} for i in range(4)]
    for one in ("a", "b"):
        write_table(folder / f"{one}.jsonl", [{**row, "response": f"{row['response']} {one}"} for row in rows])
    invoke.printed("judge", "make", "a.jsonl", "b.jsonl", "--out", "study")
    (folder / "study" / "ann.json").write_text("{}")
    before = (folder / "study" / name).read_bytes()
    assert f"{name} is read, and would be lost" in invoke.refused("judge", "analyse", "study", "--out", f"study/{name}")
    assert (folder / "study" / name).read_bytes() == before
