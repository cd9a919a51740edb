from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from holisticbias_eval.errors import CorpusError, JudgementsError
from holisticbias_eval.judgements.answers import AnnotatorAnswer, read_answers
from holisticbias_eval.judgements.key import CHOICES, Key
from holisticbias_eval.judgements.settings import StudySettings
from holisticbias_eval.judgements.study import labelling_config, shown_tasks

from .made_studies import NAMES, study

KEY = study(2, StudySettings(pairs=2, catch=0, ties=True))
TASK = shown_tasks(KEY)[0][0]["id"]


def saved(**changed: object) -> dict[str, Any]:
    """A file as the page saves it."""
    answer = {"task": TASK, "question": NAMES[0], "choice": "left", "seconds": 4.2}
    return {
        "form": "holisticbias acute-eval answers", "version": 1, "study": KEY.study, "annotator": "sam", "sheet": 1,
        "saved": "2026-03-09T22:16:08.728Z", "answers": [answer], **changed,
    }  # fmt: skip


def export(annotation: dict[str, Any], **data: object) -> list[dict[str, Any]]:
    """A task with one annotation as Label Studio exports it."""
    task = {"task": TASK, "study": KEY.study, "prompt": "x", "left": "y", "right": "z"} | data
    given = {
        "id": 7, "completed_by": 1, "was_cancelled": False, "ground_truth": False, "lead_time": 9.1, "prediction": {},
        "result_count": 3, "task": 1, "project": 1, "parent_annotation": None, "result": [],
    } | annotation  # fmt: skip
    return [{"id": 1, "annotations": [given], "drafts": [], "predictions": [], "data": task, "meta": {}, "inner_id": 1}]


def result(**choices: str) -> list[dict[str, Any]]:
    return [
        {
            "id": f"id-{name}", "type": "choices", "origin": "manual", "to_name": "prompt", "from_name": name,
            "value": {"choices": [choice]},
        }
        for name, choice in choices.items()
    ]  # fmt: skip


def read(tmp_path: Path, content: object, key: Key = KEY) -> list[AnnotatorAnswer]:
    path = tmp_path / "answers.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return read_answers([path], key)


def test_a_file_of_the_page(tmp_path: Path) -> None:
    assert read(tmp_path, saved()) == [AnnotatorAnswer("sam", TASK, NAMES[0], "left")]


@pytest.mark.parametrize(
    ("annotation", "choices"),
    [
        (
            {"result": result(preference="Speaker 1", humanness="Speaker 2", interestingness="No difference")},
            ["left", "right", "tie"],
        ),
        ({"result": result(preference="Rather not answer", humanness="right")}, ["refused", "right", None]),
        ({"result": result(other="Speaker 1")}, [None, None, None]),
        ({"result": [], "was_cancelled": True}, ["refused"] * 3),
    ],
)
def test_an_export_of_label_studio(tmp_path: Path, annotation: dict[str, Any], choices: list[str | None]) -> None:
    found = read(tmp_path, export(annotation))
    assert [(one.annotator, one.task, one.question, one.choice) for one in found] == [
        ("1", TASK, name, choice) for name, choice in zip(NAMES, choices, strict=True)
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 100_000, "is not JSON"),
        ([], "has no answers"),
        (saved(study="other"), "has answers to another study: 'other'"),
        (saved(annotator="../x"), "is damaged: annotator"),
        (saved(annotator="x\u202e"), "is damaged: annotator"),
        (saved(answers=[{"task": TASK, "question": "preference", "choice": "both"}]), "damaged: answers.0.choice"),
        (export({}, study="other"), "has answers to another study"),
        (export({"result": result(preference="both")}), "task 1 has the choice 'both' for preference"),
        ([{"data": {"sentence": "x"}, "annotations": []}], "has no task: it was not made by holisticbias judge make"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises((JudgementsError, CorpusError), match=r"answers\.json") as found:
        read(tmp_path, content)
    assert message in str(found.value)


@pytest.mark.parametrize("ties", [True, False])
def test_the_labelling_interface_asks_every_question(ties: bool) -> None:
    config = ElementTree.fromstring(labelling_config(study(2, StudySettings(pairs=2, ties=ties))))  # noqa: S314 - the project's own
    asked = {one.get("name"): [choice.get("value") for choice in one] for one in config.iter("Choices")}
    words = [text for choice, text in CHOICES.items() if ties or choice != "tie"]
    assert asked == dict.fromkeys(NAMES, words)
    assert {one.get("value") for one in config.iter("Text")} == {"$prompt", "$left", "$right"}
