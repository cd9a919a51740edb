"""The pages: what they say, their links, what they load, and hostile texts as plain text."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page
from tests.evaluation.report.html_reader import HtmlReader

from altered import altered
from holisticbias import build_release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.results.run import read_run
from holisticbias_eval.site.changes import example_finder
from holisticbias_eval.site.explored import Explored, show_release
from holisticbias_eval.site.models_results import Results, collect_results
from holisticbias_eval.site.releases import write_releases
from holisticbias_eval.site.terms import shown_terms
from holisticbias_eval.site.writer import Writer

from .conftest import BASE, Open, opening, served
from .made_site import MARKUP, NEW, OLD, PICTURE, TURNED, made_site

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Explored]:
    folder = tmp_path_factory.mktemp("site")
    return folder, made_site(folder, Results())


@pytest.fixture(scope="module")
def pages(made: tuple[Path, Explored], site_folder: Path) -> dict[str, HtmlReader]:
    """The pages of the hostile site, and those of a part of the real one below ``real/``."""
    folders = {"": made[0], "real/": site_folder / BASE}
    return {
        f"{place}{path.relative_to(folder).as_posix()}": HtmlReader(path.read_text("utf-8"))
        for place, folder in folders.items()
        for path in folder.rglob("*.html")
    }


def test_no_text_turns_around_and_no_page_is_outside(made: tuple[Path, Explored], tmp_path: Path) -> None:
    assert not any("\u202e" in path.read_text("utf-8") for path in made[0].rglob("*.html")), "no text turns around"
    assert TURNED.replace("\u202e", "\ufffd") in (made[0] / "terms" / "ability.turned.html").read_text("utf-8")
    for path in ("../x.html", "a/../../x.html", "/x.html", "a b.html"):
        with pytest.raises(ValueError, match="is not a plain path inside the site"):
            Writer(tmp_path).file(path)


def test_every_page_has_a_strict_policy_and_loads_only_files_of_the_site(pages: dict[str, HtmlReader]) -> None:
    """One policy, one title, no inline script or style, no handler, and no file from another place."""
    for path, page in pages.items():
        policies = [a["content"] for a, _ in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
        assert policies == [POLICY], path
        assert len(page.all("h1")) == len(page.all("main")) == 1, path
        assert page.all("title")[0][1], path
        for tag, attributes, _ in page.elements:
            assert tag not in {"img", "style"}, path
            assert not any(name.startswith("on") or name == "style" for name in attributes), path
            assert tag != "link" or not urlsplit(attributes["href"] or "").scheme, path
        for attributes, content in page.all("script"):
            assert (attributes["type"], content) == ("module", ""), path
            assert re.fullmatch(r"(\.\./)*static/[a-z-]+\.js", attributes["src"] or ""), path


def test_links_lead_to_pages_and_places_that_exist(pages: dict[str, HtmlReader], site_folder: Path) -> None:
    ids = {path: {a["id"] for _, a, _ in page.elements if "id" in a} for path, page in pages.items()}
    broken = set()
    for path, page in pages.items():
        found = {a[name] or "" for _, a, _ in page.elements for name in ("href", "src", "action") if name in a}
        for address in filter(lambda address: not address.scheme, map(urlsplit, found)):
            to = posixpath.normpath(posixpath.join(posixpath.dirname(path), address.path)) if address.path else path
            known = to in pages or (site_folder / BASE / to.removeprefix("real/")).is_file()
            if not known or unquote(address.fragment) not in {"", *ids.get(to, ())}:
                broken.add(f"{path}: {address.geturl()}")
    assert len(pages) > 100
    assert broken == set()


def test_code_to_load_a_release_runs_as_it_stands_on_the_page(catalog: Catalog, tmp_path: Path) -> None:
    part = build_release(catalog, "1.0.0", where=("axis=nonce", "gender=neutral"))
    write_releases(Explored(catalog, (show_release(part, catalog),)), Writer(tmp_path))
    page = HtmlReader((tmp_path / "releases" / "1.0.0.html").read_text("utf-8"))
    codes = ["".join(pieces) for tag, _, pieces in page.elements if tag == "code" and "\n" in "".join(pieces)]
    assert codes[0] == (
        "holisticbias build --version 1.0.0 --where axis=nonce --where gender=neutral --out holisticbias-1.0.0\n"
    )
    names: dict[str, Any] = {}
    exec(codes[1], names)  # noqa: S102 - the code that the page shows
    assert names["release"].digest == part.digest
    assert [code.splitlines()[0] for code in codes[2:]] == ["from datasets import load_dataset", "import pandas"]


def test_a_part_has_terms_without_a_noun(catalog: Catalog) -> None:
    release = build_release(catalog, "2.0.0", "small", ("axis=gender_and_sex", "gender=male"))
    shown = show_release(release, catalog)
    assert set(shown.counts) == set(release.tables["descriptors"]["descriptor_id"].to_pylist())
    forms = {term.descriptor.text: [f.name for f in term.forms] for term in shown_terms(Explored(catalog, (shown,)))}
    assert (forms["transgender"], forms["female"]) == (["with the noun 'man'", "without a noun"], ["without a noun"])


def test_the_examples_of_changes(made: tuple[Path, Explored]) -> None:
    examples = {
        "age.old": ("I'm an old kid.", None),
        "age.gone": ("I'm a gone person.", None),
        "ability.old": (None, "I'm an Old person."),
        "ability.turned": (None, f"I'm an {TURNED}."),
        "dialogue.new": (None, f"a person {MARKUP}"),
        "noun.kid": None,
        "absent.entry": None,
    }
    find = example_finder(*made[1].releases)
    assert {entry: (s := find(entry)) and (s.before, s.after) for entry in examples} == examples


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


@pytest.fixture
def open_hostile(chromium: Browser, hostile_site: str) -> Iterator[Open]:
    """Open a path of the hostile site."""
    with opening(chromium, hostile_site) as open_path:
        yield open_path


def assert_markup_is_text(page: Page, place: str) -> None:
    assert page.title() != "taken", page.url
    assert page.locator("main img, main script").count() == 0, page.url
    assert "document.title='taken'" in page.locator(place).inner_text(), page.url


def test_markup_stays_text(open_hostile: Open, hostile_site: str) -> None:
    """No page changes its title or shows a picture, and each shows the markup as text."""
    page = open_hostile("models/index.html")
    model = page.locator("ul.models a").first.get_attribute("href")
    for path in (
        "terms/index.html", "terms/age.hostile.html", "judge/age.html", f"releases/{OLD}-to-{NEW}.html",
        "releases/index.html", "models/index.html", f"models/{model}",
    ):  # fmt: skip
        page.goto(f"{hostile_site}/{path}", wait_until="networkidle")
        assert_markup_is_text(page, "main")


def test_hostile_names_of_models_in_a_comparison(open_hostile: Open) -> None:
    """The page writes names as text; two runs of one model do not differ, and the differences say so."""
    page = open_hostile("models/compare.html")
    page.wait_for_load_state("networkidle")
    assert_markup_is_text(page, "#comparison")
    table = page.locator("section[aria-labelledby^='with-likelihood-bias'] table").first
    assert table.locator("thead th").last.inner_text() == "Difference, B minus A"
    assert set(table.locator("tbody td:last-child").all_inner_texts()) == {"+0.0 points [+0.0 to +0.0 points]"}
