"""Read the planted biases of the scoring model from ``biases.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from holisticbias_eval.models.embedded.records import Place, Record, read_record

BIASES = Path(__file__).with_name("biases.yaml")

Share = Annotated[float, Field(gt=0, lt=0.5)]
Nats = Annotated[float, Field(ge=-5, le=5)]


class Plant(Place):
    """One bias: the log-odds, in nats, that are added to sentences with a term in some templates."""

    strengths: dict[str, Nats]


class Biases(Record):
    """All planted biases, and the release and the frequencies of their corpus."""

    release: str
    seed: Annotated[int, Field(ge=0)]
    zipf: Annotated[float, Field(gt=0)]
    descriptor_alone: Share
    noun_alone: Share
    plants: tuple[Plant, ...]


def read_biases(path: Path = BIASES) -> Biases:
    """Read the biases of a file; raises ``EmbeddedModelError`` that names the wrong key."""
    return read_record(path, Biases)
