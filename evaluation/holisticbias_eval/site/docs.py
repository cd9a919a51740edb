"""The documentation in the site."""

from __future__ import annotations

from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.writer import Writer


def write_docs(explored: Explored, site: Writer) -> None:
    """Write the documentation."""
    site.page("docs/index.html", "docs.html.jinja", area="docs", title="Docs", version=explored.newest.version)
