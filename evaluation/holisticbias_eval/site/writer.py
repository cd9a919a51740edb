"""Write the pages and files of a site into a folder; every page has the same frame."""

import re
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath

from jinja2 import Environment

from holisticbias.contribute.issue_forms import issue_link
from holisticbias.source.addresses import REPOSITORY
from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.report.leaderboard import REMINDER
from holisticbias_eval.report.page import page_environment
from holisticbias_eval.report.report import SCOPE
from holisticbias_eval.report.signature import architecture, signature_rows

AREAS = (
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

    def page(self, path: str, template: str, *, title: str, **values: object) -> None:
        """Write a page from a template of this package, which extends ``frame.html.jinja``.

        ``path`` is its place in the site, such as ``terms/ability.deaf.html``, ``title`` plain text, and ``values``
        what the template shows. Templates also have ``root``, the relative address of the site's folder (empty, or
        ending in a slash), ``area``, which the navigation marks, and ``docs``, the address of the documentation.
        """
        start, *folders = PurePosixPath(path).parts
        area = {"index.html": "home", "judge": "terms"}.get(start, start)
        root = "../" * len(folders)
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
    """Jinja for the pages, which also shows the blocks of reports."""
    found = page_environment("holisticbias_eval.site", "holisticbias_eval.report")
    found.filters.update(thousands=lambda number: f"{number:,}")
    found.globals.update(
        areas=AREAS, on_github=ON_GITHUB, scope=SCOPE, reminder=REMINDER, architecture=architecture,
        signature_rows=signature_rows, made_up=MADE_UP, issue_link=issue_link, repository=REPOSITORY,
    )  # fmt: skip
    return found
