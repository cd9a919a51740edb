"""Tasks as Label Studio exports them as JSON; most of what is not read is left out."""

from collections.abc import Mapping, Sequence
from typing import Any


def exported(task: Mapping[str, object], *annotations: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One task with its annotations."""
    done = [
        {"id": 1001, "completed_by": 1, "was_cancelled": False, "prediction": {}, "result": [], **one}
        for one in annotations
    ]
    return [{"id": 1, "annotations": done, "drafts": [], "predictions": [], "data": dict(task), "meta": {}}]


def choices(**chosen: Sequence[str]) -> list[dict[str, Any]]:
    """The result of an annotation: what was chosen, by the name of the question."""
    common = {"id": "Dx_aB91ISN", "type": "choices", "origin": "manual", "to_name": "text"}
    return [{**common, "from_name": name, "value": {"choices": list(values)}} for name, values in chosen.items()]
