"""Texts, responses and prompts: what tables of several kinds say of a group and of a response is read in one way."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.tables.written import MEASURED, READERS, read_others, write

from holisticbias_eval.errors import TableError
from holisticbias_eval.prompts.prompt_sources import read_source
from holisticbias_eval.tasks.response_files import TEXTS
from row_files import as_lines

LONG = "x" * 1001
READ: Mapping[str, Callable[[Path], Any]] = {
    "text": TEXTS.read,
    "response": read_others,
    "prompt": lambda path: read_source(str(path), keep_faulty=True).table,
}


def read(folder: Path, kind: str, **columns: tuple[str, str]) -> list[dict[str, Any]]:
    own = {"group": ("blickets", "daxes"), kind: ("It is tall.", "It is red."), **columns}
    path = folder / "t.csv"
    path.write_text("\n".join([",".join(own), *map(",".join, zip(*own.values(), strict=True))]), "utf-8")
    rows: list[dict[str, Any]] = READ[kind](path).to_pylist()
    return rows


@pytest.mark.parametrize("kind", READ)
def test_a_domain_stands_in_every_row_or_in_none(kind: str, tmp_path: Path) -> None:
    assert [row["domain"] for row in read(tmp_path, kind, domain=("", ""))] == [None, None]
    with pytest.raises(TableError, match="row 2: column domain is missing: every row needs a value"):
        read(tmp_path, kind, domain=("toys", ""))


@pytest.mark.parametrize("kind", READ)
def test_long_names_are_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="row 1: column group has 1,001 characters: the most is 1,000"):
        read(tmp_path, kind, group=(LONG, "daxes"))


@pytest.mark.parametrize(("kind", "item"), [("text", None), ("response", None), ("prompt", "1")])
def test_rows_without_an_item_are_not_of_one_item(kind: str, item: str | None, tmp_path: Path) -> None:
    assert read(tmp_path, kind, item=("", "p"))[0]["item"] == item


@pytest.mark.parametrize("kind", ["text", "response"])
def test_the_source_of_given_texts_is_read(kind: str, tmp_path: Path) -> None:
    read(tmp_path, kind, source=("human", ""))
    assert [row["source"] for row in read_others(tmp_path / "t.csv").to_pylist()] == ["human", "model"]


@pytest.mark.parametrize("reader", ["labels", "offensiveness", "responses", "responses to judge"])
def test_every_table_of_responses_knows_how_a_response_ends(reader: str, tmp_path: Path) -> None:
    reads, rows = {**MEASURED, **READERS}[reader]
    with pytest.raises(TableError, match="row 1: column finish is 'Refused': write stop or length or refused or filt"):
        reads(write(tmp_path, "t.jsonl", as_lines([{**row, "finish": "Refused"} for row in rows])))
