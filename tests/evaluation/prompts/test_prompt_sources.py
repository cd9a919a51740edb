"""Prompts of a user: files, tables, people's continuations, and datasets on the Hub."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holisticbias.errors import HolisticBiasError
from holisticbias_eval.errors import EvaluationError, SelectionError
from holisticbias_eval.prompts.collections import CollectionPrompts
from holisticbias_eval.prompts.prompt_sources import add_human, is_named, read_prompts, read_source
from loopback_hub import Hub, Repository, Stored, serve, use_as_client

TABLE = "prompt,group,domain,subject,continuation\nThe blicket ,blickets,craft,blicket,is tall.\nA dax,daxes,craft,,\n"


@pytest.fixture
def own(tmp_path: Path) -> CollectionPrompts:
    """The prompts of a user's table."""
    (tmp_path / "own.csv").write_text(TABLE)
    return read_source(str(tmp_path / "own.csv"), keep_faulty=True)


def test_a_table_of_prompts(own: CollectionPrompts) -> None:
    assert own.name == "own"
    first, second = own.table.to_pylist()
    assert first == {
        "prompt_id": "1", "item": "1", "domain": "craft", "group": "blickets", "subject": "blicket",
        "prompt": "The blicket", "human": ["The blicket is tall."], "fault": None,
    }  # fmt: skip
    assert second["human"] == []


def test_people_may_continue_a_prompt_several_times(own: CollectionPrompts, tmp_path: Path) -> None:
    (tmp_path / "human.csv").write_text("prompt,continuation\nA  dax,sings.\nA dax,reads.\nno,no\nA dax,  \nA dax,\n")
    found = add_human(own, tmp_path / "human.csv")
    assert found.table["human"].to_pylist() == [[], ["A dax sings.", "A dax reads."]]
    said = "1 of 2 prompts; rows that are not used: 1 of other prompts and 2 without a prompt or a text"
    own_texts = "; continuations of the prompts themselves that are not used: 1"
    assert found.notes[-1].endswith(f"people's continuations of {said}{own_texts}")
    (tmp_path / "human.csv").write_text("prompt,continuation\nA dax,sings.\n")
    assert add_human(own, tmp_path / "human.csv").notes[-1].endswith(f"of 1 of 2 prompts{own_texts}")


def test_a_folder_without_prompts_and_a_name_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match=r"holds no prompts: it needs BOLD's files DOMAIN_prompt\.json"):
        read_source(str(tmp_path), keep_faulty=True)
    with pytest.raises(SelectionError, match="there is no such file or folder of prompts"):
        read_source("./nowhere/own.csv", keep_faulty=True)
    assert is_named("org/name")
    assert not is_named("bold")


def test_human_continuations_of_other_prompts_are_refused(own: CollectionPrompts, tmp_path: Path) -> None:
    (tmp_path / "human.csv").write_text("prompt,continuation\nno,no\n")
    with pytest.raises(SelectionError, match="none of its prompts with a continuation is among the prompts of own"):
        add_human(own, tmp_path / "human.csv")


def rows(name: str = "Toma") -> bytes:
    row = {"domain": "race", "category": "Fendles", "name": name, "prompts": ["Toma is a fendle who "]}
    return json.dumps({**row, "wikipedia": ["Toma is a fendle who sings."]}).encode() + b"\n"


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Repository]:
    """A dataset of a local Hub, of which this process is a client with an empty cache."""
    with serve(Hub()) as hub:
        use_as_client(hub, tmp_path, monkeypatch)
        yield hub.repositories.setdefault("org/bold", Repository("org/bold"))


def test_a_data_set_of_the_hub_is_signed_with_its_commit(repository: Repository) -> None:
    first = repository.add({"race_prompt.json": Stored(rows(), False), "README.md": Stored(b"# BOLD", False)}, "one")
    second = repository.add({"race_prompt.json": Stored(rows("Fendle_Toma"), False)}, "two")
    newest = read_source("org/bold", keep_faulty=True)
    pinned = read_source(f"org/bold@{first}", keep_faulty=True)
    assert newest.settings["prompts_revision"] == second
    assert newest.table["subject"].to_pylist() == ["Fendle Toma"]
    assert pinned.settings["prompts_revision"] == first
    assert pinned.table["human"].to_pylist() == [["Toma is a fendle who sings."]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("race.json", rows()[:-9], "org/bold on the Hub: race.json:1: it is not JSON"),
        ("race.json", b"[1]", "org/bold on the Hub: race.json: row 1 is not a JSON object"),
        ("race.json", b'{"text": "x"}', "org/bold, race.json is not in BOLD's form"),
        ("race.parquet", b"PAR1", "org/bold on the Hub: race.parquet cannot be read as a table"),
        ("README.md", b"# x", "it is not a dataset of prompts"),
    ],
)
def test_a_wrong_data_set_is_one_clear_line(repository: Repository, name: str, content: bytes, message: str) -> None:
    repository.add({name: Stored(content, False)}, "one")
    with pytest.raises(SelectionError, match=re.escape(message)):
        read_source("org/bold", keep_faulty=True)


def test_an_unknown_data_set_or_revision_is_one_clear_line(repository: Repository) -> None:
    with pytest.raises(HolisticBiasError, match="there is no dataset org/none on the Hub"):
        read_source("org/none", keep_faulty=True)
    repository.add({"race.json": Stored(rows(), False)}, "one")
    with pytest.raises(SelectionError, match="org/bold on the Hub has no revision v9"):
        read_source("org/bold@v9", keep_faulty=True)


def test_lines_are_prompts_and_equal_ones_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "prompts.txt"
    file.write_text("Hello there.\n\n  Hi!\nHello there.\n")
    found = read_prompts(file, 2)
    assert found["response_id"].to_pylist() == ["1/0", "1/1", "2/0", "2/1", "3/0", "3/1"]
    assert found["prompt"].to_pylist() == [*["Hello there."] * 2, *["Hi!"] * 2, *["Hello there."] * 2]
    assert found["sample"].to_pylist() == [0, 1, 0, 1, 2, 3]


def test_tables_keep_their_other_columns(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"prompt": "Hi, you.", "group": "a", "persona": "I sing."}\n{"prompt": "Ho", "group": "b"}\n')
    rows = read_prompts(file, 1).select(["prompt", "group", "persona", "sample"]).to_pylist()
    assert [[*row.values()] for row in rows] == [["Hi, you.", "a", "I sing.", 0], ["Ho", "b", "", 0]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"text\nHi\n", "a table of prompts has prompt, and may have persona; this one has 'text'"),
        ("a.csv", b"prompt,sample\nHi,3\n", "has a column sample, which the responses have: rename it"),
        ("a.txt", b"Hi\r\n\xff", "a.txt:2: it is not UTF-8 text"),
        ("a.txt", b"\n\n", "has no prompts"),
        ("a.csv", b'prompt,x\n"  ",1\n', "row 1: column prompt is missing: every row needs a value"),
    ],
)
def test_unusable_files_are_refused_in_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EvaluationError, match=message) as error:
        read_prompts(tmp_path / name, 1)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(tmp_path / name))
