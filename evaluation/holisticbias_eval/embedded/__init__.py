"""The embedded model: a measuring weight with planted biases of known size."""

from __future__ import annotations

from pathlib import Path

EMBEDDED_MODEL = "embedded"
NOTE = (
    "The embedded model is a measuring weight: its biases are planted and known, in the words of release 1.0.0, "
    "and say nothing of any other model."
)


def embedded_model_path() -> Path:
    """The folder of the shipped model."""
    return Path(__file__).parent / "model"
