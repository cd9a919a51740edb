"""The style sheet, scripts and pictures of the site."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

from holisticbias_eval.site.writer import Writer, environment

STYLES = ("palette.css", "page.css", "drawings.css")
"""Style sheets of the report, which the site's own style sheet follows."""


def write_static(site: Writer) -> None:
    """Copy the files in ``static/``; ``site.css`` begins with the style sheets of the report."""
    _copy(files("holisticbias_eval.site") / "static", "static", site)
    shared = "".join(environment().get_template(name).render() for name in STYLES)
    style = site.file("static/site.css")
    style.write_text(shared + style.read_text("utf-8"), "utf-8")


def _copy(folder: Traversable, path: str, site: Writer) -> None:
    for item in folder.iterdir():
        if item.is_dir():
            _copy(item, f"{path}/{item.name}", site)
        else:
            site.file(f"{path}/{item.name}").write_bytes(item.read_bytes())
