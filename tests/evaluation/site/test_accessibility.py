"""axe-core finds nothing on any kind of page, in both colour schemes, on a wide screen and on a phone."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

import pytest

from .conftest import Open

AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
RUN = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.flatMap(
  ({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`))"""
PAGES = {
    "home": "index.html",
    "terms": "terms/index.html",
    "term": "terms/age.old.html",
    "axes to judge": "judge/index.html",
    "terms to judge": "judge/age.html",
    "releases": "releases/index.html",
    "release": "releases/2.0.0.html",
    "difference": "releases/1.0.0-to-2.0.0.html",
    "models": "models/index.html",
    "measure": "models/by-measure/likelihood-bias-on-1.0.0.html",
    "model": "models/by-name/embedded.html",
    "two models": "models/compare.html?first=embedded&second=smollm2-135m-instruct-q4-1-weights",
}
SCREENS: dict[str, tuple[int, Literal["light", "dark"]]] = {
    "wide, light": (1200, "light"),
    "phone, dark": (390, "dark"),
}


@pytest.mark.parametrize("kind", PAGES)
def test_axe_finds_nothing(open_page: Open, kind: str) -> None:
    """Every page fits the screen, and has no violation in either scheme."""
    page = open_page(PAGES[kind])
    page.wait_for_load_state("networkidle")
    page.evaluate(AXE)
    found: list[str] = []
    for name, (width, scheme) in SCREENS.items():
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        found += [f"{name}: {violation}" for violation in page.evaluate(RUN)]
        too_wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        found += [f"{name}: {too_wide} pixels wider than the screen"] if too_wide > 0 else []
    assert found == []
