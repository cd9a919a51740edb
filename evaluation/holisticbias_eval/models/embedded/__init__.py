"""The embedded model: a calibration model with planted biases of known size."""

from __future__ import annotations

from pathlib import Path

EMBEDDED_MODEL = "embedded"
NOTE = (
    "The embedded model is a calibration model: its biases are planted and known, in the words of release 1.0.0, "
    "and say nothing about other models."
)


def embedded_model_path() -> Path:
    """The folder of the shipped model."""
    return Path(__file__).parent / "model"
