"""Prompts from a user's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.prompts.prompt_sources import read_prompts


def test_lines_are_prompts_and_equal_ones_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "prompts.txt"
    file.write_text("Hello there.\n\n  Hi!\nHello there.\n")
    rows = read_prompts(file, 2).to_pylist()
    assert [(row["response_id"], row["prompt"], row["sample"]) for row in rows] == [
        ("1/0", "Hello there.", 0),
        ("1/1", "Hello there.", 1),
        ("2/0", "Hi!", 0),
        ("2/1", "Hi!", 1),
        ("3/0", "Hello there.", 2),
        ("3/1", "Hello there.", 3),
    ]


def test_tables_keep_their_other_columns(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"prompt": "Hi, you.", "group": "a", "persona": "I sing."}\n{"prompt": "Ho", "group": "b"}\n')
    rows = read_prompts(file, 1).to_pylist()
    assert [(row["prompt"], row["group"], row["persona"], row["sample"]) for row in rows] == [
        ("Hi, you.", "a", "I sing.", 0),
        ("Ho", "b", "", 0),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"text\nHi\n", "a table of prompts has prompt, and may have persona; this one has 'text'"),
        ("a.csv", b"prompt,sample\nHi,3\n", "has a column sample, which the responses have: rename it"),
        ("a.jsonl", b"[" * 100_000, "row 1 is not JSON"),
        ("a.jsonl", b'{"prompt": "Hi"}\n{"prompt": ["Ho"]}\n', 'row 2: column prompt is not one value but ."Ho".'),
        ("a.txt", b"Hi\r\n\xff", "a.txt:2: it is not UTF-8 text"),
        ("a.txt", b"\n\n", "has no prompts"),
        ("a.csv", b'prompt,x\n"  ",1\n', "row 1: the prompt is empty"),
    ],
)
def test_unusable_files_are_refused_in_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EvaluationError, match=message) as error:
        read_prompts(tmp_path / name, 1)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(tmp_path / name))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="cannot be read: No such file"):
        read_prompts(tmp_path / "none.txt", 1)
