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
    tmp_path: Path, tiny_run: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> Path:  # after ``invoke``, in another folder
    """The current folder, with ``made``: a folder that every command may replace, tables, runs and a study."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "made"
    made.mkdir()
    for name in RECORDS:
        (made / f"{name}.json").write_text("{}")
    (made / "prompts.txt").write_text("Hello.\n")
    (made / "texts.csv").write_text(TEXTS)
    (made / "sentences.csv").write_text(SENTENCES)
    (made / "dump.xml").write_text("<mediawiki></mediawiki>")
    for name in ("first", "second"):
        shutil.copytree(tiny_run, tmp_path / name)
        rows = [{"prompt": f"Hello {i}.", "response": f"Hi {i}, {name}."} for i in range(4)]
        write_table(tmp_path / f"{name}.jsonl", rows)
    invoke.printed("judge", "make", "first.jsonl", "second.jsonl", "--out", "study")
    (tmp_path / "study" / "ann.json").write_text("{}")
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
        ("stereotypes sentences --import made/sentences.csv --out made --overwrite", "sentences.csv would be lost"),
        ("corpus split made/texts.csv --specification religion1 --out made", "made/texts.csv would be lost with"),
        ("corpus collect --dump made/dump.xml --out made", "made/dump.xml would be lost with"),
        ("evaluate {tiny} --out run --store run/store", "run/store would be lost with"),
        ("compare first second --out second/result.json", "result.json is read, and would be lost"),
        ("judge analyse study --out study/key.json", "key.json is read, and would be lost"),
        ("judge analyse study --out study/ann.json", "ann.json is read, and would be lost"),
    ],
)
def test_a_file_that_is_read_is_not_replaced(
    words: str, lost: str, folder: Path, tiny_options: tuple[str, ...], invoke: Invoke
) -> None:
    said = invoke.refused(*words.replace("{tiny}", " ".join(tiny_options)).split(), keeps=folder)
    assert lost in said
    assert said.rstrip().splitlines()[-1].startswith("holisticbias: ")
