"""Markup in terms, in releases and in the name of a model stays text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.evaluation.conftest import VERSION, mini_catalog

from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import ReleaseFile
from holisticbias_eval.results.run import RESULT
from holisticbias_eval.site import build
from holisticbias_eval.site.explored import Sources

from .conftest import BASE, quiet, served

PICTURE = "<img src=x onerror=\"document.title='taken'\">"
MARKUP = f"\"'>{PICTURE}</script><script>document.title='taken'</script>"
LATER = "0.2.0"


def hostile_catalog() -> Catalog:
    """A catalog in which every text that the rules would have refused holds markup."""
    catalog = mini_catalog(("person",))
    axes = tuple(
        axis.model_copy(
            update={
                "label": f"{axis.label} {MARKUP}",
                "descriptors": tuple(
                    d.model_copy(update={"text": f"{d.text} {MARKUP}", "bucket": "<b>bucket", "since": since})
                    for d, since in zip(axis.descriptors, (VERSION, LATER, LATER), strict=False)
                ),
            }
        )
        for axis in catalog.axes
    )
    releases = tuple(
        ReleaseFile(version=version, date="2026-01-01", summary="mini", article_rule="letter").model_copy(
            update={"summary": MARKUP}
        )
        for version in (VERSION, LATER)
    )
    return replace(catalog, axes=axes, releases=releases)


@pytest.fixture(scope="module")
def hostile_site(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site of hostile terms, with a run of models whose names are markup."""
    made = tmp_path_factory.mktemp("hostile")
    terms, runs = made / "terms", (made / "first", made / "second")
    (made / "results").mkdir()
    for run in runs:
        shutil.copytree(tiny_run, run)
        result = json.loads((run / RESULT).read_text("utf-8"))
        result["signature"]["model"].update(name=f"{run.name} {PICTURE}", note=MARKUP, architecture=MARKUP)
        (run / RESULT).write_text(json.dumps(result), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "load_catalog", lambda _: hostile_catalog())  # it would refuse these terms
        sources = Sources((VERSION, LATER), runs, terms, made / "results")
        build.build_site(sources, made / BASE, quiet())
    with served(made) as address:
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
        "terms/index.html", "terms/age.young.html", f"releases/{VERSION}-to-{LATER}.html",
        f"releases/{LATER}.html", "models/index.html", f"models/{model}",
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
