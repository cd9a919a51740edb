"""The parts of a mitigation's record that a comparison of its runs shows: aim, specification and validation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from holisticbias_eval.errors import RunError
from holisticbias_eval.results.gains import Aim
from holisticbias_eval.results.mitigation import Mitigation


@dataclass(frozen=True, slots=True)
class Recorded:
    """The aims of a mitigation, titles of specifications by id, and validation perplexities; empty without a record.

    ``validation`` are the perplexities of validation texts before and after training, null if not recorded.
    """

    aims: tuple[Aim, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    validation: tuple[float | None, float | None] = (None, None)


def read_recorded(path: Path) -> Recorded:
    """Read ``mitigation.json``; of a record in another form only the aim is read.

    Raises ``RunError`` if the file is not JSON.
    """
    if not path.is_file():
        return Recorded()
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path} cannot be read: {str(error)[:200]}") from error
    aims = _aims(content)
    try:
        record = Mitigation.model_validate(content)
    except ValidationError:
        return Recorded(aims)
    chosen = record.specification
    known = record.chosen is not None and 0 <= record.chosen < len(record.points)
    after = record.point.perplexity if known else None
    return Recorded(aims, {chosen.id: chosen.title} if chosen else {}, (record.perplexity_before, after))


def _aims(content: Any) -> tuple[Aim, ...]:
    """The aim of a mitigation: with a specification its dimension, else the styles of responses."""
    found = content.get("specification") if isinstance(content, dict) else None
    name = found.get("id", found.get("name")) if isinstance(found, dict) else found
    if isinstance(name, str):
        return (Aim(measure="group_perplexity", keys={"dimension": name}),)
    return (Aim(measure="generation_bias"),)
