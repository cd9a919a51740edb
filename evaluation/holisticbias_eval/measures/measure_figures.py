"""The figures of one measure, with the names of what they are of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holisticbias_eval.blocks import ColumnOf
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.measure import View


@dataclass(frozen=True)
class MeasureFigures:
    """The figures of one measure in a view, with the names of axes and descriptors."""

    view: View
    measure: str

    @property
    def figures(self) -> Figures:
        """The figures of the run."""
        return self.view.figures

    def axis(self, figure: Figure) -> str:
        """The label of a figure's axis, or all axes."""
        return self.view.label("axis", figure.keys["axis"]) if "axis" in figure.keys else "All axes"

    def descriptor(self, figure: Figure) -> str:
        """The text of a figure's descriptor."""
        return self.view.label("descriptor", figure.keys["descriptor"])

    @property
    def axis_column(self) -> ColumnOf[Figure]:
        """The column of axes in words."""
        return ColumnOf("axis", "Axis", self.axis)

    @property
    def names(self) -> col.FigureColumns:
        """The columns of descriptors and their axes in words."""
        return ColumnOf("descriptor", "Descriptor", self.descriptor), self.axis_column

    def beside(
        self, name: str, heading: str, unit: str, key: str = "", attribute: str = "value", **other: Any
    ) -> ColumnOf[Figure]:
        """The column of another figure with the same keys; see ``columns.beside``."""
        return col.beside(self.figures, name, heading, unit, key, attribute, **other)

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
