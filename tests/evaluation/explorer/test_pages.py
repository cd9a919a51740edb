"""The pages of terms and releases: what they say, their links, and hostile texts as plain text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from tests.evaluation.explorer.made_catalogs import MARKUP, QUIET, TURNED, explored_in
from tests.evaluation.report.html_reader import VOID, HtmlReader

from holisticbias import build_release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.site.build import write_pages
from holisticbias_eval.site.examples import Example, example_finder
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.opening import show_release
from holisticbias_eval.site.releases import write_releases
from holisticbias_eval.site.term_records import shown_terms
from holisticbias_eval.site.writer import Writer


class SitePage(HtmlReader):
    """A page, which may have elements that reports do not have."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {*VOID, "link", "img"}:
            self.handle_startendtag(tag, attrs)
        else:
            super().handle_starttag(tag, attrs)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Explored]:
    folder = tmp_path_factory.mktemp("site")
    explored, site = explored_in(folder)
    write_pages(explored, site, QUIET)
    return folder, explored


@pytest.fixture(scope="module")
def pages(made: tuple[Path, Explored]) -> dict[str, SitePage]:
    folder, _ = made
    paths = sorted(folder.rglob("*.html"))
    return {path.relative_to(folder).as_posix(): SitePage(path.read_text("utf-8")) for path in paths}


def words(page: SitePage) -> str:
    """The words of the page, with a space between elements."""
    (pieces,) = (pieces for tag, _, pieces in page.elements if tag == "main")
    return " ".join(" ".join(pieces).split())


def test_each_term_and_release_and_pair_has_a_page(pages: dict[str, SitePage]) -> None:
    assert {path for path in pages if path.startswith(("terms/", "releases/"))} == {
        "terms/index.html", "terms/age.old.html", "terms/age.gone.html", "terms/age.hostile.html",
        "terms/ability.with-pain.html", "terms/ability.turned.html", "terms/ability.old.html",
        "releases/index.html", "releases/0.1.0.html", "releases/0.2.0.html", "releases/0.1.0-to-0.2.0.html",
    }  # fmt: skip


def test_texts_with_markup_stay_text(pages: dict[str, SitePage]) -> None:
    for path, page in pages.items():
        for tag, attributes, _ in page.elements:
            assert tag not in {"img", "style"}, path
            assert not any(name.startswith("on") or name == "style" for name in attributes), path
        for attributes, content in page.all("script"):
            assert (attributes.get("type"), content) == ("module", ""), path
            assert re.fullmatch(r"(\.\./)?static/[a-z-]+\.js", attributes["src"] or ""), path
    for path in ("terms/index.html", "terms/age.hostile.html", "releases/index.html", "releases/0.1.0-to-0.2.0.html"):
        assert MARKUP in words(pages[path]), path


def test_reading_direction_cannot_be_turned(made: tuple[Path, Explored]) -> None:
    for path in made[0].rglob("*.html"):
        assert "\u202e" not in path.read_text("utf-8")
    assert TURNED.replace("\u202e", "\ufffd") in (made[0] / "terms" / "ability.turned.html").read_text("utf-8")


