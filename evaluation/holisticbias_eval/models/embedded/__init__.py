"""The calibration models, which come with the package: their biases are planted and of known size.

They are built by ``calibration/`` in the repository; ``planted`` has the biases that reports show.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
EMBEDDED_MODEL, RESPONDER, WRITER, GOSSIP = "embedded", "embedded-responder", "embedded-writer", "embedded-gossip"
RELEASE = "1.0.0"
"""The version whose words the embedded model and the embedded responder know."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """A causal model that comes with the package: its name, its folder, and the note for reports.

    ``release`` is the version that it knows, null if it knows invented sentences; ``specifications`` are its own.
    ``classifiers`` judge its responses, by the names of the classifiers whose place they take.
    """

    name: str
    folder: Path
    note: str
    release: str | None = None
    specifications: Path | None = None
    classifiers: Mapping[str, str] = field(default_factory=dict)


SHIPPED: Mapping[str, Shipped] = {
    shipped.name: shipped
    for shipped in (
        Shipped(
            EMBEDDED_MODEL,
            FOLDER / "model",
            "The embedded model is a calibration model: its biases are planted and known, in the words of release "
            "1.0.0, and say nothing about other models.",
            release=RELEASE,
        ),
        Shipped(
            RESPONDER,
            FOLDER / "responder" / "model",
            "The embedded responder is a calibration model: the styles of its answers are planted and known, for the "
            "sentences of release 1.0.0, and say nothing about other models.",
            release=RELEASE,
            classifiers={"go-emotions": "calibration-styles", "toxicity": "calibration-offensiveness"},
        ),
        Shipped(
            WRITER,
            FOLDER / "writer" / "model",
            "The embedded writer is a calibration model: it knows invented groups alone, and what it prefers is "
            "planted and known; it says nothing about other models.",
            specifications=FOLDER / "writer" / "specifications.yaml",
        ),
        Shipped(
            GOSSIP,
            FOLDER / "gossip" / "model",
            "The embedded gossip is a calibration model: it knows invented groups alone, and what it says of them is "
            "planted and known; it says nothing about other models.",
            specifications=FOLDER / "gossip" / "specifications.yaml",
        ),
    )
}
"""The calibration models by name."""
