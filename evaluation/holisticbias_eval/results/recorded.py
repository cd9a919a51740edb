"""The parts of a mitigation's record that a comparison of its runs shows: aim, specification and validation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from holisticbias_eval.errors import RunError
from holisticbias_eval.results.gains import Aim

MITIGATION = "mitigation.json"


class _Named(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str


class _Specification(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str
    title: str


class _Point(BaseModel):
    model_config = ConfigDict(extra="ignore")

    perplexity: float | None = None


class _Record(BaseModel):
    """The parts of ``mitigation.json`` that are read here."""

    model_config = ConfigDict(extra="ignore")

    base_model: _Named
    specification: _Specification | None
    perplexity_before: float | None = None
    points: tuple[_Point, ...] = ()
    chosen: int | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """The aims of a mitigation, titles of specifications by id, and validation perplexities; empty without a record.

    ``validation`` are the perplexities of validation texts before and after training, null if not recorded.
    ``base_model`` is the name of the model before training.
    """

    aims: tuple[Aim, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    validation: tuple[float | None, float | None] = (None, None)
    base_model: str | None = None


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
        record = _Record.model_validate(content)
    except ValidationError:
        return Recorded(aims)
    chosen = record.specification
    known = record.chosen is not None and 0 <= record.chosen < len(record.points)
    after = record.points[record.chosen or 0].perplexity if known else None
    titles = {chosen.id: chosen.title} if chosen else {}
    return Recorded(aims, titles, (record.perplexity_before, after), record.base_model.name)


def _aims(content: Any) -> tuple[Aim, ...]:
    """The aim of a mitigation: with a specification its dimension, else the styles of responses."""
    found = content.get("specification") if isinstance(content, dict) else None
    name = found.get("id", found.get("name")) if isinstance(found, dict) else found
    if isinstance(name, str):
        return (Aim(measure="group_perplexity", keys={"dimension": name}),)
    return (Aim(measure="generation_bias"),)
