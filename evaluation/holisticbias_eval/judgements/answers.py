"""Read answers of annotators: files that the page saves, and Label Studio's JSON exports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.corpus.label_studio import StudioAnnotation, read_studio
from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.figures import Part
from holisticbias_eval.judgements.key import CHOICES, KEY, Choice, Key
from holisticbias_eval.judgements.page import ANSWERS
from holisticbias_eval.judgements.study import TASK, TASKS

ANALYSIS = "analysis.json"
_NOT_ANSWERS = (KEY, TASKS, ANALYSIS)
_WORDS: dict[str, Choice] = {
    **{choice: choice for choice in CHOICES},
    **{words.casefold(): choice for choice, words in CHOICES.items()},
}
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question about a task; null if a task in Label Studio has none."""

    annotator: str
    task: str
    question: str
    choice: Choice | None


class _Given(Part):
    task: str = Field(max_length=100)
    question: str = Field(max_length=100)
    choice: Choice
    seconds: float | None = None


class _Saved(Part):
    """A file that the page saves."""

    form: Literal["holisticbias acute-eval answers"]
    version: Literal[1]
    study: str = Field(max_length=100)
    annotator: str = Field(min_length=1, max_length=80, pattern=r"^[\w-]+$")
    sheet: int
    saved: str = Field(max_length=100)
    answers: tuple[_Given, ...]


def answer_files(folder: Path) -> list[Path]:
    """The JSON files of a study's folder that may hold answers."""
    return sorted(path for path in folder.glob("*.json") if path.name not in _NOT_ANSWERS)


def read_answers(paths: Sequence[Path], key: Key) -> list[Answer]:
    """Read the answers of all files.

    Raises ``JudgementsError`` or ``CorpusError`` with the file and what is wrong with it; a file of another study is
    refused.
    """
    return [answer for path in paths for answer in _read(path, key)]


def _read(path: Path, key: Key) -> Iterator[Answer]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise JudgementsError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise JudgementsError(f"{path} is not UTF-8 text: give the file that the page has saved") from error
    return _page_answers(path, text, key) if _is_page_file(path, text) else _studio_answers(path, text, key)


def _is_page_file(path: Path, text: str) -> bool:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise JudgementsError(f"{path} is not JSON: {str(error)[:_SHOWN]}") from error
    if isinstance(content, list) and content:
        return False
    if isinstance(content, dict) and content.get("form") == ANSWERS:
        return True
    raise JudgementsError(f"{path} has no answers: give files that the page has saved, or exports of Label Studio")


def _page_answers(path: Path, text: str, key: Key) -> Iterator[Answer]:
    try:
        saved = _Saved.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise JudgementsError(
            f"{path} is damaged: {where[:_SHOWN]}: {schema_message(first)}; ask for the file again"
        ) from error
    _refuse_study(path, saved.study, key)
    for one in saved.answers:
        yield Answer(saved.annotator, one.task, one.question, one.choice)


def _studio_answers(path: Path, text: str, key: Key) -> Iterator[Answer]:
    for found in read_studio(path, text, TASK, "holisticbias judge make"):
        _refuse_study(path, str(found.data.get("study")), key)
        for question in key.questions:
            choice: Choice | None = "refused" if found.skipped else _choice(path, found, question.id)
            yield Answer(found.annotator, found.data[TASK], question.id, choice)


def _choice(path: Path, found: StudioAnnotation, question: str) -> Choice | None:
    chosen = found.choices.get(question, ())
    if not chosen:
        return None
    if len(chosen) > 1 or chosen[0].casefold() not in _WORDS:
        words = ", ".join(CHOICES.values())
        raise JudgementsError(
            f"{path}: task {found.task} has the choice {', '.join(chosen)[:_SHOWN]!r} for {question}: use {words}"
        )
    return _WORDS[chosen[0].casefold()]


def _refuse_study(path: Path, study: str, key: Key) -> None:
    if study != key.study:
        raise JudgementsError(f"{path} has answers to another study: {study[:_SHOWN]!r}, and the key is {key.study!r}")
