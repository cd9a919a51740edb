"""Label Studio: write tasks in its basic JSON form, and read the annotations of a project's JSON export."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from holisticbias.release.bounded import require_file
from holisticbias_eval.errors import CorpusError

ANNOTATOR = "annotator"
"""Key of a task that names its annotator; without it the annotator is the user of Label Studio."""
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


def read_studio(path: Path, text: str, key: str, maker: str) -> Iterator[StudioAnnotation]:
    """The annotations of a JSON export, whose tasks have the text ``key`` and were made by the command ``maker``.

    Drafts and predictions are not read. Raises ``CorpusError`` with the task that is wrong.
    """
    tasks = read_json(path, text)
    for number, task in enumerate(tasks if isinstance(tasks, list) else [tasks], 1):
        place = f"{path}: task {number}"
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict) or not isinstance(task.get("annotations"), list):
            raise CorpusError(f"{place} has no data and annotations: export the project as JSON")
        if not isinstance(data.get(key), str):
            raise CorpusError(f"{place} has no {key}: it was not made by {maker}")
        for annotation in task["annotations"]:
            if not isinstance(annotation, dict):
                raise CorpusError(f"{place} has an annotation that is not an object: export the project as JSON")
            yield _annotation(path, number, data, annotation)


def read_text(path: Path, remedy: str) -> str:
    """The text of a file in UTF-8. Raises ``CorpusError`` with the remedy."""
    try:
        return require_file(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}; {remedy}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not UTF-8 text: {remedy}") from error


def read_json(path: Path, text: str) -> Any:
    """The content of a JSON file. Raises ``CorpusError``."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path} is not JSON: {str(error)[:_SHOWN]}") from error


def _annotation(path: Path, task: int, data: Mapping[str, Any], annotation: Mapping[str, Any]) -> StudioAnnotation:
    named = data.get(ANNOTATOR)
    annotator = named if isinstance(named, str) and named else _user(annotation.get("completed_by"))
    skipped = bool(annotation.get("was_cancelled"))
    choices = {} if skipped else _choices(annotation.get("result"))
    return StudioAnnotation(path, task, data, _writable(annotator), skipped, choices)


def _choices(result: object) -> dict[str, tuple[str, ...]]:
    """The choices of each control; the first region of a control counts."""
    choices: dict[str, tuple[str, ...]] = {}
    for region in result if isinstance(result, list) else []:
        value = region.get("value") if isinstance(region, dict) else None
        if isinstance(value, dict) and isinstance(value.get("choices"), list):
            choices.setdefault(str(region.get("from_name")), tuple(str(choice) for choice in value["choices"]))
    return choices


def _writable(name: str) -> str:
    """A name as the name of a column: JSON may hold halves of characters, which no file can."""
    return name[:_SHOWN].encode("utf-8", "replace").decode()


def _user(completed_by: object) -> str:
    """The name of who completed an annotation, by email if the export has it, else by number."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return "unknown" if completed_by is None else str(completed_by)
