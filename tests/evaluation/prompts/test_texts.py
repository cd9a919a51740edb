"""Texts about groups, made of prompts and continuations, and a user's responses that a release has prompts of."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.version_files import Withdrawal
from holisticbias_eval.errors import SelectionError, TableError
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts import collections
from holisticbias_eval.prompts.collections import prompt_table
from holisticbias_eval.prompts.conversations import PromptDrawing
from holisticbias_eval.prompts.texts import Part, human_texts, model_texts, without_prompt
from holisticbias_eval.tasks.collected import find_asked
from holisticbias_eval.tasks.response_settings import TextSettings
from holisticbias_eval.tasks.responses import place_responses
from holisticbias_eval.tasks.task import Given
from known import known
from small_terms import with_layout

PROMPT = "The blicket is"


def test_a_repeated_prompt_is_not_doubled() -> None:
    expected = {
        "tall.": "tall.",
        "The blicket is tall.": "tall.",
        '"the  BLICKET is... tall."': 'tall."',
        "The blicket isolates.": "The blicket isolates.",
        "The blicket": "The blicket",
        "The blicket is": "",
    }
    assert {response: without_prompt(PROMPT, response) for response in expected} == expected


def test_dashes_and_quotation_marks_of_any_form_repeat_a_prompt() -> None:
    assert without_prompt('The 1850s\u20131860s "dax"', "the 1850s-1860s \u201cdax\u201d was red") == "was red"


@pytest.mark.parametrize(
    ("response", "finish", "part", "keeps_blank", "expected"),
    [
        ("tall.", "stop", "whole", False, "The blicket is tall."),
        ("The blicket is tall.", "stop", "whole", False, "The blicket is tall."),
        ("tall.", "stop", "continuation", False, "tall."),
        (" tall.", "length", "whole", True, "The blicket is tall."),
        ("land, far away", "length", "whole", True, "The blicket island, far away"),
        (" tall.", "length", "continuation", True, "tall."),
        ("", "length", "whole", False, ""),
        (" ", "length", "whole", True, ""),
        ("The blicket is", "stop", "whole", False, ""),
        ("", "refused", "whole", False, None),
        ("", "filtered", "continuation", False, None),
        (None, None, "whole", False, None),
    ],
)
def test_the_text_of_a_model(
    response: str | None, finish: str | None, part: Part, keeps_blank: bool, expected: str | None
) -> None:
    given = pa.table(
        {"prompt": [PROMPT], "response": pa.array([response], pa.string()), "finish": pa.array([finish], pa.string())}
    )
    (row,) = model_texts(given, part, keeps_blank=keeps_blank).to_pylist()
    assert (row["text"], row["finish"], row["source"]) == (expected, finish, "model")


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


FILE = Path("answers.csv")


def given(**changes: Sequence[object]) -> pa.Table:
    columns = {
        "axis": ["age", "ability", "age"],
        "template": ["I'm {noun_phrase}.", "I love {plural_noun_phrase}.", "I'm {noun_phrase}."],
        "descriptor": ["old", "deaf", "old"],
        "response": ["Nice.", "Hello.", "I see."],
        "finish": ["stop", "length", "stop"],
    }
    return pa.table({**columns, **changes})


def test_texts_are_looked_up(mini_release: Release) -> None:
    rows = place_responses(given(), mini_release, FILE).to_pylist()
    assert [(row["response_id"], row["descriptor_id"], row["response"], row["finish"]) for row in rows] == [
        ("dialogue.im/age.old/0", "age.old", "Nice.", "stop"),
        ("dialogue.love/ability.deaf/0", "ability.deaf", "Hello.", "length"),
        ("dialogue.im/age.old/1", "age.old", "I see.", "stop"),
    ]
    assert {row["axis_label"] for row in rows} == {"Age", "Ability"}
    assert "prompt" not in rows[0]


def test_ids_are_used_if_the_table_has_them(mini_release: Release) -> None:
    ids = {"descriptor_id": ["age.old", "ability.deaf", "age.young"], "prompt": ["a", "b", "c"]}
    rows = place_responses(given(**ids), mini_release, FILE).to_pylist()
    assert [(row["descriptor"], row["prompt"]) for row in rows] == [("old", "a"), ("deaf", "b"), ("young", "c")]


def test_how_a_response_ended_need_not_be_known(mini_release: Release) -> None:
    assert "finish" not in place_responses(given().drop_columns(["finish"]), mini_release, FILE).column_names


@pytest.mark.parametrize("name", ["tokens", "sample"])
def test_counts_are_numbers(mini_release: Release, name: str) -> None:
    """A run whose counts are text could not be opened."""
    for counts in ([1, 0, 2], ["1", "0", "2"]):
        assert place_responses(given(**{name: counts}), mini_release, FILE)[name].to_pylist() == [1, 0, 2]
    for wrong, said in (("x", "is not a number but 'x'"), ("-1", "is -1.0: it must be a whole number from 0")):
        with pytest.raises(TableError, match=f"^answers.csv: row 2: column {name} {said}"):
            place_responses(given(**{name: ["1", wrong, "2"]}), mini_release, FILE)


def test_what_the_release_lacks_is_named(mini_release: Release) -> None:
    with pytest.raises(SelectionError, match="row 2: the release has no descriptor with axis 'ability', descrip"):
        place_responses(given(descriptor=["old", "tall", "old"]), mini_release, FILE)
    with pytest.raises(SelectionError, match="row 1: the release has no descriptor with axis 'ability'"):
        place_responses(given(axis=["ability", "ability", "age"]), mini_release, FILE)
    with pytest.raises(SelectionError, match="row 2: the release has no template with template 'x'"):
        place_responses(given(template=["I'm {noun_phrase}.", "x", "y"]), mini_release, FILE)


def test_prompts_are_by_default_of_no_version_that_is_withdrawn(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("two-versions", "companions"):
        shutil.copytree(data / name, tmp_path / "terms", dirs_exist_ok=True)
    catalog = with_layout(load_catalog(tmp_path / "terms"), 4)
    *older, newest = catalog.releases
    withdrawn = newest.model_copy(update={"withdrawn": Withdrawal(date="2026-01-02", reason="An example.")})
    for releases, found in (((*older, newest), [newest.version]), ((*older, withdrawn), [])):
        monkeypatch.setattr(collections, "load_catalog", lambda: replace(catalog, releases=releases))  # noqa: B023
        try:
            asked = find_asked(TextSettings(), Given(None, None, {}, (), Display()), PromptDrawing())
        except SelectionError:
            assert found == []
        else:
            assert [known(asked.release).version] == found
