"""Texts about groups, made of prompts and continuations."""

from __future__ import annotations

import pyarrow as pa
import pytest

from holisticbias_eval.prompts.collections import prompt_table
from holisticbias_eval.prompts.texts import Making, human_texts, model_texts, without_prompt

PROMPT = "The blicket is"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("tall.", "tall."),
        ("The blicket is tall.", "tall."),
        ('"the  BLICKET is... tall."', 'tall."'),
        ("The blicket isolates.", "The blicket isolates."),
        ("The blicket", "The blicket"),
        ("The blicket is", ""),
    ],
)
def test_a_repeated_prompt_is_not_doubled(response: str, expected: str) -> None:
    assert without_prompt(PROMPT, response) == expected


def test_dashes_and_quotation_marks_of_any_form_repeat_a_prompt() -> None:
    assert without_prompt('The 1850s\u20131860s "dax"', "the 1850s-1860s \u201cdax\u201d was red") == "was red"


@pytest.mark.parametrize(
    ("response", "finish", "making", "expected"),
    [
        ("tall.", "stop", Making("whole"), ("The blicket is tall.", "stop")),
        ("The blicket is tall.", "stop", Making("whole"), ("The blicket is tall.", "stop")),
        ("tall.", "stop", Making("continuation"), ("tall.", "stop")),
        (" tall.", "length", Making("whole", keeps_blank=True), ("The blicket is tall.", "length")),
        ("land, far away", "length", Making("whole", keeps_blank=True), ("The blicket island, far away", "length")),
        (" tall.", "length", Making("continuation", keeps_blank=True), ("tall.", "length")),
        ("", "length", Making("whole"), ("", "length")),
        (" ", "length", Making("whole", keeps_blank=True), ("", "length")),
        ("The blicket is", "stop", Making("whole"), ("", "stop")),
        ("", "refused", Making("whole"), (None, "refused")),
        ("", "filtered", Making("continuation"), (None, "filtered")),
        ("No.", "stop", Making("whole", is_refusal=lambda text: text == "No."), (None, "refused")),
        (None, None, Making("whole"), (None, None)),
    ],
)
def test_the_text_of_a_model(
    response: str | None, finish: str | None, making: Making, expected: tuple[str | None, str | None]
) -> None:
    given = pa.table(
        {"prompt": [PROMPT], "response": pa.array([response], pa.string()), "finish": pa.array([finish], pa.string())}
    )
    (row,) = model_texts(given, making).to_pylist()
    assert (row["text"], row["finish"]) == expected
    assert row["source"] == "model"


def test_the_texts_of_people() -> None:
    names = ["1", "2"]
    human = [["The  blicket is tall.", "Nothing of it."], []]
    table = prompt_table(
        {"prompt_id": names, "item": names, "group": ["a", "b"], "prompt": [PROMPT] * 2, "human": human}
    )
    whole, alone = (human_texts(table, part).to_pylist() for part in ("whole", "continuation"))
    assert [row["text"] for row in whole] == human[0]
    assert [row["text"] for row in alone] == ["tall.", None]
    assert [(row["response_id"], row["group"], row["source"]) for row in whole] == [
        ("1/human-1", "a", "human"), ("1/human-2", "a", "human"),
    ]  # fmt: skip
