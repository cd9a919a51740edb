"""Label Studio: write tasks in its basic JSON form, and read the annotations of a project's JSON export."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, StrictBool, StrictInt, StrictStr, ValidationError

from holisticbias.source.schema_messages import first_fault
from holisticbias_eval.errors import CorpusError

ANNOTATOR = "annotator"
"""Key of a task that names its annotator; without it the annotator is the user of Label Studio."""
CONFIG = "labelling-config.xml"
_SHOWN = 80
T = TypeVar("T")


def studio_tasks(rows: Iterable[Mapping[str, object]]) -> str:
    """Tasks with these data, as JSON."""
    return json.dumps([{"data": row} for row in rows], indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class StudioAnnotation:
    """An annotation of a task: its choices by the name of their control; no choices if the task was skipped.

    ``task`` is the number of the task in the file.
    """

    path: Path
    task: int
    data: Mapping[str, Any]
    annotator: str
    skipped: bool
    choices: Mapping[str, tuple[str, ...]]

    def choice(self, control: str, values: Mapping[str, T], offered: Iterable[str]) -> T | None:
        """The value of the choice in a control, by its words in small letters; null without a choice.

        Raises ``CorpusError`` for several choices and for words that are not in ``values``.
        """
        chosen = self.choices.get(control)
        if not chosen:
            return None
        if len(chosen) > 1 or chosen[0].casefold() not in values:
            raise CorpusError(
                f"{self.path}: task {self.task} has the choice {', '.join(chosen)[:_SHOWN]!r} for {control}: use "
                f"{', '.join(offered)}"
            )
        return values[chosen[0].casefold()]


class _User(BaseModel):
    email: str | None = None
    id: int | None = None


class _Value(BaseModel):
    choices: list[str] | None = None


class _Region(BaseModel):
    from_name: str | None = None
    value: _Value = _Value()


class _Annotation(BaseModel):
    completed_by: StrictInt | StrictStr | _User | None = None
    was_cancelled: StrictBool = False
    result: list[_Region] = []

    @property
    def user(self) -> str:
        """The name of who completed it, by email if the export has it, else by number."""
        who = self.completed_by
        return str((who.email or who.id or "") if isinstance(who, _User) else who or "")

    @property
    def choices(self) -> dict[str, tuple[str, ...]]:
        """The choices of each control; the first region of a control counts."""
        chosen = (
            (str(one.from_name), tuple(one.value.choices)) for one in self.result if one.value.choices is not None
        )
        return {} if self.was_cancelled else dict(reversed([*chosen]))


class _Task(BaseModel):
    data: dict[str, Any]
    annotations: list[_Annotation]


def read_studio(path: Path, tasks: Any, key: str, maker: str) -> Iterator[StudioAnnotation]:
    """The annotations of the content of a JSON export.

    Its tasks have the text ``key`` and were made by the command ``maker``. Drafts and predictions are not read. Raises
    ``CorpusError`` with the task that is wrong.
    """
    for number, content in enumerate(tasks if isinstance(tasks, list) else [tasks], 1):
        try:
            task = _Task.model_validate(content)
        except ValidationError as error:
            why = first_fault(error)
            raise CorpusError(f"{path}: task {number}: {why}: export the project as JSON") from error
        if not isinstance(task.data.get(key), str):
            raise CorpusError(f"{path}: task {number} has no {key}: it was not made by {maker}")
        named = task.data.get(ANNOTATOR)
        for one in task.annotations:
            annotator = (named.strip() if isinstance(named, str) else "") or one.user.strip() or "unknown"
            yield StudioAnnotation(path, number, task.data, annotator[:_SHOWN], one.was_cancelled, one.choices)