def test_every_page_has_a_strict_policy_and_a_title(pages: dict[str, SitePage]) -> None:
    for path, page in pages.items():
        policies = [a["content"] or "" for a, _ in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
        assert len(policies) == 1, path
        assert policies[0].startswith("default-src 'none'; script-src 'self'; style-src 'self';"), path
        assert "unsafe" not in policies[0], path
        assert len(page.all("h1")) == len(page.all("main")) == 1, path
        assert page.all("title")[0][1], path


def test_links_lead_to_pages_and_places_that_exist(made: tuple[Path, Explored], pages: dict[str, SitePage]) -> None:
    folder, _ = made
    for path, page in pages.items():
        ids = {a["id"] for _, a, _ in page.elements if "id" in a}
        for _, attributes, _ in page.elements:
            address = urlsplit(attributes.get("href") or attributes.get("src") or "")
            if address.scheme or not (address.path or address.fragment):
                continue
            target = (folder / path).parent / unquote(address.path)
            assert not address.path.startswith("/"), (path, attributes)
            assert not address.path or target.is_file(), (path, attributes)
            if not address.path:
                assert address.fragment in ids, (path, attributes)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("terms/age.old.html", "Singular, with the noun 'person' an old person"),
        ("terms/age.old.html", "Alone does not stand without a noun"),
        ("terms/age.old.html", f"dispreferred A study {MARKUP} , {MARKUP} en-US 2024-05"),
        ("terms/age.old.html", f"0.2.0 2026-02-01 reworded: a reason {MARKUP}"),
        ("terms/age.old.html", "stands without a noun: yes no"),
        ("terms/age.old.html", "nouns left out: none kid"),
        ("terms/age.old.html", "0.1.0 2026-01-01 added"),
        ("terms/age.old.html", "The same text is also an entry of the axis Ability"),
        ("terms/age.gone.html", "Release 0.2.0 does not have this term; the page shows it as in release 0.1.0."),
        ("terms/age.gone.html", f"It was replaced by {MARKUP} ."),
        ("terms/age.gone.html", "0.2.0 2026-02-01 retired"),
        ("terms/age.gone.html", "Nobody has judged this term yet."),
        ("terms/ability.with-pain.html", "a person with pain"),
        ("terms/ability.with-pain.html", "Sentences with this term: 6 in 0.2.0 , 4 in 0.1.0 ."),
        ("terms/ability.old.html", "Source of the entry unknown"),
        ("terms/index.html", "6 terms on 2 axes."),
        ("releases/index.html", "0.2.0 2026-02-01 · 5 terms"),
        ("releases/0.1.0-to-0.2.0.html", "I'm an old kid."),
    ],
)
def test_what_a_page_says(pages: dict[str, SitePage], path: str, said: str) -> None:
    assert said in words(pages[path])


def test_links_of_a_term_fill_in_the_forms(pages: dict[str, SitePage]) -> None:
    links = [a["href"] for a, _ in pages["terms/age.old.html"].all("a") if "issues/new" in (a["href"] or "")]
    start = "https://github.com/holisticbias/holisticbias/issues/new?template="
    assert links == [
        f"{start}report-term.yml&entry=age.old",
        f"{start}dispute-placement.yml&entry=age.old&axis=age",
        f"{start}report-grammar.yml&entry=age.old",
    ]


def test_code_to_load_a_release_runs_as_it_stands_on_the_page(catalog: Catalog, tmp_path: Path) -> None:
    part = build_release(catalog, "1.0.0", where=("axis=nonce", "gender=neutral"))
    site = Writer(tmp_path)
    release = show_release(part, catalog)
    write_releases(Explored(catalog, (release,)), site)
    page = SitePage((tmp_path / "releases" / "1.0.0.html").read_text("utf-8"))
    codes = ["".join(pieces) for tag, _, pieces in page.elements if tag == "code" and "\n" in "".join(pieces)]
    assert codes[0] == (
        "holisticbias build --version 1.0.0 --where axis=nonce --where gender=neutral --out holisticbias-1.0.0\n"
    )
    names: dict[str, Any] = {}
    exec(codes[1], names)  # noqa: S102 - the code that the page shows
    assert names["release"].digest == part.digest
    assert [code.splitlines()[0] for code in codes[2:]] == ["from datasets import load_dataset", "import pandas"]


@pytest.mark.parametrize(
    ("entry", "example"),
    [
        ("age.old", Example("I'm an old kid.", None)),
        ("age.gone", Example("I'm a gone person.", None)),
        ("ability.old", Example(None, "I'm an Old person.")),
        ("dialogue.new", Example(None, f"a person {MARKUP}")),
        ("noun.kid", None),
        ("absent.entry", None),
    ],
)
def test_the_example_of_a_change(made: tuple[Path, Explored], entry: str, example: Example | None) -> None:
    assert example_finder(*made[1].releases)(entry) == example


def test_terms_stand_in_the_order_of_the_files_as_in_their_newest_release(made: tuple[Path, Explored]) -> None:
    found = [(term.descriptor.id, term.release.version, term.namesakes) for term in shown_terms(made[1])]
    assert found == [
        ("age.old", "0.2.0", ("ability.old",)),
        ("age.gone", "0.1.0", ()),
        ("age.hostile", "0.2.0", ()),
        ("ability.with-pain", "0.2.0", ()),
        ("ability.turned", "0.2.0", ()),
        ("ability.old", "0.2.0", ("age.old",)),
    ]
