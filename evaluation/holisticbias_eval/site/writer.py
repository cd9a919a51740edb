"""Write the pages and files of a site into a folder; every page has the same frame."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from holisticbias.source.addresses import REPOSITORY
from holisticbias_eval.report.page import render_blocks
from holisticbias_eval.report.report import PREFERENCES
from holisticbias_eval.report.units import printable, show

Area = Literal["home", "terms", "releases", "models"]

AREAS: tuple[tuple[Area, str, str], ...] = (
    ("terms", "Terms", "terms/index.html"),
    ("releases", "Releases", "releases/index.html"),
    ("models", "Models", "models/index.html"),
)
"""The areas in the navigation: name, title, first page."""

STYLES = ("palette.css", "page.css", "drawings.css")
"""Style sheets of the report, which the site's own style sheet follows."""

ON_GITHUB = f"{REPOSITORY}/tree/main"

_NAME = re.compile(r"[\w.-]+(/[\w.-]+)*")


class Writer:
    """Writes pages and other files below a folder.

    Links between pages are relative, so that the site works at any address. ``docs`` says whether the site has the
    documentation; else links to it lead to GitHub.
    """

    def __init__(self, folder: Path, *, docs: bool = False) -> None:
        self._folder, self._docs = folder, docs

    def page(self, path: str, template: str, *, area: Area, title: str, **values: object) -> None:
        """Write a page from a template of this package, which extends ``frame.html.jinja``.

        ``path`` is its place in the site, such as ``terms/ability.deaf.html``, ``area`` the area that the navigation
        marks, ``title`` plain text, and ``values`` what the template shows. Templates also have ``root``, the relative
        address of the site's folder (empty, or ending in a slash), and ``docs``, the address of the documentation.
        """
        root = "../" * (len(PurePosixPath(path).parts) - 1)
        docs = f"{root}docs/latest/index.html" if self._docs else f"{ON_GITHUB}/docs"
        html = environment().get_template(template).render(root=root, docs=docs, area=area, title=title, **values)
        self.file(path).write_text(html, "utf-8")

    def file(self, path: str) -> Path:
        """The place of another file in the folder that is written; makes its folder."""
        if not _NAME.fullmatch(path) or ".." in PurePosixPath(path).parts:
            raise ValueError(f"{path!r} is not a plain path inside the site")
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def static(self) -> None:
        """Copy scripts, styles and the icon; ``site.css`` begins with the style sheets of the report."""
        for file in (files("holisticbias_eval.site") / "static").iterdir():
            self.file(f"static/{file.name}").write_bytes(file.read_bytes())
        style = self.file("static/site.css")
        shared = "".join(environment().get_template(name).render() for name in STYLES)
        style.write_text(shared + style.read_text("utf-8"), "utf-8")


@cache
def environment() -> Environment:
    """Jinja for the pages: everything escaped, nothing undefined, no hidden characters."""
    found = Environment(
        loader=ChoiceLoader([PackageLoader("holisticbias_eval.site"), PackageLoader("holisticbias_eval.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else printable(value),
    )
    found.filters.update(shown=show, blocks=render_blocks, thousands=lambda number: f"{number:,}")
    found.globals.update(areas=AREAS, preferences=PREFERENCES, on_github=ON_GITHUB)
    return found
