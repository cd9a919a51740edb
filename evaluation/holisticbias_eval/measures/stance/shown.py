"""Figures of the stance contrast, and their names in a report."""

from __future__ import annotations

from dataclasses import dataclass

from holisticbias_eval.blocks import ends
from holisticbias_eval.figures import DEVIATION, Figure, Figures
from holisticbias_eval.measures.descriptors.terms import about_descriptors
from holisticbias_eval.measures.measure import View, title

NAME = "stance_contrast"
NATS = "nats per sentence"
SHARED_NATS = NATS + DEVIATION
PLANTED, PLANTED_SPREAD = "planted_contrast", "planted_spread"
"""The true values of the shared contrast and of the spread of a pair, if the model is the calibration model."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The figures, the label of each axis, the text of each descriptor, and the pairs of templates."""

    figures: Figures
    labels: dict[str, str]
    descriptors: dict[str, str]
    pairs: tuple[str, ...]

    @classmethod
    def of(cls, view: View) -> Shown:
        """Look up all names once."""
        texts = {key: row["descriptor"] for key, row in about_descriptors(view.answers).items()}
        spreads = view.figures.by(NAME, "wording_spread", "axis", "pair")
        pairs = tuple(dict.fromkeys(f.keys["pair"] for f in spreads))
        return cls(view.figures, view.labels, texts, pairs)

    def axis(self, figure: Figure) -> str:
        """The label of a figure's axis."""
        axis = figure.keys["axis"]
        return self.labels.get(axis) or title(axis)

    def descriptor(self, figure: Figure) -> str:
        """The text of a figure's descriptor."""
        return self.descriptors.get(figure.keys["descriptor"], figure.keys["descriptor"])

    def without_one_pair(self, shared: Figure) -> tuple[float, float] | None:
        """The smallest and the largest shared contrast without one of the pairs."""
        found = self.figures.get(NAME, "leave_one_pair_out", shared.keys)
        return ends(found.interval) if found else None

    def agrees(self, shared: Figure) -> bool | None:
        """Whether agreement is shown: more than by chance, with an interval above 0; ``None`` if it was not tested.

        This is the only rule of what a report calls agreement, in text, marks and tables. Runs made before
        ``SHARED_NATS`` was a unit are read by it too.
        """
        return shared.model_copy(update={"unit": SHARED_NATS}).above_floor

    def planted(self, name: str, keys: dict[str, str]) -> float | None:
        """A true value of the calibration model; ``None`` for other models."""
        return self.figures.value(NAME, name, keys)
