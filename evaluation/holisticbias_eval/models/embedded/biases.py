"""Read the planted biases from ``biases.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holisticbias_eval.errors import EmbeddedModelError

BIASES = Path(__file__).with_name("biases.yaml")

Share = Annotated[float, Field(gt=0, lt=0.5)]
Nats = Annotated[float, Field(ge=-5, le=5)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Plant(_Record):
    """One bias: the log-odds, in nats, that are added to sentences with a term in some templates."""

    id: str
    about: str
    axis: str
    templates: Literal["all"] | tuple[str, ...]
    strengths: dict[str, Nats]


class Biases(_Record):
    """All planted biases, and the release and the frequencies of their corpus."""

    release: str
    seed: Annotated[int, Field(ge=0)]
    zipf: Annotated[float, Field(gt=0)]
    descriptor_alone: Share
    noun_alone: Share
    plants: tuple[Plant, ...]


def read_biases(path: Path = BIASES) -> Biases:
    """Read the biases of a file; raises ``EmbeddedModelError`` that names the wrong key."""
    try:
        return Biases.model_validate(yaml.safe_load(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise EmbeddedModelError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise EmbeddedModelError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
