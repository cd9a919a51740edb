"""Documentation as pages: headings, links, versions by tag."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import ReleaseFile
from holisticbias_eval.errors import SiteError
from holisticbias_eval.site.docs import write_docs
from holisticbias_eval.site.docs_markdown import parse_markdown, render_markdown
from holisticbias_eval.site.docs_tree import docs_trees
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.writer import Writer

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="360.5"></svg>'
KNOWN = {("docs/other.md", ""): "other.html", ("docs/page.md", "a-heading"): "page.html#a-heading"}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("# One\n## Two words\n", ["one", "two-words"]),
        ("# `code` & *more*\n", ["code--more"]),
        ("# Same\n# Same\n", ["same", "same-1"]),
        ("# What's an F1?\n", ["whats-an-f1"]),
        ("text only\n", []),
    ],
)
def test_headings_have_the_ids_that_github_gives(text: str, ids: list[str]) -> None:
    assert [heading.id for heading in parse_markdown("docs/page.md", text).headings] == ids


@pytest.mark.parametrize(
    ("text", "html", "broken"),
    [
        ("[x](other.md)", '<a href="other.html">x</a>', []),
        ("[x](#a-heading)", '<a href="page.html#a-heading">x</a>', []),
        ("[x](https://example.org/)", '<a href="https://example.org/">x</a>', []),
        ("a\n[x](gone.md) y", "x y", [(1, "gone.md")]),
        ("[x](#gone)", "<p>x</p>", [(1, "#gone")]),
        ("[x](../../etc/passwd)", "<p>x</p>", [(1, "../../etc/passwd")]),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))", []),
        ("[x](ftp://example.org)", "<p>x</p>", [(1, "ftp://example.org")]),
        ("![x](https://example.org/a.png)", "<p></p>", [(1, "https://example.org/a.png")]),
        ("<b onclick=x>bold</b>", "&lt;b onclick=x&gt;bold&lt;/b&gt;", []),
        ("```\n<b>\n```", '<pre class="listing" tabindex="0" role="region" aria-label="Code 1"><code>&lt;b&gt;', []),
        ("| a | b |\n| - | -: |\n| 1 | 2 |", '<td class="number">2</td>', []),
    ],
)
def test_what_markdown_becomes(text: str, html: str, broken: list[tuple[int, str]]) -> None:
    rendered = render_markdown(parse_markdown("docs/page.md", text), lambda *place: KNOWN.get(place))
    assert html in rendered.html
    assert list(rendered.broken) == broken
    assert "style=" not in rendered.html


def made(folder: Path, pages: dict[str, str]) -> Path:
    for name, text in {"README.md": "# Start\n", **pages}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def write(root: Path, out: Path, versions: tuple[str, ...] = ()) -> Path:
    releases = tuple(
        ReleaseFile(version=v, date="2026-01-01", summary="x", article_rule="sound", digest="0" * 64) for v in versions
    )
    catalog = Catalog(axes=(), genders=(), families=(), releases=releases)
    write_docs(Explored(catalog, (), root=root), Writer(out))
    return out / "docs"


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, "-C", str(root), *arguments], check=True, capture_output=True)


def test_a_broken_link_fails_with_its_place(tmp_path: Path) -> None:
    root = made(tmp_path / "root", {"docs/a.md": "# A\n\ntext\n\n[b](b.md#c) and [d](d.md)\n", "docs/b.md": "# B\n"})
    with pytest.raises(SiteError) as raised:
        write(root, tmp_path / "out")
    assert str(raised.value) == "docs/a.md:5: the link b.md#c leads nowhere (and 1 more): correct the link"


def test_links_to_other_files_lead_to_github_and_pictures_are_copied(tmp_path: Path) -> None:
    pages = {
        "docs/a.md": "# A\n\n[code](../tools/x.py) ![chart](../charts/x.svg)\n",
        "tools/x.py": "",
        "charts/x.svg": SVG,
    }
    docs = write(made(tmp_path / "root", pages), tmp_path / "out")
    html = (docs / "latest" / "a.html").read_text("utf-8")
    assert 'href="https://github.com/holisticbias/holisticbias/blob/main/tools/x.py"' in html
    assert 'src="files/charts/x.svg" alt="chart" width="480" height="360"' in html
    assert (docs / "latest" / "files" / "charts" / "x.svg").read_text("utf-8") == SVG


def test_each_tagged_version_has_its_own_documentation(tmp_path: Path) -> None:
    """A version without a tag is left out; a link that was broken at the tag stays text."""
    root = made(tmp_path / "root", {"docs/a.md": "# Old\n\n[gone](gone.md)\n"})
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "old")
    git(root, "tag", "v1.0.0")
    made(root, {"docs/a.md": "# New\n", "docs/b.md": "# Added\n"})
    docs = write(root, tmp_path / "out", ("1.0.0", "1.1.0"))
    assert {path.name for path in docs.iterdir()} == {"index.html", "latest", "1.0.0"}
    old = (docs / "1.0.0" / "a.html").read_text("utf-8")
    assert ">Old</h1>" in old
    assert "<p>gone</p>" in old
    new, added = ((docs / "latest" / name).read_text("utf-8") for name in ("a.html", "b.html"))
    assert ">New</h1>" in new
    assert 'href="../../docs/1.0.0/a.html"' in new
    assert 'href="../../docs/1.0.0/index.html"' in added  # the version does not have this page


def test_pages_are_listed_as_the_start_page_links_to_them(tmp_path: Path) -> None:
    pages = {
        "README.md": "# Start\n\n[b](docs/b.md)\n",
        "CONTRIBUTING.md": "# C\n",
        "docs/a.md": "# A\n",
        "docs/b.md": "# B\n",
    }
    html = (write(made(tmp_path / "root", pages), tmp_path / "out") / "latest" / "index.html").read_text("utf-8")
    contents = html[html.index('class="contents"') :]
    places = [contents.index(f">{title}</a>") for title in ("Start", "C", "B", "A")]
    assert places == sorted(places)


def test_without_a_clone_one_page_leads_to_github(tmp_path: Path) -> None:
    docs = write(tmp_path, tmp_path / "out")
    assert [path.name for path in docs.iterdir()] == ["index.html"]
    assert "https://github.com/holisticbias/holisticbias/tree/main/docs" in (docs / "index.html").read_text("utf-8")


def test_the_documentation_of_this_repository_has_no_broken_link(root: Path, tmp_path: Path) -> None:
    docs = write(root, tmp_path)
    assert len(list((docs / "latest").rglob("*.html"))) > 100
    assert [tree.version for tree in docs_trees(root, ())] == ["latest"]
