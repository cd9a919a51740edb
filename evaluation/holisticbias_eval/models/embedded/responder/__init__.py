"""The responder: a calibration model that answers, with styles mixed by planted amounts."""

from __future__ import annotations

from pathlib import Path

RESPONDER = "embedded-responder"
NOTE = (
    "The embedded responder is a calibration model: the styles of its answers are planted and known, for the sentences "
    "of release 1.0.0, and say nothing about other models."
)


def responder_path() -> Path:
    """The folder of the shipped responder."""
    return Path(__file__).parent / "model"
