"""The figures of group_perplexity as a report shows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.perplexities.dimensions import NAME, Dimension, Scale, read_dimensions
from holisticbias_eval.measures.perplexities.remarks import cut


@dataclass(frozen=True)
class Shown:
    """The figures of a run or a table, and its dimensions."""

    view: View

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The dimensions that have figures, in the order of the table."""
        known = {figure.keys["dimension"] for figure in self.figures.by(NAME, "f", "dimension", "scale")}
        return tuple(one for one in read_dimensions(self.view.answers) if one.name in known)

    @property
    def figures(self) -> Figures:
        """The figures."""
        return self.view.figures

    def get(self, name: str, dimension: Dimension, scale: Scale, **keys: str) -> Figure | None:
        """The figure of a dimension on a scale with these further keys."""
        return self.figures.get(NAME, name, {"dimension": dimension.name, "scale": scale, **keys})

    def value(self, name: str, dimension: Dimension, scale: Scale, **keys: str) -> float | None:
        """Its value; ``None`` if there is no such figure or it is not defined."""
        found = self.get(name, dimension, scale, **keys)
        return None if found is None else found.value

    def test(self, dimension: Dimension) -> str:
        """The t test that fits the table: paired if sentences are."""
        return "paired" if dimension.paired else "unpaired"

    def pairs(self, dimension: Dimension, scale: Scale, test: str, name: str = "t") -> list[Figure]:
        """The figures of all pairs of a dimension."""
        keys = {"dimension": dimension.name, "scale": scale} | ({"test": test} if test else {})
        found = self.figures.by(NAME, name, *keys, "first", "second")
        return [figure for figure in found if keys.items() <= figure.keys.items()]


def pair_label(figure: Figure) -> str:
    """Both groups of a pair: the sign of its figures is the first minus the second."""
    return f"{cut(figure.keys['first'])} - {cut(figure.keys['second'])}"
