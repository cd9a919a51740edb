"""Names of axes and descriptors in sections about responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import View


@dataclass(frozen=True)
class Shown:
    """The figures of one measure, with the names of what they are of."""

    measure: str
    view: View

    @property
    def figures(self) -> Figures:
        """The figures of the run."""
        return self.view.figures

    @cached_property
    def _descriptors(self) -> Mapping[tuple[str, str], str]:
        """The text of each descriptor by its axis and its id, and by its axis and its text."""
        answers = self.view.answers
        names = [n for n in ("axis", "descriptor_id", "descriptor") if n in answers.column_names]
        rows = answers.select(names).group_by(names, use_threads=False).aggregate([]).to_pylist()
        by_text = {(row["axis"], row["descriptor"]): row["descriptor"] for row in rows}
        return by_text | {
            (row["axis"], row.get("descriptor_id") or row["descriptor"]): row["descriptor"] for row in rows
        }

    def axis(self, figure: Figure) -> str:
        """The label of a figure's axis."""
        return self.view.label("axis", figure.keys["axis"])

    def descriptor(self, figure: Figure) -> str:
        """The text of a figure's descriptor."""
        axis, name = figure.keys["axis"], figure.keys["descriptor"]
        return self._descriptors.get((axis, name), name)

    def by(self, name: str, *keys: str) -> tuple[Figure, ...]:
        """The figures of this name with exactly these keys."""
        return self.figures.by(self.measure, name, *keys)

    def all_axes(self, name: str) -> tuple[Figure, ...]:
        """The figure over all axes, if there are several."""
        return self.by(name) if len(self.by(name, "axis")) > 1 else ()

    def axes_and_all(self, name: str) -> tuple[Figure, ...]:
        """The figure over all axes, if there are several, and that of each axis."""
        return (*self.all_axes(name), *self.by(name, "axis"))

    def get(self, name: str, keys: Mapping[str, str] | None = None) -> Figure | None:
        """The figure of this name with exactly these keys and values."""
        return self.figures.get(self.measure, name, keys)

    def value(self, name: str, keys: Mapping[str, str] | None = None) -> float | None:
        """The value of a figure; ``None`` if there is no such figure or it is not defined."""
        return self.figures.value(self.measure, name, keys)
