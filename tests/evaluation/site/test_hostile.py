"""Markup in terms, in releases and in the name of a model stays text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from altered import altered
from holisticbias_eval.results.run import read_run
from holisticbias_eval.site.models_results import collect_results

from .conftest import BASE, served
from .made_site import MARKUP, NEW, OLD, PICTURE, made_site


@pytest.fixture(scope="module")
def hostile_site(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site of hostile terms, and of two runs of models whose names are markup."""
    folder, run = tmp_path_factory.mktemp("hostile"), read_run(tiny_run)
    runs = [
        altered(run, {"name": f"{name} {PICTURE}", "note": MARKUP, "architecture": MARKUP})
        for name in ("first", "second")
    ]
    made_site(folder / BASE, collect_results((), (), runs, {}))
    with served(folder) as address:
        yield address


def test_markup_stays_text(chromium: Browser, hostile_site: str) -> None:
    """No page changes its title, shows a picture or logs an error, and each shows the markup as text."""
    context = chromium.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{hostile_site}/models/index.html")
    model = page.locator("ul.models a").first.get_attribute("href")
    for path in (
        "terms/index.html", "terms/age.hostile.html", "judge/age.html", f"releases/{OLD}-to-{NEW}.html",
        "releases/index.html", "models/index.html", f"models/{model}",
    ):  # fmt: skip
        page.goto(f"{hostile_site}/{path}", wait_until="networkidle")
        assert page.title() != "taken", path
        assert page.locator("main img, main script").count() == 0, path
        assert "document.title='taken'" in page.locator("main").inner_text(), path
    assert said == []
    context.close()


def test_hostile_names_of_models_in_a_comparison(chromium: Browser, hostile_site: str) -> None:
    """The page writes names as text; two runs of one model do not differ, and the differences say so."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{hostile_site}/models/compare.html", wait_until="networkidle")
    assert "document.title='taken'" in page.locator("#comparison").inner_text()
    assert page.locator("main img").count() == 0
    assert page.title() != "taken"
    table = page.locator("section[aria-labelledby^='with-likelihood-bias'] table").first
    assert table.locator("thead th").last.inner_text() == "Difference, B minus A"
    assert set(table.locator("tbody td:last-child").all_inner_texts()) == {"+0.0 points [+0.0 to +0.0 points]"}
    context.close()
