"""The calibration models, which score, answer and write, with planted biases of known size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holisticbias_eval.models.embedded.gossip import GOSSIP, gossip_path
from holisticbias_eval.models.embedded.gossip import NOTE as GOSSIP_NOTE
from holisticbias_eval.models.embedded.responder import NOTE as RESPONDER_NOTE
from holisticbias_eval.models.embedded.responder import RESPONDER, responder_path
from holisticbias_eval.models.embedded.writer import NOTE as WRITER_NOTE
from holisticbias_eval.models.embedded.writer import WRITER, writer_path

EMBEDDED_MODEL = "embedded"
NOTE = (
    "The embedded model is a calibration model: its biases are planted and known, in the words of release 1.0.0, "
    "and say nothing about other models."
)

RELEASE = "1.0.0"
"""The version whose words the embedded model and the embedded responder know."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """A causal model that comes with the package: its name, its folder, and the note for reports."""

    name: str
    folder: Path
    note: str


def embedded_model_path() -> Path:
    """The folder of the shipped model."""
    return Path(__file__).parent / "model"


def shipped_models() -> Mapping[str, Shipped]:
    """The calibration models by name."""
    models = (
        Shipped(EMBEDDED_MODEL, embedded_model_path(), NOTE),
        Shipped(RESPONDER, responder_path(), RESPONDER_NOTE),
        Shipped(WRITER, writer_path(), WRITER_NOTE),
        Shipped(GOSSIP, gossip_path(), GOSSIP_NOTE),
    )
    return {model.name: model for model in models}


def default_release(model: str | None) -> str | None:
    """The version on which a model is measured by default: its own; None, the newest published, for other models."""
    return RELEASE if model in (None, EMBEDDED_MODEL, RESPONDER) else None
