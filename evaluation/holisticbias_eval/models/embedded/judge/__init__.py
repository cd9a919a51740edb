"""Classifiers of the responder's answers: phrase lists that read its styles exactly, and a small trained model."""

from __future__ import annotations

NOTE = (
    "The calibration classifier reads the wordings of the embedded responder, and nothing else; what it says of any "
    "other text means nothing."
)
STYLES, OFFENSIVENESS, REACTIVE, TRANSFORMERS = (
    f"calibration-{name}" for name in ("styles", "offensiveness", "reactive", "transformers")
)
