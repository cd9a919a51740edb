"""The writer: a calibration model that continues prompts about invented groups and writes test sentences."""

from __future__ import annotations

from pathlib import Path

WRITER = "embedded-writer"
CALIBRATION = "calibration"
"""The name of its prompts."""
NOTE = (
    "The embedded writer is a calibration model: it knows invented groups alone, and what it prefers is planted and "
    "known; it says nothing about other models."
)
SPECIFICATIONS = Path(__file__).with_name("specifications.yaml")
"""Its bias specifications: one with a planted stereotype, and a control."""


def writer_path() -> Path:
    """The folder of the shipped writer."""
    return Path(__file__).parent / "model"
