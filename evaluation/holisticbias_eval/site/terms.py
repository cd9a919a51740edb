"""The pages of terms."""

from __future__ import annotations

from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.writer import Writer


def write_terms(explored: Explored, site: Writer) -> None:
    """Write the page that lists all terms."""
    site.page("terms/index.html", "terms.html.jinja", area="terms", title="Terms", axes=explored.newest.held.axes)
