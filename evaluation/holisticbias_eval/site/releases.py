"""The pages of releases."""

from __future__ import annotations

from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.writer import Writer


def write_releases(explored: Explored, site: Writer) -> None:
    """Write the page that lists the releases."""
    site.page(
        "releases/index.html", "releases.html.jinja", area="releases", title="Releases", releases=explored.releases
    )
