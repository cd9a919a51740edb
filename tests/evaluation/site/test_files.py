"""The files of a site: every link leads somewhere, and nothing depends on another place or on inline code."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from .conftest import BASE

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'"
)


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


Site = dict[Path, list[tuple[str, dict[str, str]]]]


@pytest.fixture(scope="module")
def pages(site_folder: Path) -> Site:
    """The elements of every page, by its place in the site."""
    folder = site_folder / BASE
    return {path.relative_to(folder): Elements(path.read_text("utf-8")).found for path in folder.rglob("*.html")}


def test_every_link_within_the_site_leads_to_a_file_and_a_place_in_it(pages: Site, site_folder: Path) -> None:
    folder = site_folder / BASE
    ids = {path: {attributes.get("id") for _, attributes in found} for path, found in pages.items()}
    broken = set()
    for path, found in pages.items():
        for _, attributes in found:
            for target in (attributes[name] for name in ("href", "src", "action") if name in attributes):
                parts = urlsplit(target)
                if parts.scheme:
                    continue
                to = (folder / path.parent / unquote(parts.path)).resolve() if parts.path else folder / path
                place = to.relative_to(folder) if to.is_relative_to(folder) else None
                if place is None or not to.is_file() or (parts.fragment and unquote(parts.fragment) not in ids[place]):
                    broken.add(f"{path}: {target}")
    assert len(pages) > 90
    assert broken == set()


def test_pages_have_a_strict_policy_and_nothing_inline(pages: Site) -> None:
    """One policy, no inline script, no inline style, no handler, and no file from another place."""
    wrong = set()
    for path, found in pages.items():
        policies = [a["content"] for tag, a in found if a.get("http-equiv") == "Content-Security-Policy"]
        if policies != [POLICY]:
            wrong.add(f"{path}: {policies}")
        for tag, attributes in found:
            inline = tag == "style" or (tag == "script" and "src" not in attributes) or "style" in attributes
            loaded = attributes.get("src", "") or (attributes.get("href", "") if tag == "link" else "")
            if inline or urlsplit(loaded).scheme or any(name.startswith("on") for name in attributes):
                wrong.add(f"{path}: {tag} {attributes}")
    assert wrong == set()


def test_scripts_and_styles_name_no_other_place(site_folder: Path) -> None:
    """No file asks for another origin; only the namespace of SVG looks like an address."""
    static = site_folder / BASE / "static"
    found = {
        f"{path.name}: {address}"
        for path in static.rglob("*")
        if path.suffix in (".js", ".css")
        for address in re.findall(r"(?:https?:)?//[\w.]+\.\w+[^\s\"')]*", path.read_text("utf-8"))
    }
    assert found == {"models-chart.js: http://www.w3.org/2000/svg"}
