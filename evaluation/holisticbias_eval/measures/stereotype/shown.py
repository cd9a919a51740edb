"""Figures of the stereotype score, and the names of specifications in a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from holisticbias_eval.figures import SIGNIFICANCE, Figure, Figures
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.stereotype.outcomes import NAME

SOURCES = {"generated": "generated sentences", "template": "templates", "imported": "imported sentences"}


@dataclass(frozen=True, slots=True)
class Shown:
    """The figures, the label of each specification, and the specifications that are controls."""

    figures: Figures
    labels: dict[str, str]
    controls: frozenset[str]

    @classmethod
    def of(cls, view: View) -> Shown:
        """Look up all names once."""
        names = _distinct(view, "label")
        controls = _distinct(view, "control")
        labels = {name: str(label) for name, label in names if label}
        return cls(view.figures, labels, frozenset(name for name, control in controls if control))

    def label(self, figure: Figure) -> str:
        """The label of a figure's specification."""
        name = figure.keys["specification"]
        return self.labels.get(name, name)

    def short_label(self, figure: Figure) -> str:
        """The label of a figure's specification up to its first semicolon."""
        return self.label(figure).split(";")[0]

    @property
    def scores(self) -> tuple[Figure, ...]:
        """The score of each specification, controls last."""
        found = self.figures.by(NAME, NAME, "specification")
        return (*(f for f in found if not self.is_control(f)), *(f for f in found if self.is_control(f)))

    @property
    def people(self) -> tuple[Figure, ...]:
        """The scores of specifications that are not controls and have a value."""
        return tuple(f for f in self.scores if not self.is_control(f) and f.value is not None)

    def is_control(self, figure: Figure) -> bool:
        """Whether a figure's specification is a control."""
        return figure.keys["specification"] in self.controls

    def adjusted(self, figure: Figure) -> float | None:
        """The p-value of a score, corrected for the number of specifications."""
        score = self.figures.get(NAME, NAME, {"specification": figure.keys["specification"]})
        return score.adjusted_p if score else None

    def differs(self, figure: Figure) -> bool:
        """Whether a specification's score differs from one half: after correction; for a control before it."""
        p = figure.p_value if self.is_control(figure) else self.adjusted(figure)
        return p is not None and p < SIGNIFICANCE

    def by_source(self, figure: Figure) -> tuple[Figure, ...]:
        """The scores of a figure's specification by the source of its sentences."""
        found = self.figures.by(NAME, NAME, "specification", "source")
        return tuple(f for f in found if f.keys["specification"] == figure.keys["specification"])


def _distinct(view: View, column: str) -> Iterable[tuple[str, object]]:
    """The specifications with their value in a column, if the answers have it."""
    if column not in view.answers.column_names:
        return ()
    names = ["specification", column]
    rows = view.answers.select(names).group_by(names, use_threads=False).aggregate([]).to_pylist()
    return [(row["specification"], row[column]) for row in rows]
