"""Read what is planted in a calibration model from its YAML file: of the embedded model, ``biases.yaml``."""

from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field

from holisticbias.terms.entries import Record
from holisticbias.terms.file_kinds import SpecificationFile
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.errors import EmbeddedModelError
from holisticbias_eval.models.embedded import FOLDER, SHIPPED
from holisticbias_eval.named_files import read_yaml

BIASES = FOLDER / "biases.yaml"
R = TypeVar("R", bound=BaseModel)

Share = Annotated[float, Field(gt=0, lt=0.5)]
Nats = Annotated[float, Field(ge=-5, le=5)]


class Place(Record):
    """The terms and templates of a plant: terms of one axis, in some templates or in all."""

    id: str
    about: str
    axis: str
    templates: Literal["all"] | tuple[str, ...]
    strengths: dict[str, float]

    def holds_in(self, template: str) -> bool:
        """Whether the plant is in a template."""
        return self.templates == "all" or template in self.templates


class Plant(Place):
    """One bias: the log-odds, in nats, that are added to sentences with a term in some templates."""

    strengths: dict[str, Nats]


class PlantedBiases(Record):
    """All planted biases, and the release and the frequencies of their corpus."""

    release: str
    seed: Annotated[int, Field(ge=0)]
    zipf: Annotated[float, Field(gt=0)]
    descriptor_alone: Share
    noun_alone: Share
    plants: tuple[Plant, ...]


def read_biases(path: Path = BIASES) -> PlantedBiases:
    """Read the biases of the embedded model; raises ``EmbeddedModelError`` that names the wrong key."""
    return read_planted(path, PlantedBiases)


@cache
def shipped_specifications(model: str) -> tuple[Specification, ...]:
    """The specifications of a calibration model, which are not of the dataset; none if it has no own ones."""
    path = SHIPPED[model].specifications
    return read_planted(path, SpecificationFile).specifications if path else ()


def read_planted(path: Path, kind: type[R]) -> R:
    """Read a YAML file; raises ``EmbeddedModelError`` that names the wrong key."""
    return read_yaml(path, kind.model_validate, EmbeddedModelError)
