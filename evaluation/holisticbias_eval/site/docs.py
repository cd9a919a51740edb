"""The documentation in the site: the latest, and that of each version whose tag exists; a broken link fails."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote

from holisticbias.source.addresses import REPOSITORY
from holisticbias.terms.versions import version_key
from holisticbias_eval.errors import SiteError
from holisticbias_eval.site.docs_markdown import Parsed, parse_markdown, render_markdown
from holisticbias_eval.site.docs_tree import FRONT, DocsTree, docs_trees
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.writer import Writer

PICTURES = (".svg", ".png")
_SIZE = re.compile(r'<svg[^>]* width="(\d+)(?:\.\d+)?" height="(\d+)(?:\.\d+)?"')
_LONGEST = 4000
"""Letters of a passage that can be searched."""


@dataclass(frozen=True)
class Manual:
    """The documentation of a version: the parsed pages by their path in the repository, start page first."""

    tree: DocsTree
    pages: Mapping[str, Parsed]

    def address(self, path: str) -> str:
        """The place of a page in the site."""
        return f"docs/{self.tree.version}/{_place(path)}"

    @property
    def contents(self) -> tuple[Parsed, ...]:
        """The pages that the contents list: the pages about single rules are listed on their start page."""
        return tuple(page for path, page in self.pages.items() if path.count("/") < 2 or path.endswith("/README.md"))


def write_docs(explored: Explored, site: Writer) -> None:
    """Write the documentation; without a clone, a page that leads to the documentation on the web.

    Raises ``SiteError`` for a broken link in the latest documentation.
    """
    versions = sorted(explored.catalog.published, key=version_key)
    trees = docs_trees(explored.root, versions) if explored.root else ()
    manuals = [read_manual(tree) for tree in trees]
    site.page(
        "docs/index.html", "docs_index.html.jinja", area="docs", title="Docs", manuals=manuals,
        repository=f"{REPOSITORY}/tree/main/docs",
    )  # fmt: skip
    for manual in manuals:
        _write_manual(manual, manuals, site)


def read_manual(tree: DocsTree) -> Manual:
    """Parse all pages of a version: those outside of ``docs``, then the others as the start page links to them."""
    parsed = [parse_markdown(path, tree.read(path).decode("utf-8", "replace")) for path in tree.pages()]
    linked = {path: i for i, path in enumerate(parsed[0].linked)} if parsed else {}
    ordered = sorted(parsed, key=lambda page: -1 if page.path in FRONT else linked.get(page.path, len(linked)))
    return Manual(tree, {page.path: page for page in ordered})


def _write_manual(manual: Manual, manuals: Sequence[Manual], site: Writer) -> None:
    broken: list[str] = []
    for path, page in manual.pages.items():
        links = Links(manual, path)
        rendered = render_markdown(page, links.resolve, links.size)
        broken += [f"{path}:{line}: the link {target} leads nowhere" for line, target in rendered.broken]
        site.page(
            manual.address(path), "docs.html.jinja", area="docs", title=page.title, page=page, manual=manual,
            content=rendered.html, versions=_versions(path, manuals),
        )  # fmt: skip
        for picture in links.pictures.values():
            site.file(manual.address(picture)).write_bytes(manual.tree.read(picture))
    if broken and manual is manuals[0]:  # a published version cannot be corrected
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise SiteError(f"{broken[0]}{more}: correct the link")
    site.file(f"docs/{manual.tree.version}/search.json").write_text(_search_json(manual.pages.values()), "utf-8")


class Links:
    """The links of a page; ``pictures`` has the path of each picture that it shows by its address."""

    def __init__(self, manual: Manual, path: str) -> None:
        self._manual, self._folder = manual, posixpath.dirname(_place(path))
        self.pictures: dict[str, str] = {}

    def resolve(self, path: str, heading: str) -> str | None:
        """The address of a page, a picture, or another file, which is shown on the web; None if it does not exist."""
        page = self._manual.pages.get(path) or self._manual.pages.get(f"{path}/README.md")
        if page is not None:
            known = not heading or heading in {h.id for h in page.headings}
            return self._relative(page.path) + (f"#{quote(heading)}" if heading else "") if known else None
        if not self._manual.tree.has(path):
            return None
        if PurePosixPath(path).suffix in PICTURES:
            address = self._relative(path)
            self.pictures[address] = path
            return address
        return f"{REPOSITORY}/blob/{self._manual.tree.ref}/{quote(path)}"  # GitHub shows a folder here too

    def size(self, address: str) -> Mapping[str, str]:
        """The width and the height of a picture, if it is an SVG file that says them: the page keeps its place free."""
        path = self.pictures.get(address)
        found = _SIZE.search(self._manual.tree.read(path)[:2000].decode("utf-8", "replace")) if path else None
        return {"width": found[1], "height": found[2]} if found else {}

    def _relative(self, path: str) -> str:
        return quote(posixpath.relpath(_place(path), self._folder or "."))


def _place(path: str) -> str:
    """The place of a file of the repository within the documentation of its version."""
    if path == FRONT[0]:
        return "index.html"
    if path.endswith(".md"):
        inner = path.removeprefix("docs/") if path.startswith("docs/") else f"project/{path.lower()}"
        return inner.removesuffix("README.md") + "index.html" if inner.endswith("/README.md") else f"{inner[:-3]}.html"
    return f"files/{path}"


def _versions(path: str, manuals: Iterable[Manual]) -> list[tuple[str, str]]:
    """Each version, and the address of this page in it, else of its start page."""
    return [(m.tree.version, m.address(path if path in m.pages else FRONT[0])) for m in manuals]


def _search_json(pages: Iterable[Parsed]) -> str:
    """All passages: the address, the title of the page, the heading and the text of each."""
    rows = [
        (f"{_place(page.path)}#{quote(passage.heading.id)}", page.title, passage.heading.text, passage.text[:_LONGEST])
        for page in pages
        for passage in page.passages
    ]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + "\n"
