"""The gossip: a calibration model of sentences about invented groups that meet negative attributes at planted odds."""

from __future__ import annotations

from pathlib import Path

GOSSIP = "embedded-gossip"
MANY = "gossip.calibration-many"
"""The specification whose groups are planted and mitigated, ``calibration-many``."""
UNTOUCHED = "gossip.calibration-many-untouched"
"""The independent specification, ``calibration-many-untouched``."""
NOTE = (
    "The embedded gossip is a calibration model: it knows invented groups alone, and what it says of them is planted "
    "and known; it says nothing about other models."
)
SPECIFICATIONS = Path(__file__).with_name("specifications.yaml")
"""Its bias specifications."""


def gossip_path() -> Path:
    """The folder of the shipped gossip."""
    return Path(__file__).parent / "model"
