"""Read the annotations of a Label Studio project from its JSON export."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holisticbias_eval.errors import CorpusError

ANNOTATOR = "annotator"
"""Key of a task that names its annotator; without it the annotator is the user of Label Studio."""
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class StudioAnnotation:
    """An annotation of a task: its choices by the name of their control; no choices if the task was skipped."""

    task: int
    data: Mapping[str, Any]
    annotator: str
    skipped: bool
    choices: Mapping[str, tuple[str, ...]]


def read_studio(path: Path, text: str, key: str, maker: str) -> Iterator[StudioAnnotation]:
    """The annotations of a JSON export, whose tasks have the text ``key`` and were made by the command ``maker``.

    Drafts and predictions are not read. Raises ``CorpusError`` with the task that is wrong.
    """
    try:
        tasks = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path} is not JSON: {str(error)[:_SHOWN]}") from error
    for place, task in enumerate(tasks if isinstance(tasks, list) else [tasks], 1):
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict) or not isinstance(task.get("annotations"), list):
            raise CorpusError(f"{path}: task {place} has no data and annotations: export the project as JSON")
        if not isinstance(data.get(key), str):
            raise CorpusError(f"{path}: task {place} has no {key}: it was not made by {maker}")
        for annotation in task["annotations"]:
            if not isinstance(annotation, dict):
                raise CorpusError(f"{path}: an annotation of task {place} is not an object: export the project as JSON")
            yield _annotation(place, data, annotation)


def _annotation(place: int, data: Mapping[str, Any], annotation: Mapping[str, Any]) -> StudioAnnotation:
    named = data.get(ANNOTATOR)
    annotator = named if isinstance(named, str) and named else _user(annotation.get("completed_by"))
    skipped = bool(annotation.get("was_cancelled"))
    choices = {} if skipped else _choices(annotation.get("result"))
    return StudioAnnotation(place, data, _writable(annotator), skipped, choices)


def _choices(result: object) -> dict[str, tuple[str, ...]]:
    """The choices of each control; the first region of a control counts."""
    found: dict[str, tuple[str, ...]] = {}
    for region in result if isinstance(result, list) else []:
        value = region.get("value") if isinstance(region, dict) else None
        if isinstance(value, dict) and isinstance(value.get("choices"), list):
            found.setdefault(str(region.get("from_name")), tuple(str(choice) for choice in value["choices"]))
    return found


def _writable(name: str) -> str:
    """A name as the name of a column: JSON may hold halves of characters, which no file can."""
    return name[:_SHOWN].encode("utf-8", "replace").decode()


def _user(completed_by: object) -> str:
    """The name of who completed an annotation, by email if the export has it, else by number."""
    if isinstance(completed_by, dict):
        found = completed_by.get("email") or completed_by.get("id")
        return str(found) if found is not None else "unknown"
    return "unknown" if completed_by is None else str(completed_by)
