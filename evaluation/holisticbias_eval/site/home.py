"""The first page."""

from __future__ import annotations

from holisticbias_eval.report.report import SCOPE
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.writer import Writer


def write_home(explored: Explored, site: Writer) -> None:
    """Write the first page: what the dataset is, and where to go."""
    site.page(
        "index.html",
        "home.html.jinja",
        area="home",
        title="HolisticBias, the living dataset",
        explored=explored,
        held=explored.newest.held,
        scope=SCOPE,
    )
