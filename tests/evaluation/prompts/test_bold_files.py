"""BOLD's files: their prompts, the sentences beside them, their faults, and files that are not theirs."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.prompts.bold_files import bold_rows, read_bold_folder, subject_of
from holisticbias_eval.prompts.prompt_sources import is_bold, read_source

PROMPTS = {
    "Blicket_makers": {
        "Blicket_(craft)": ["A blicket is a person who ", "The blicket", "A blicket is a person who "],
        "Doff": ["The doff of the north is ", ""],
    },
    "Dax_makers": {"Dax": ["A blicket is a person who "]},
}
OTHER = {"Fendles": {"Fendle_Toma": ["A blicket is a person who "]}}


def sentences(prompts: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, list[str]]]:
    return {
        group: {
            page: [f"{text}turns wood number {i}." for i, text in enumerate(texts)] for page, texts in pages.items()
        }
        for group, pages in prompts.items()
    }


@pytest.fixture
def bold(tmp_path: Path) -> Path:
    """A copy of BOLD's repository in small."""
    root = tmp_path / "small"
    for folder, name, content in (
        ("prompts", "profession_prompt.json", PROMPTS),
        ("prompts", "race_prompt.json", OTHER),
        ("wikipedia", "profession_wiki.json", sentences(PROMPTS)),
    ):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / name).write_text(json.dumps(content), "utf-8")
    return root


def test_half_a_character_is_replaced(bold: Path) -> None:
    halves = {"Pages\ud83d": {"Blicket\ud83d": ["The blicket \ud83d and I"]}}
    (bold / "prompts" / "race_prompt.json").write_text(json.dumps(halves), "utf-8")
    row = read_bold_folder(bold, keep_faulty=True).table.to_pylist()[-1]
    assert (row["group"], row["subject"], row["prompt"]) == ("Pages\ufffd", "Blicket\ufffd", "The blicket \ufffd and I")


@pytest.mark.parametrize("inside", ["", "prompts"])
def test_a_folder_of_bold_has_prompts_sentences_and_faults(bold: Path, inside: str) -> None:
    found = read_bold_folder(bold / inside, keep_faulty=True)
    rows = found.table.to_pylist()
    page = "profession/Blicket_makers/Blicket_(craft)"
    assert [row["prompt_id"] for row in rows] == [
        f"{page}/1", f"{page}/2", f"{page}/3", "profession/Blicket_makers/Doff/1", "profession/Dax_makers/Dax/1",
        "race/Fendles/Fendle_Toma/1",
    ]  # fmt: skip
    assert rows[0] == {
        "prompt_id": f"{page}/1", "item": page, "domain": "profession", "group": "Blicket_makers",
        "subject": "Blicket", "prompt": "A blicket is a person who", "fault": None,
        "human": ["A blicket is a person who turns wood number 0."],
    }  # fmt: skip
    assert rows[-1]["human"] == []
    assert [row["fault"] for row in rows] == [None, "short", "repeated", None, "repeated", None]
    assert {key: found.settings[f"prompts_{key}"] for key in ("short", "empty", "repeated")} == {
        "short": "2", "empty": "1", "repeated": "2",
    }  # fmt: skip


def test_faulty_prompts_can_be_left_out_and_the_others_keep_their_ids(bold: Path) -> None:
    kept, dropped = (read_bold_folder(bold, keep_faulty=keep) for keep in (True, False))
    whole = {row["prompt_id"]: row for row in kept.table.to_pylist()}
    rows = dropped.table.to_pylist()
    assert len(rows) == 3
    assert all(whole[row["prompt_id"]] == row and row["fault"] is None for row in rows)
    assert kept.digest != dropped.digest
    assert dropped.settings["prompts_faulty"] == "left out"


def test_the_subject_is_the_title_without_brackets() -> None:
    subjects = {"Fendle_Toma": "Fendle Toma", "Toma_(blicket_maker)": "Toma", "A_(b)_c": "A c", "(x)": "(x)"}
    assert {page: subject_of(page) for page in subjects} == subjects


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("race_prompt.json", '{"Fendles": {"Toma": ["A bli', "race_prompt.json is not JSON, or is truncated"),
        ("race_prompt.json", '{"Fendles": ["A blicket"]}', "is not in BOLD's form, {group: {page: [prompt, ...]}}"),
        ("race_prompt.json", '{"Fendles": {"Toma": [3]}}', "is not in BOLD's form"),
        ("race_prompt.json", "[" * 100_000, "race_prompt.json is not JSON, or is truncated"),
        ("race_prompt.json", b"\xff\xfe{", "race_prompt.json is not UTF-8 text: unpack it, or save it in UTF-8"),
        ("race_wiki.json", '{"Fendles": {"Fendle_Toma": []}}', "Fendles, Fendle_Toma: 0 sentences for 1 prompts"),
        (
            "profession_prompt.json",
            json.dumps({"a" * 99: {"b" * 99: ["A b"]}}),
            f"{'a' * 77}..., {'b' * 77}...: 0 sentences",
        ),
    ],
)
def test_a_wrong_file_is_one_clear_line(bold: Path, name: str, content: str | bytes, message: str) -> None:
    folder = bold / ("prompts" if "prompt" in name else "wikipedia")
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SelectionError, match=re.escape(message)) as raised:
        read_bold_folder(bold, keep_faulty=True)
    assert "\n" not in str(raised.value)


def test_rows_of_the_hub_are_the_same_prompts(bold: Path) -> None:
    known = sentences(PROMPTS)
    rows = [
        {"domain": "profession", "category": group, "name": page, "prompts": texts, "wikipedia": known[group][page]}
        for group, pages in PROMPTS.items()
        for page, texts in pages.items()
    ]
    (bold / "prompts" / "race_prompt.json").unlink()
    published = read_bold_folder(bold, keep_faulty=True).table
    table = pa.Table.from_pylist(rows)
    for folder in ("rows", "array", "parquet"):
        (bold / folder).mkdir()
    (bold / "rows" / "profession_prompt.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (bold / "array" / "bold.json").write_text(json.dumps(rows, indent=1))
    pq.write_table(table, bold / "parquet" / "train.parquet")
    assert is_bold(str(bold))
    assert is_bold(str(bold / "parquet" / "train.parquet"))
    assert not is_bold(__file__)
    for place in (bold / "rows", bold / "array", bold / "parquet", bold / "parquet" / "train.parquet"):
        assert read_source(str(place), keep_faulty=True).table.equals(published), place
    pq.write_table(table.drop_columns("wikipedia"), bold / "parquet" / "train.parquet")
    assert read_source(str(bold / "parquet"), keep_faulty=True).table["prompt"].equals(published["prompt"])


def test_a_wrong_row_is_one_clear_line(tmp_path: Path) -> None:
    row, file = {"domain": "race", "category": "Fendles", "name": "Toma", "prompts": ["A is "]}, tmp_path / "rows.jsonl"
    for change in ({"domain": None}, {"prompts": "A blicket"}):
        file.write_text(json.dumps({**row, **change}))
        with pytest.raises(SelectionError, match="row 1 is not in BOLD's form"):
            bold_rows(file, "rows")
    file.write_text(json.dumps({**row, "wikipedia": []}))
    with pytest.raises(SelectionError, match="row 1: wikipedia is not a list with one text for each prompt"):
        bold_rows(file, "rows")
