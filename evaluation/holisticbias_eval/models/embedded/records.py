"""Records of the calibration models' YAML files, and what their plants have in common."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeVar

import pyarrow.compute as pc
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from holisticbias.release.release import Release
from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.errors import EmbeddedModelError


class Record(BaseModel):
    """A part of a file: no unknown keys, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(Record):
    """The terms and templates of a plant: terms of one axis, in some templates or in all."""

    id: str
    about: str
    axis: str
    templates: Literal["all"] | tuple[str, ...]
    strengths: dict[str, float]

    def check(self, release: Release) -> None:
        """Raise ``EmbeddedModelError`` if the release does not contain a term or a template of the plant."""
        descriptors = release.tables["descriptors"]
        terms = descriptors["descriptor_id"].filter(pc.equal(descriptors["axis"], self.axis)).to_pylist()
        self._require(f"the axis {self.axis} has no term", self.strengths, terms)
        if self.templates != "all":
            held = release.tables["sentences"]["template_id"].unique().to_pylist()
            self._require("the release has no template", self.templates, held)

    def _require(self, lack: str, wanted: Iterable[str], held: Iterable[str]) -> None:
        missing = sorted({*wanted} - {*held})
        if missing:
            raise EmbeddedModelError(f"plant {self.id}: {lack} {missing[0]}")

    def holds_in(self, template: str) -> bool:
        """Whether the plant is in a template."""
        return self.templates == "all" or template in self.templates


R = TypeVar("R", bound=BaseModel)


def read_record(path: Path, kind: type[R]) -> R:
    """Read a YAML file; raises ``EmbeddedModelError`` that names the wrong key."""
    try:
        return kind.model_validate(yaml.safe_load(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise EmbeddedModelError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise EmbeddedModelError(f"{path}: {where + ': ' if where else ''}{schema_message(first)}") from error
